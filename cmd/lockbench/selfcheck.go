package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/workloads"
)

// selfCheckName is what the lock that is broken on purpose is called in reports.
const selfCheckName = "self-check/plain-del"

// brokenDesign is a lock that is broken on purpose: its late releases free whoever
// holds the key. What it needs to be caught is what most real breaches need: holders
// that outlive their lease, and others that wait for the key.
func brokenDesign() design.Design { return mutant("plain-del") }

// A proof is a lock that is broken on purpose, and the cell that it breaks, for settings
// that exercise this.
type proof struct {
	mutant string
	breaks lockbench.Cell
	// workload is the only one that shows it; empty for any that exercises the cell.
	workload string
}

// proofs lists them by how much the settings must do to show them.
func proofs() []proof {
	return []proof{
		{"plain-del", lockbench.OwnerRelease.At(lockbench.Outlived), ""},
		{"extend-ignored", lockbench.LeaseKept.At(0), workloads.Cron().Name},
		{"get-set", lockbench.Exclusion.At(0), ""},
		{"get-think-set", lockbench.Exclusion.At(0), ""},
	}
}

func mutant(name string) design.Design {
	all := mutants.Mutants()
	i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })
	d := all[i].Design()
	d.Name, d.Claims = "self-check/"+name, lockbench.Claims{}
	return eager(d)
}

// provable lists the proofs that the session could show, by its workload.
func (s *session) provable() []proof {
	options, err := s.workload.Options(s.options)
	if err != nil {
		return nil
	}
	shown := s.workload.Exercises(options)
	return slices.DeleteFunc(proofs(), func(p proof) bool {
		return !slices.Contains(shown, p.breaks) || p.workload != "" && p.workload != s.workload.Name
	})
}

// selfCheck runs locks that are broken on purpose under the settings of the session,
// until one is caught, and tells whether one was. It returns nil where the settings could
// show no broken lock, or were not given the time to.
func (s *session) selfCheck(ctx context.Context) (*reports.SelfCheck, error) {
	var first *reports.SelfCheck
	for _, length := range lengths(s.options) {
		for _, p := range s.provable() {
			if ctx.Err() != nil || s.servers.First().Err() != nil {
				return first, nil
			}
			c, err := s.prove(ctx, p, length)
			if err != nil {
				return nil, err
			}
			if c.Caught {
				s.progress.say("self-check: it was caught breaking %s", p.breaks)
				return c, nil
			}
			if c.Error != "" {
				return c, nil
			}
			if first == nil || c.Design == first.Design {
				first = c
			}
		}
	}
	return first, nil
}

// longestProof bounds how long a broken lock is run, however long the session's were.
const longestProof = time.Minute

// lengths are how long broken locks are run, one length after the other until one is
// caught: from what lets some slow holds end, to what the session's runs took.
func lengths(o workloads.Options) (all []time.Duration) {
	o = o.OrDefaults()
	slow := time.Duration(o.SlowFactor * float64(o.TTL+time.Second))
	shortest := min(o.Duration, max(6*time.Second, o.Warmup+3*slow))
	longest := min(o.Duration, max(longestProof, shortest))
	for d := shortest; d < longest; d *= 2 {
		all = append(all, d)
	}
	return append(all, longest)
}

// prove runs one broken lock, until it is caught or the time is over.
func (s *session) prove(ctx context.Context, p proof, length time.Duration) (*reports.SelfCheck, error) {
	d := mutant(p.mutant)
	s.progress.say("self-check: a lock that is broken on purpose, under the same settings ...")
	caught := make(chan struct{})
	stop := sync.OnceFunc(func() { close(caught) })
	w := watcher{progress: &load.Progress{}, late: s.late, found: func(f checker.Finding, _ time.Duration) {
		if p.caughtBy(f) {
			stop()
		}
	}}
	short := *s
	short.options.Duration, short.faults = length, ofOneServer(s.faults)
	o, err := short.load(ctx, subject{Design: d}, w, caught)
	if err != nil {
		return nil, err
	}
	if o.unreadable != nil && o.failed == nil {
		return nil, fmt.Errorf("self-check: %w", o.unreadable)
	}
	c := &reports.SelfCheck{Design: d.Name, MustBreak: p.breaks}
	if o.failed != nil { // told, as of any run: what the runs before it showed is not thrown away
		c.Error = o.failed.Error()
	}
	if o.unreadable == nil {
		verdicts := &o.judged.Verdicts
		c.Grants, c.Overruns = verdicts.Grants, verdicts.Of(lockbench.Exclusion, lockbench.Outlived).Exposure
		c.Caught = slices.ContainsFunc(verdicts.Findings, p.caughtBy)
	}
	return c, os.Remove(s.records.path(d.Name))
}

// ofOneServer are the faults as a lock on one server meets them, which is what locks are that
// are broken on purpose: of several servers none is down.
func ofOneServer(all []faults.Fault) (some []faults.Fault) {
	for _, f := range all {
		switch f.Kind {
		case faults.Down:
			continue
		case faults.ClockStep:
			f.N = min(f.N, 1)
		}
		some = append(some, f)
	}
	return some
}

// caughtBy tells whether a finding shows the lock to be broken.
func (p proof) caughtBy(f checker.Finding) bool {
	return f.Verdict == checker.Broken && (reports.Catches(p.breaks, f.Cell) || reports.Catches(lockbench.Exclusion.At(0), f.Cell))
}
