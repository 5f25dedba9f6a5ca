//go:build unix && !linux

package subprocess

import "syscall"

// attributes keep a terminal's Ctrl-C from a program, because lockbench ends it.
// A program outlives this process if SIGKILL ends it.
func attributes(of *syscall.SysProcAttr) { of.Setpgid = true }
