package subprocess

import "syscall"

// attributes let a program die with this process, even on SIGKILL, and keep a terminal's Ctrl-C from
// it, because lockbench ends it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
