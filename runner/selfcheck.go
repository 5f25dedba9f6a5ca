package runner

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// A proof is a lock that is broken on purpose, with the cell that it breaks under settings that
// exercise the cell. Catching it proves that the settings expose violations.
type proof struct {
	mutant string
	breaks lockbench.Cell
	// workload is the name of the only workload that exposes the lock; empty if any does that
	// exercises the cell.
	workload string
	// probes reports whether the proof is a probe: the lock is caught only by a violation in the
	// cell itself, and runs only with the faults that bring about the condition of the cell.
	probes bool
}

// proofs lists the locks of the self-check; those that make the greatest demands on the settings
// come first.
func proofs() []proof {
	return []proof{
		{"plain-del", lockbench.OwnerRelease.At(lockbench.Outlived), "", false},
		{"extend-ignored", lockbench.LeaseKept.At(0), "cron", false},
		{"release-then-delay", lockbench.ReleaseDelay.At(0), "release-delay", false},
		{"renewed-twice", lockbench.Exclusion.At(lockbench.Outlived), "renewed", false},
		{"shared-watchdog", lockbench.Exclusion.At(lockbench.Outlived), "two-renewed", false},
		{"any-case", lockbench.NoSpuriousRefusal.At(0), "odd-keys", false},
		{"get-set", lockbench.Exclusion.At(0), "", false},
		{"get-think-set", lockbench.Exclusion.At(0), "", false},
	}
}

// provable lists the proofs that the plan's workload can expose under these options.
func (s *session) provable(o workloads.Options) []proof {
	o, err := s.plan.Workload.Options(o)
	if err != nil {
		return nil
	}
	shown := s.plan.Workload.Cells(o)
	return slices.DeleteFunc(proofs(), func(p proof) bool {
		return !slices.Contains(shown, p.breaks) || p.workload != "" && p.workload != s.plan.Workload.Name || o.SharedKeys && !betweenMachines(p.breaks)
	})
}

// betweenMachines reports whether a cell is judged on keys that several machines use.
func betweenMachines(c lockbench.Cell) bool {
	switch c.Guarantee {
	case lockbench.Exclusion:
		return !c.Under.Has(lockbench.Outlived)
	case lockbench.OwnerRelease, lockbench.Effects, lockbench.Fencing:
		return true
	}
	return false
}

// selfCheck runs locks that are broken on purpose under the settings of the session until
// one is caught. It returns nil if the settings could expose no broken lock.
func (s *session) selfCheck(ctx context.Context) (*results.SelfCheck, error) {
	options := s.plan.Options
	if s.plan.SelfCheckAt != nil {
		s.plan.SelfCheckAt(&options)
	}
	c, err := s.firstCheck(ctx, options)
	if err != nil || c == nil || !c.Caught {
		return c, err
	}
	c.Probes, err = s.probe(ctx, options)
	return c, err
}

// firstCheck runs the broken locks of proofs until one is caught.
func (s *session) firstCheck(ctx context.Context, options workloads.Options) (*results.SelfCheck, error) {
	if err := s.services.add(ctx, servers.Redis{}, nil, 1); err != nil { // the broken locks need a Redis server
		return nil, err
	}
	var first *results.SelfCheck
	for _, length := range lengths(options) {
		for _, p := range s.provable(options) {
			if over := s.cutOff(ctx); over != "" {
				return notMade(p, over), nil
			}
			c, _, err := s.prove(ctx, p, options, length)
			if err != nil {
				return nil, err
			}
			if c.Caught {
				s.sink.say("self-check: a lock broken on purpose was caught breaking %s", p.breaks)
				return c, nil
			}
			if c.Error == "" {
				c.Error = s.cutOff(ctx)
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

// cutOff returns the reason why nothing more can be run, empty if there is none.
func (s *session) cutOff(ctx context.Context) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	if err := s.lost(); err != nil {
		return err.Error()
	}
	return ""
}

// notMade returns the result of a self-check that was cut off before a lock was caught.
func notMade(p proof, why string) *results.SelfCheck {
	return &results.SelfCheck{Design: mutants.SelfCheck(p.mutant).Name, MustBreak: p.breaks, Error: why}
}

// longestProof bounds the run of a broken lock, however long the session's runs were.
const longestProof = time.Minute

// lengths returns the durations of the runs of the broken locks, in turn, until one is caught. They
// grow from a time in which some slow holds end to the duration of the session's runs.
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

// prove runs one broken lock until it is caught or length is over, and returns its outcome with the
// number of its occasions.
func (s *session) prove(ctx context.Context, p proof, o workloads.Options, length time.Duration) (c *results.SelfCheck, exposure int64, err error) {
	o.Duration = length
	d := mutants.SelfCheck(p.mutant)
	s.sink.say("self-check: a lock that is broken on purpose, under the same settings ...")
	r := liveRun{label: d.Name, design: d, options: o, faults: p.among(fault.OfOneServer(s.faults), &d), progress: &load.Progress{}, broken: make(chan struct{})}
	stop := sync.OnceFunc(func() { close(r.broken) })
	r.sink = join(Sink{Say: s.sink.Say, Found: func(f checker.CellFinding, _ time.Duration) {
		if p.caughtBy(f) {
			stop()
		}
	}})
	came, err := s.record(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	if came.unreadable != nil && came.failed == nil {
		return nil, 0, fmt.Errorf("self-check: %w", came.unreadable)
	}
	c = &results.SelfCheck{Design: d.Name, MustBreak: p.breaks}
	if came.failed != nil { // reported as for any run, so that the results of earlier runs are kept
		c.Error = came.failed.Error()
	}
	if came.unreadable == nil {
		verdicts := &came.judged.Verdicts
		cells := verdicts.Cells()
		c.Grants, c.Overruns = verdicts.Grants, cells.Occasions(lockbench.Exclusion.At(lockbench.Outlived), checker.Held, checker.Broken)
		exposure = cells.Occasions(p.breaks, checker.Held, checker.Broken)
		c.Caught = slices.ContainsFunc(verdicts.Findings, p.caughtBy) && (!s.plan.Options.SharedKeys || between(came.between))
	}
	return c, exposure, s.histories.remove(d.Name)
}

// between reports whether two owners on different machines were seen to hold a key at once.
func between(pairs []checker.MachinePair) bool {
	return slices.ContainsFunc(pairs, func(p checker.MachinePair) bool { return p.Broken > 0 })
}

// caughtBy reports whether the finding f exposes the lock.
func (p proof) caughtBy(f checker.CellFinding) bool {
	return f.Verdict == checker.Broken && (results.Catches(p.breaks, f.Cell) || !p.probes && results.Catches(lockbench.Exclusion.At(0), f.Cell))
}
