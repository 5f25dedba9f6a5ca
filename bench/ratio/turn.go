package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A binary is one of the two that are compared.
type binary struct {
	role, path string
	// stalls means that run has stallers beside its clients, which the measurements
	// disable; before there were stallers it had slow keys.
	stalls bool
	// explores means that run explores each design first, which the measurements disable.
	explores bool
}

// newBinary returns the program at path, which may be relative.
func newBinary(role, path string) (binary, error) {
	info, err := os.Stat(path)
	if err != nil {
		return binary{}, fmt.Errorf("%s: %w; hint: go build -o %s ./cmd/lockbench", role, err, path)
	}
	if !info.Mode().IsRegular() {
		return binary{}, fmt.Errorf("%s: %s is no file; hint: give a binary of lockbench", role, path)
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return binary{}, fmt.Errorf("%s: %w", role, err)
	}
	program, err := os.ReadFile(path)
	return binary{role, path, bytes.Contains(program, []byte("stallers")), bytes.Contains(program, []byte("explore each design in virtual time"))}, err
}

// A turn is the result of one run of a command, or of several together.
type turn struct {
	runs         int
	work         float64       // amount
	processor    time.Duration // user and system time of the process
	wall         time.Duration
	measuredRate float64 // of grants, by lockbench's own clock, warm-up left out; the sum of all runs
	said         string  // text on standard error, of one run
}

// plus returns both together.
func (t turn) plus(other turn) turn {
	return turn{
		runs: t.runs + other.runs, work: t.work + other.work, processor: t.processor + other.processor,
		wall: t.wall + other.wall, measuredRate: t.measuredRate + other.measuredRate,
	}
}

func (t turn) perProcessorSecond() float64 { return t.work / t.processor.Seconds() }
func (t turn) perSecond() float64          { return t.work / t.wall.Seconds() }
func (t turn) perMeasuredSecond() float64  { return t.measuredRate / float64(t.runs) }

// verdicts are the exit codes for the findings of a command: nothing, a broken claim, too
// little to tell. The other codes mean that it failed.
var verdicts = []int{0, 1, 3}

// turn runs the command of a measurement once.
func (b binary) turn(ctx context.Context, p place, m measurement) (turn, error) {
	args := append(p.fill(m.args), "--out", "json="+p.out)
	switch {
	case args[0] != "run":
	case b.stalls:
		args = append(args, "--stallers", "0")
	default:
		args = append(args, "--slow-keys", "0")
	}
	if args[0] == "run" && b.explores {
		args = append(args, "--explore", "0s")
	}
	t, err := b.execute(ctx, args)
	if err != nil {
		return t, err
	}
	d, err := readDocument(p.out)
	if err != nil {
		return t, b.failure(args, fmt.Errorf("no result: %w", err), t.said)
	}
	t.work, t.measuredRate = m.work(d), d.rate()
	for _, r := range m.rows {
		if rate := r.rate(t); !(rate > 0) || t.processor <= 0 {
			return t, b.failure(args, fmt.Errorf("%s comes to %g %s, so nothing was done, or too little to measure", r.name, rate, r.unit), t.said)
		}
	}
	return t, os.Remove(p.out) // so that no result is read twice
}

// execute runs the binary, and fails unless it exits with a verdict.
func (b binary) execute(ctx context.Context, args []string) (turn, error) {
	cmd := exec.CommandContext(ctx, b.path, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && slices.Contains(verdicts, exit.ExitCode()) {
		err = nil
	}
	if ctx.Err() != nil {
		return turn{}, ctx.Err()
	}
	if err != nil {
		return turn{}, b.failure(args, err, said.String())
	}
	processor := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return turn{runs: 1, wall: wall, processor: processor, said: said.String()}, nil
}

// failure names the failed binary, its command, and its output.
func (b binary) failure(args []string, err error, said string) error {
	return fmt.Errorf("%s fails: %w\ncommand: %s %s\nsaid: %s\nhint: the binary must be a lockbench that knows all of these flags",
		b.role, err, b.path, strings.Join(args, " "), strings.TrimSpace(said))
}

// A document is the part of a JSON result that we read.
type document struct {
	Runs []struct {
		GrantsPerS float64 `json:"grants_per_s"`
		Counts     struct{ Ops, Grants float64 }
		// Exploration is the work of explore in one scenario.
		Exploration struct{ Schedules float64 }
	}
}

func readDocument(path string) (d document, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(text, &d)
}

func (d document) rate() (sum float64) {
	for _, r := range d.Runs {
		sum += r.GrantsPerS
	}
	return sum
}

func (d document) operations() (sum float64) {
	for _, r := range d.Runs {
		sum += r.Counts.Ops
	}
	return sum
}

func (d document) grants() (sum float64) {
	for _, r := range d.Runs {
		sum += r.Counts.Grants
	}
	return sum
}

func (d document) schedules() (sum float64) {
	for _, r := range d.Runs {
		sum += r.Exploration.Schedules
	}
	return sum
}
