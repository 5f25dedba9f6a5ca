//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/results"
)

const (
	// killLength is the length of a run in which a process is killed.
	killLength = 4 * time.Second
	// mostShort bounds the missing end of the copy of a killed agent's history.
	mostShort = 300 * time.Millisecond
	// mostLeft bounds how long processes are left after their coordinator.
	mostLeft = 10 * time.Second
	// lostCoordinator is the exit code of an agent whose coordinator is lost.
	lostCoordinator = 2
)

// A shortfall is the missing end of the copy of a history.
type shortfall struct {
	bytes int64
	time  time.Duration
}

// killAgents kills an agent in each of so many runs. Every other run has servers of its own, which are restarted.
func (b *bench) killAgents(ctx context.Context, times int) error {
	wrongBefore, largest, codes := b.wrong, shortfall{}, exitCodes{}
	defer func() { b.private, b.restarted = false, false }()
	for i := range times {
		b.private = i%2 == 1
		b.restarted = b.private
		t, err := b.start(killLength, fully, "")
		if err != nil {
			return err
		}
		lacks, after, wrong := b.killAgent(ctx, t, codes)
		largest = shortfall{max(largest.bytes, lacks.bytes), max(largest.time, lacks.time)}
		if err := errors.Join(t.end(), ctx.Err()); err != nil {
			return err
		}
		b.judge(t, fmt.Sprintf("agent killed after %v", after), wrong)
	}
	fmt.Printf("agents killed: %d, wrong: %d\n", times, b.wrong-wrongBefore)
	fmt.Printf("  largest shortfall of a copy: %d bytes, %v\n", largest.bytes, largest.time.Round(time.Microsecond))
	fmt.Printf("  exit codes of check: %v\n", codes)
	return nil
}

func (b *bench) killAgent(
	ctx context.Context, t *team, codes exitCodes,
) (lacks shortfall, after time.Duration, err error) {
	victim := rand.IntN(machines)
	if after, err = t.moment(ctx); err != nil {
		return lacks, after, err
	}
	if err := t.agents[victim].Kill(); err != nil {
		return lacks, after, fmt.Errorf("kill: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	err = t.coordinator.want(ctx, "the coordinator", results.Inconclusive)
	for i, a := range t.agents {
		if i != victim {
			err = errors.Join(err, a.want(ctx, "the other agent", 0))
		}
	}
	if r, unread := report(t.dir); unread != nil || !r.Partial {
		err = errors.Join(err, unread, errors.New("the report does not say partial"))
	}
	parts, unread := t.copies()
	if unread != nil || len(parts) != machines {
		unread = errors.Join(unread, fmt.Errorf("the coordinator has the parts %q, want %d", parts, machines))
		return lacks, after, errors.Join(err, unread)
	}
	for _, copied := range parts {
		err = errors.Join(err, b.judged(ctx, t, codes, "check", copied))
		own, agent, unfound := t.own(copied)
		if unfound != nil {
			err = errors.Join(err, unfound)
			continue
		}
		short, unequal := compareCopy(copied, own)
		if unequal == nil && (short.time > mostShort || agent != victim && short.bytes > 0) {
			unequal = fmt.Errorf("%s lacks %v, %d bytes, of %s", copied, short.time, short.bytes, own)
		}
		err = errors.Join(err, unequal)
		lacks = shortfall{max(lacks.bytes, short.bytes), max(lacks.time, short.time)}
	}
	return lacks, after, err
}

// killCoordinators kills the coordinator in each of so many runs. Every other run has servers of its own, which
// are restarted.
func (b *bench) killCoordinators(ctx context.Context, times int) error {
	wrongBefore, longest, codes := b.wrong, time.Duration(0), exitCodes{}
	defer func() { b.private, b.restarted = false, false }()
	for i := range times {
		b.private = i%2 == 1
		b.restarted = b.private
		t, err := b.start(killLength, fully, "")
		if err != nil {
			return err
		}
		left, after, wrong := b.killCoordinator(ctx, t, codes)
		longest = max(longest, left)
		if err := errors.Join(t.end(), ctx.Err()); err != nil {
			return err
		}
		b.judge(t, fmt.Sprintf("coordinator killed after %v", after), wrong)
	}
	fmt.Printf("coordinators killed: %d, wrong: %d\n", times, b.wrong-wrongBefore)
	fmt.Printf("  last process of a run ended within %v\n", longest.Round(time.Millisecond))
	fmt.Printf("  exit codes of merge: %v\n", codes)
	return nil
}

func (b *bench) killCoordinator(
	ctx context.Context, t *team, codes exitCodes,
) (left, after time.Duration, err error) {
	if after, err = t.moment(ctx); err != nil {
		return left, after, err
	}
	var all []procfs.ProcStat
	for _, p := range t.processes() {
		family, unread := familyOf(p.PID())
		all, err = append(all, family...), errors.Join(err, unread)
	}
	want := machines + 2 // with the NATS server
	if b.private {
		want++ // for records; the one that is restarted may be down
	}
	if len(all) < want || len(all) > want && !b.private {
		err = errors.Join(err, fmt.Errorf("%d processes before the kill, want %d", len(all), want))
	}
	began := time.Now()
	if err := t.coordinator.Kill(); err != nil {
		return left, after, fmt.Errorf("kill: %w", err)
	}
	waiting, cancel := context.WithTimeout(ctx, mostLeft)
	defer cancel()
	if !poll(waiting, func() bool { return !slices.ContainsFunc(all, lives) }) {
		all = slices.DeleteFunc(all, func(p procfs.ProcStat) bool { return !lives(p) })
		err = errors.Join(err, fmt.Errorf("processes are left after %v: %+v", mostLeft, all))
	}
	left = time.Since(began)
	ctx, cancel = context.WithTimeout(ctx, enough)
	defer cancel()
	for i, a := range t.agents {
		err = errors.Join(err, a.want(ctx, "agent", lostCoordinator))
		said := a.said.Head()
		if !strings.Contains(said, t.agentFolder(i)) || !strings.Contains(said, "lockbench merge") {
			err = errors.Join(err, fmt.Errorf("agent %d names no folder:\n%s", i, said))
		}
	}
	return left, after, errors.Join(err, b.judged(ctx, t, codes, "merge", t.agentFolder(0), t.agentFolder(1)))
}

// want waits for the end of a process and returns an error if its exit code is another one.
func (p *process) want(ctx context.Context, name string, code int) error {
	is, err := p.exit(ctx)
	if err == nil && is != code {
		err = fmt.Errorf("exit %d, want %d:\n%s", is, code, p.said.Tail())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// exitCodes counts the exit codes of a command.
type exitCodes map[int]int

func (c exitCodes) String() string {
	var all []string
	for _, code := range slices.Sorted(maps.Keys(c)) {
		all = append(all, fmt.Sprintf("%d %d times", code, c[code]))
	}
	return strings.Join(all, ", ")
}

// judged runs check or merge, and returns an error unless it can judge the files.
func (b *bench) judged(ctx context.Context, t *team, codes exitCodes, verb string, files ...string) error {
	p, err := startProcess(b.lockbench(t.dir, append([]string{verb}, files...)...))
	if err != nil {
		return err
	}
	code, err := p.exit(ctx)
	codes[code]++
	if err == nil && !isVerdict(code) {
		err = fmt.Errorf("exit %d of lockbench %s %s:\n%s", code, verb, strings.Join(files, " "), p.said.Tail())
	}
	return err
}

// compareCopy returns the missing end of the copy of a history, and an error unless the copy is its beginning.
func compareCopy(copied, own string) (short shortfall, err error) {
	is, err := os.ReadFile(copied)
	if err != nil {
		return short, err
	}
	whole, err := os.ReadFile(own)
	if err != nil {
		return short, err
	}
	if !bytes.HasPrefix(whole, is) {
		return short, fmt.Errorf("%s, %d bytes, is not the beginning of %s, %d bytes", copied, len(is), own, len(whole))
	}
	if short.bytes = int64(len(whole) - len(is)); short.bytes == 0 {
		return short, nil
	}
	early, err := lastStamp(copied)
	if err != nil {
		return short, err
	}
	late, err := lastStamp(own)
	short.time = late - early
	return short, err
}

// lastStamp returns the latest stamp in a history, which may be cut short.
func lastStamp(path string) (last time.Duration, err error) {
	src, err := history.Open(path)
	if err != nil {
		return 0, err
	}
	for e, err := range src.Events() {
		if err != nil {
			return last, fmt.Errorf("%s: %w", path, err)
		}
		at := e.Op.Call
		if e.Phase == history.Return {
			at = e.Op.Return
		}
		last = max(last, time.Duration(at))
	}
	return last, nil
}
