//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

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

// A stat is a line of /proc/PID/stat. Two processes of one number differ in when they began.
type stat struct {
	pid, parent, began int
	used               time.Duration
}

// tick is the unit of processor time in /proc, on all of Go's platforms.
const tick = 10 * time.Millisecond

// statOf returns the state of a process; it reports false if there is none.
func statOf(pid int) (s stat, exists bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const state, parent, user, system, began = 0, 1, 11, 12, 19
	if len(fields) <= began || fields[state] == "Z" {
		return s, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(fields[i]) // the kernel writes numbers
		return n
	}
	used := time.Duration(number(user)+number(system)) * tick
	return stat{pid: pid, parent: number(parent), began: number(began), used: used}, true
}

// lives reports whether the process has not ended.
func (s stat) lives() bool {
	is, exists := statOf(s.pid)
	return exists && is.began == s.began
}

// familyOf returns a process and its descendants.
func familyOf(pid int) (all []stat) {
	first, exists := statOf(pid)
	if !exists {
		return nil
	}
	all = append(all, first)
	entries, _ := os.ReadDir("/proc")
	var others []stat
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			if s, exists := statOf(n); exists {
				others = append(others, s)
			}
		}
	}
	for i := 0; i < len(all); i++ {
		for _, s := range others {
			if s.parent == all[i].pid {
				all = append(all, s)
			}
		}
	}
	return all
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
