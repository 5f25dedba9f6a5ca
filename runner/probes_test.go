package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// TestEveryExercisedConditionHasAProbe checks that each condition that a fault exercises has a lock
// that breaks a guarantee under it. Outlived leases are left to the locks of proofs, and no lock that is
// broken on purpose has a session.
func TestEveryExercisedConditionHasAProbe(t *testing.T) {
	for _, row := range fault.Rows() {
		for _, cell := range row.Exercises {
			probed := slices.ContainsFunc(probes(), func(p proof) bool { return p.breaks.Under == cell.Under })
			if !probed && cell.Under != lockbench.Outlived && cell.Under != lockbench.SessionKilled {
				t.Errorf("%s exercises %s, and no probe breaks anything under %s", row.Kind, cell, cell.Under)
			}
		}
	}
}

// TestProbeIsCaughtByItsConditionAlone checks that a probe is not caught by a violation that its
// condition did not touch.
func TestProbeIsCaughtByItsConditionAlone(t *testing.T) {
	p := proof{"bare", lockbench.Exclusion.At(lockbench.Failover), "", true}
	for _, c := range []struct {
		cell    lockbench.Cell
		verdict checker.Verdict
		want    bool
	}{
		{lockbench.Exclusion.At(lockbench.Failover), checker.Broken, true},
		{lockbench.Exclusion.At(lockbench.Failover), checker.Held, false},
		{lockbench.Exclusion.At(0), checker.Broken, false},
		{lockbench.Exclusion.At(lockbench.Outlived), checker.Broken, false},
		{lockbench.OwnerRelease.At(lockbench.Outlived), checker.Broken, false},
	} {
		if got := p.caughtBy(checker.CellFinding{Cell: c.cell, Finding: checker.Finding{Verdict: c.verdict}}); got != c.want {
			t.Errorf("%s %s: caught %v, want %v", c.cell, c.verdict, got, c.want)
		}
	}
}

// TestProbed checks that a probe is run if a fault brings about its condition and a guarantee held
// under it.
func TestProbed(t *testing.T) {
	held := lockbench.LeaseKept.At(lockbench.Failover)
	for _, c := range []struct {
		name  string
		kinds []fault.Kind
		found checker.Verdict
		want  int
	}{
		{"held under failover", []fault.Kind{fault.Failover}, checker.Held, 1},
		{"nothing held", []fault.Kind{fault.Failover}, checker.Broken, 0},
		{"another fault", []fault.Kind{fault.Evict}, checker.Held, 0},
		{"no fault", nil, checker.Held, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s session
			s.plan.Workload = workloads.Must("oversell")
			s.result.Runs = []results.Judged{{Verdicts: checker.Result{Findings: []checker.CellFinding{{Cell: held, Finding: checker.Finding{Verdict: c.found, Exposure: 4}}}}}}
			for _, k := range c.kinds {
				f, err := fault.Usual(k)
				if err != nil {
					t.Fatal(err)
				}
				s.faults = append(s.faults, f)
			}
			if got := s.probed(workloads.Defaults()); len(got) != c.want {
				t.Errorf("got %d probes, want %d", len(got), c.want)
			}
		})
	}
}

// TestFailoverRunIsConclusive runs a lock on one server under failover until a cell that
// failover breaks is broken, and expects the probe of that condition to be caught.
func TestFailoverRunIsConclusive(t *testing.T) {
	longtest.Only(t)
	found, err := impls.Match("lua-token/strategy")
	if err != nil {
		t.Fatal(err)
	}
	failover, err := fault.Usual(fault.Failover)
	if err != nil {
		t.Fatal(err)
	}
	o := workloads.Defaults()
	o.Clients, o.Keys, o.TTL, o.Wait, o.Duration = 8, 4, time.Second, 20*time.Millisecond, 20*time.Second
	o.Hold, o.Think = workloads.Always(200*time.Millisecond), workloads.Always(200*time.Millisecond) // a client still holds the lock when the new primary answers
	plan := Plan{Subjects: []Subject{{Design: found[0]}}, Workload: workloads.Must("oversell"), Options: o, Faults: []string{failover.String()}, SelfCheck: true}
	result, err := Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	broken := slices.ContainsFunc(result.Runs[0].Verdicts.Findings, func(f checker.CellFinding) bool {
		return f.Verdict == checker.Broken && results.Catches(lockbench.Exclusion.At(lockbench.Failover), f.Cell)
	})
	if !broken {
		t.Error("exclusion@failover is not broken by a lock on one server")
	}
	for _, p := range result.SelfCheck.Probes {
		if !p.Caught || !strings.HasPrefix(p.Design, "self-check/") {
			t.Errorf("got probe %+v, want it caught", p)
		}
	}
}
