package runner

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// probes lists, for each condition that faults exercise, a lock that breaks a guarantee under the
// condition. Any lease lock on one server breaks exclusion if the server forgets its grants.
// Without a lease a lock stays held if its owner dies, or never learns that it was granted.
//
// Work past a lease needs no probe: the locks of [proofs] are caught by it. Locks that are broken on
// purpose have no sessions, so none shows what a killed one does.
func probes() []proof {
	return []proof{
		{"bare", lockbench.Exclusion.At(lockbench.Failover), "", true},
		{"bare", lockbench.Exclusion.At(lockbench.StateLoss), "", true},
		{"client-clock", lockbench.Exclusion.At(lockbench.Skew), "", true},
		{"evalsha-only", lockbench.Answers.At(lockbench.ScriptFlush), "", true},
		{"no-lease", lockbench.Recovery.At(lockbench.Crash), "", true},
		{"no-lease", lockbench.Recovery.At(lockbench.LostReply), "", true},
		{"no-lease", lockbench.Recovery.At(lockbench.Cancel), "", true},
	}
}

// probe runs a broken lock for each condition that the faults of the session exercise and
// under which a run kept a guarantee. Each runs until it is caught, and no longer than the
// runs took.
func (s *session) probe(ctx context.Context, options workloads.Options) (all []results.Probe, err error) {
	options.Operations = 0 // refusals of a lock that is never free again would use them up
	length := min(options.OrDefaults().Duration, longestProof)
	if length <= 0 {
		length = longestProof
	}
	for _, p := range s.probed(options) {
		if over := s.cutOff(ctx); over != "" {
			all = append(all, results.Probe{Design: mutants.SelfCheck(p.mutant).Name, MustBreak: p.breaks, Error: over})
			continue
		}
		c, exposure, err := s.prove(ctx, p, options, length)
		if err != nil {
			return all, err
		}
		if c.Caught {
			s.sink.say("self-check: a lock broken on purpose was caught breaking %s", p.breaks)
		} else if c.Error == "" {
			c.Error = s.cutOff(ctx)
		}
		all = append(all, results.Probe{Design: c.Design, MustBreak: c.MustBreak, Caught: c.Caught, Exposure: exposure, Error: c.Error})
	}
	return all, nil
}

// probed lists the probes for the guarantees that the runs kept under the faults, if the
// workload can expose them on one server.
func (s *session) probed(o workloads.Options) []proof {
	o, err := s.plan.Workload.Options(o)
	if err != nil {
		return nil // then nothing was run
	}
	exercised, shown := fault.Exercises(fault.OfOneServer(s.faults)), s.plan.Workload.Cells(o)
	return slices.DeleteFunc(probes(), func(p proof) bool {
		brought := slices.ContainsFunc(exercised, func(c lockbench.Cell) bool { return c.Under.Has(p.breaks.Under) })
		unseen := p.breaks.Guarantee == lockbench.Exclusion && !slices.Contains(shown, lockbench.Exclusion.At(0))
		return !brought || unseen || !s.held(p.breaks.Under) || o.SharedKeys && !betweenMachines(p.breaks)
	})
}

// held reports whether some run kept a guarantee under a condition.
func (s *session) held(under lockbench.Conditions) bool {
	return slices.ContainsFunc(s.result.Runs, func(j results.Judged) bool {
		return slices.ContainsFunc(j.Verdicts.Findings, func(f checker.CellFinding) bool {
			return f.Verdict == checker.Held && f.Exposure > 0 && f.Cell.Under.Has(under)
		})
	})
}

// among returns the faults that d can have, and for a probe only those that bring its condition.
func (p proof) among(all []fault.Fault, d *design.Design) []fault.Fault {
	return slices.DeleteFunc(slices.Clone(all), func(f fault.Fault) bool {
		return !inject.Possible(f.Kind, d) || p.probes && !fault.Conditions([]fault.Fault{f}).Has(p.breaks.Under)
	})
}
