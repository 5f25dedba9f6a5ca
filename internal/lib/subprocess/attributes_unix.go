//go:build unix && !linux

package subprocess

import "syscall"

// attributes keep a terminal's Ctrl-C from a program, because what it still has to do is lockbench's
// to decide. A program outlives this process if SIGKILL ends it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
