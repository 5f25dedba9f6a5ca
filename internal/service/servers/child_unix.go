//go:build unix && !linux

package servers

import "syscall"

// childAttributes keep a terminal's Ctrl-C from the child, because the run's keys
// must be removed first. If this process is killed with SIGKILL, the child ends
// only at the next StartPrivate.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
