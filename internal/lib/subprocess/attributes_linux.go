package subprocess

import "syscall"

// attributes let a program die with this process, even on SIGKILL, and keep a terminal's Ctrl-C from
// it, because lockbench ends it.
func attributes(of *syscall.SysProcAttr) {
	of.Setpgid, of.Pdeathsig = true, syscall.SIGKILL
}
