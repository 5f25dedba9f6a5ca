//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"github.com/lockbench/lockbench/internal/lib/subprocess"
)

// A process is a program that was started. It dies with this one.
type process struct {
	*subprocess.Process
	command *exec.Cmd
	said    subprocess.Excerpt
	done    chan struct{}
}

func startProcess(command *exec.Cmd) (p *process, err error) {
	p = &process{command: command, done: make(chan struct{})}
	command.Stdout, command.Stderr = &p.said, &p.said
	p.Process, err = subprocess.Start(command, func(error) { close(p.done) }) // the state has the result
	return p, err
}

// exit waits for the end of the process and returns its exit code, -1 if a signal ended it. It kills
// the process when ctx ends.
func (p *process) exit(ctx context.Context) (int, error) {
	select {
	case <-p.done:
		return p.command.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		_ = p.Kill() // it may have ended
		<-p.done
		return -1, fmt.Errorf("it did not end: %w\n%s", ctx.Err(), p.said.Tail())
	}
}

// used returns the processor time of a process that has ended, and of those that it waited for.
func (p *process) used() time.Duration {
	return p.command.ProcessState.UserTime() + p.command.ProcessState.SystemTime()
}

// familyOf returns a process and its descendants.
func familyOf(pid int) (all []procfs.ProcStat, err error) {
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	for _, p := range procs { // in the order of their numbers, which may not be that of families
		if s, err := p.Stat(); err == nil { // else it has ended
			all = append(all, s)
		}
	}
	family := map[int]bool{pid: true}
	for grown := true; grown; {
		grown = false
		for _, s := range all {
			if family[s.PPID] && !family[s.PID] {
				family[s.PID], grown = true, true
			}
		}
	}
	return slices.DeleteFunc(all, func(s procfs.ProcStat) bool { return !family[s.PID] }), nil
}

// lives reports whether a process has not ended. Two processes of one number differ in when they began.
func lives(was procfs.ProcStat) bool {
	is, err := stat(was.PID)
	return err == nil && is.Starttime == was.Starttime && is.State != "Z"
}

// stat returns the state of a process.
func stat(pid int) (procfs.ProcStat, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}

// poll calls done every few milliseconds until it returns true or ctx ends, and reports the former.
func poll(ctx context.Context, done func() bool) bool {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
