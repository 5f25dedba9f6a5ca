package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locktest"
)

func TestDoorComplains(t *testing.T) {
	err := door(t.Context(), &bytes.Buffer{}, []string{"-runs", "0"})
	if err == nil || !strings.Contains(err.Error(), "-runs 0 -beside 8: nothing to run; hint: ") {
		t.Errorf("got %v", err)
	}
}

// TestTrials: each sound lock has each lease, and a mutant comes after ten of them.
func TestTrials(t *testing.T) {
	s := settings{runs: 60}
	trials := s.trials()
	for _, tr := range trials {
		tr.done = true
	}
	for _, l := range sound {
		for _, ttl := range leases {
			if r := count(trials, l, ttl); r.runs != 2 {
				t.Errorf("%s, %v: got %d runs, want 2", l.name, ttl, r.runs)
			}
		}
	}
	if len(trials) != 66 {
		t.Errorf("got %d runs, want 60 and 6 of mutants", len(trials))
	}
}

// TestReport: an accused sound lock fails the whole, an untested cell does not.
func TestReport(t *testing.T) {
	exclusion, lease := lockbench.Exclusion.At(0), lockbench.LeaseKept.At(0)
	wrong := checker.Cells{exclusion: {Verdict: checker.Broken, Against: 1}}
	unknown := checker.Cells{lease: {Verdict: checker.Untested}}
	both := checker.Cells{exclusion: wrong[exclusion], lease: unknown[lease]}
	tests := map[lockbench.Cell]locktest.Test{
		exclusion: {Err: errors.New("broken")},
		lease:     {Err: fmt.Errorf("lease: %w", locktest.ErrUntested)},
	}
	for _, c := range []struct {
		name  string
		lock  lock
		cells checker.Cells
		err   error // of Try
		row   string
		fails bool
	}{
		{"a sound lock passes", sound[0], nil, nil, "| in memory, a lease | 1s | 1 | 0 | 0 |", false},
		{"a sound lock is untested", sound[0], unknown, nil, "| in memory, a lease | 1s | 1 | 0 | 1 |", false},
		{"a sound lock is accused", sound[0], both, nil, "| in memory, a lease | 1s | 1 | 1 | 0 |", true},
		{"a sound lock is not what it is declared to be", sound[1], nil, errors.New("declared"), "| in memory, renewed | 1s | 1 | 1 | 0 |", true},
		{"the machine stood still", sound[1], nil, fmt.Errorf("%w, it stood still", locktest.ErrUntested), "| in memory, renewed | 1s | 1 | 0 | 1 |", false},
		{"a mutant is caught", mutants[0], wrong, nil, "| " + mutants[0].name + " | 1 | 1 |", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			one := &trial{lock: c.lock, ttl: time.Second, done: true}
			one.take(locktest.Result{Cells: c.cells, Tests: tests}, c.err)
			var out strings.Builder
			err := report(&out, []*trial{one})
			if !strings.Contains(out.String(), c.row) || (err != nil) != c.fails {
				t.Errorf("got error %v, want one: %t; want %q in\n%s", err, c.fails, c.row, out.String())
			}
		})
	}
}

// TestReportOfMutants: a mutant that is never caught fails the whole.
func TestReportOfMutants(t *testing.T) {
	var trials []*trial
	for range enough {
		trials = append(trials, &trial{lock: mutants[0], ttl: time.Second, done: true})
	}
	if err := report(&bytes.Buffer{}, trials); err == nil || !strings.Contains(err.Error(), "was caught in none of 8 runs") {
		t.Errorf("got %v", err)
	}
	trials[3].accused = true
	if err := report(&bytes.Buffer{}, trials); err != nil {
		t.Errorf("got %v", err)
	}
}
