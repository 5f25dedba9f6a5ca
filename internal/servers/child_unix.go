//go:build unix && !linux

package servers

import "syscall"

// childAttributes keep a terminal's Ctrl-C from the child: keys are to be removed
// first. Nothing here ends it when this process is killed with SIGKILL; the next
// StartPrivate does.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
