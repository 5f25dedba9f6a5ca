package subprocess

import (
	"errors"
	"os"
	"syscall"
)

// attributes keep a console's Ctrl-C from a program, because lockbench ends it.
// A program outlives this process if it is terminated.
func attributes(of *syscall.SysProcAttr) { of.CreationFlags = syscall.CREATE_NEW_PROCESS_GROUP }

func kill(p *os.Process) error { return p.Kill() }

var errNoSignals = errors.New("processes cannot be stopped on Windows; hint: leave this fault out")

func suspend(*os.Process) error { return errNoSignals }

func resume(*os.Process) error { return errNoSignals }
