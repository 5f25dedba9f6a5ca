//go:build unix

package subprocess

import (
	"errors"
	"os"
	"syscall"
)

func kill(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil // already gone
	}
	return errors.Join(err, p.Kill())
}

func suspend(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStop(p.Pid)
}

func resume(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGCONT) }
