package subprocess

import (
	"errors"
	"os/exec"

	"golang.org/x/sys/unix"
)

// wait returns the result of the program when it has ended. Until it is waited for, its number and that
// of its group stay its own.
func (p *Process) wait(cmd *exec.Cmd) error {
	_ = await(p.os.Pid, unix.WEXITED) // the error is that there is no such child; then Wait says so
	p.mu.Lock()
	_ = kill(p.os) // there may be no rest
	p.ended = true
	p.mu.Unlock()
	return cmd.Wait()
}

// awaitStop returns when a child of this process has stopped, or ended.
func awaitStop(pid int) error { return await(pid, unix.WSTOPPED|unix.WEXITED) }

func await(pid, events int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, events|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
