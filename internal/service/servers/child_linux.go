package servers

import "syscall"

// childAttributes let the child die with this process, even on SIGKILL, and keep a
// terminal's Ctrl-C from it, because the run's keys must be removed first.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
