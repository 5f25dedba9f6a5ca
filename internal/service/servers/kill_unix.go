//go:build unix

package servers

import (
	"errors"
	"os"
	"syscall"
)

// kill ends p at once, and the other processes of its group first.
func kill(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil // already gone
	}
	return errors.Join(err, p.Kill())
}
