package exploring

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/results"
)

// expired returns a result that breaks a claim of the design.
func expired() explore.Result {
	return explore.Result{
		Design: "a/b",
		Coverage: explore.Coverage{
			Strategy: explore.Exhaustive, Scenario: "contend", Clients: 2, Threads: 1, Rounds: 2, Faults: -1, Moves: 2,
			Kinds: []fault.Kind{fault.Cut}, Schedules: 1200, Pruned: 30, Complete: true,
		},
		Findings: []checker.CellFinding{
			{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Verdict: checker.Broken, Claimed: true, Exercised: true, Exposure: 9, Violations: 2, Against: 2}},
			{Cell: lockbench.Exclusion.At(lockbench.Outlived), Finding: checker.Finding{Verdict: checker.Broken, Exercised: true, Exposure: 3, Violations: 1}},
		},
		Counterexamples: map[lockbench.Cell]explore.Counterexample{lockbench.Exclusion.At(0): {
			CellFinding: checker.CellFinding{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Verdict: checker.Broken}}, Sentence: "two owners", FoundAt: 3, FoundAfter: time.Second,
			Replay: explore.Replay{Text: []byte("again")},
			Rows:   []explore.Row{{At: time.Second, Client: "c1", Command: "SET", Reply: "OK", Fault: "cut", Holders: []string{"c1"}}},
		}},
		Grants: 44, Defects: []string{"none"}, Elapsed: time.Minute,
	}
}

// TestExplored checks that the report has everything in a result.
func TestExplored(t *testing.T) {
	cfg := explore.Config{Design: design.Design{Name: "a/b"}, Scenario: "contend", Seed: 9, Clients: 2, Rounds: 2, Pool: 5, TTL: time.Second}
	got := Explored(cfg, expired())
	want := results.Explored{
		Coverage: results.Coverage{
			Strategy: "exhaustive", Clients: 2, Threads: 1, Rounds: 2, Moves: 2, Kinds: []string{"cut"},
			Schedules: 1200, Pruned: 30, Complete: true,
		},
		Schedules: map[lockbench.Cell]results.Schedule{lockbench.Exclusion.At(0): {
			FoundAt: 3, Sentence: "two owners", Replay: "again",
			Steps: []results.Step{{At: int64(time.Second), Client: "c1", Command: "SET", Reply: "OK", Fault: "cut", Holders: []string{"c1"}}},
		}},
		FoundAfter: map[lockbench.Cell]time.Duration{lockbench.Exclusion.At(0): time.Second},
		Elapsed:    time.Minute,
		Judged:     results.Judged{Verdicts: checker.Result{Findings: expired().Findings, Grants: 44, Defects: []string{"none"}}},
	}
	want.Header = got.Header
	if diff := cmp.Diff(got, want, cmpopts.IgnoreFields(results.Judged{}, "Measures")); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	params := map[string]any{"clients": 2.0, "rounds": 2.0, "pool": 5.0, "ttl_ns": 1e9}
	if diff := cmp.Diff(got.Header.Params, params); diff != "" || got.Header.Seed != 9 || got.Header.Workload != "contend" {
		t.Errorf("header: got %+v; params (-got +want):\n%s", got.Header, diff)
	}
	if r := results.NewExploration([]results.Explored{got}, nil); r.Exit != results.BrokenClaim {
		t.Errorf("exit: got %d, want %d", r.Exit, results.BrokenClaim)
	}
}

// TestShare checks that a budget is divided among scenarios, but never down to
// zero, which would mean no limit.
func TestShare(t *testing.T) {
	limited := &session{Plan: Plan{Config: explore.Config{Budget: 9 * time.Second, Schedules: 10}}}
	for _, c := range []struct {
		left  explore.Config
		among int
		want  explore.Config
	}{
		{explore.Config{Budget: 9 * time.Second, Schedules: 10}, 3, explore.Config{Budget: 3 * time.Second, Schedules: 3}},
		{explore.Config{Budget: 6 * time.Second, Schedules: 7}, 1, explore.Config{Budget: 6 * time.Second, Schedules: 7}},
		{explore.Config{}, 2, explore.Config{Budget: 1, Schedules: 1}},
	} {
		got := limited.share(c.left, c.among)
		if got.Budget != c.want.Budget || got.Schedules != c.want.Schedules {
			t.Errorf("of %v, %d among %d: got %v, %d; want %v, %d",
				c.left.Budget, c.left.Schedules, c.among, got.Budget, got.Schedules, c.want.Budget, c.want.Schedules)
		}
	}
	if got := new(session).share(explore.Config{}, 3); got.Budget != 0 || got.Schedules != 0 {
		t.Errorf("without limit: got %v, %d; want none", got.Budget, got.Schedules)
	}
}

// TestScenariosByDefault checks that the default is all scenarios, except those
// that ask for more than designs promise.
func TestScenariosByDefault(t *testing.T) {
	var p Plan
	if err := p.Choose(nil); err != nil || len(p.Scenarios) < 10 || p.Named {
		t.Errorf("got %d scenarios, named %v, %v", len(p.Scenarios), p.Named, err)
	}
	for _, s := range p.Scenarios {
		if s.Exploration.OnRequest {
			t.Errorf("%s is only on request", s.Name)
		}
	}
	p = Plan{}
	if err := p.Choose([]string{"nested-short"}); err != nil || len(p.Scenarios) != 1 || !p.Named {
		t.Errorf("named: got %v, %v", p.Scenarios, err)
	}
}
