package subprocess

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitStop returns when a child of this process has stopped, or ended.
func awaitStop(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD):
			return nil // it has ended
		default:
			return err
		}
	}
}
