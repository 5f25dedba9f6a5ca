//go:build unix

package subprocess

import (
	"errors"
	"os"
	"syscall"
)

// Kill ends p at once, and the other processes of its group first.
func Kill(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil // already gone
	}
	return errors.Join(err, p.Kill())
}

// Suspend stops p and the other processes of its group until Resume. On Linux it returns when p has
// stopped: on a busy machine its threads go on for a while after the signal.
func Suspend(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStop(p.Pid)
}

// Resume undoes Suspend.
func Resume(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGCONT) }
