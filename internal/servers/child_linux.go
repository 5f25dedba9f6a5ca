package servers

import "syscall"

// childAttributes make the child die with this process, even when that is killed
// with SIGKILL, and keep a terminal's Ctrl-C from it: keys are to be removed first.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
