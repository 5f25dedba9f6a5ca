package subprocess

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// A Process is a program that runs, or has run. Its methods are safe for concurrent use. Those that
// send a signal return [os.ErrProcessDone] once the program has ended: its number may be another's then.
type Process struct {
	os *os.Process

	mu    sync.Mutex
	ended bool
}

// Start starts a program that dies with this process, if the system supports that, and is the first
// of its group of processes. When the program has ended, gone is called with the result; on Linux the rest
// of its group is killed before that. A goroutine of its own starts it and stays locked to its thread until then,
// because Linux counts the parent as dead as soon as the forking thread is.
func Start(cmd *exec.Cmd, gone func(error)) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attributes(cmd.SysProcAttr)
	started := make(chan error)
	p := &Process{}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.os = cmd.Process
		started <- err
		if err != nil {
			return
		}
		gone(p.wait(cmd))
	}()
	return p, <-started
}

// PID returns the number of the process.
func (p *Process) PID() int { return p.os.Pid }

// Kill ends the program at once, and the other processes of its group first.
func (p *Process) Kill() error { return p.signal(kill) }

// Suspend stops the program and the other processes of its group until Resume. On Linux it returns when
// the program has stopped: on a busy machine its threads go on for a while after the signal.
func (p *Process) Suspend() error { return p.signal(suspend) }

// Resume undoes Suspend.
func (p *Process) Resume() error { return p.signal(resume) }

// Signal sends a signal to the program alone.
func (p *Process) Signal(s os.Signal) error {
	return p.signal(func(program *os.Process) error { return program.Signal(s) })
}

func (p *Process) signal(send func(*os.Process) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	return send(p.os)
}
