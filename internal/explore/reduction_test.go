package explore_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// TestReductionLosesNothing goes through all schedules of small scopes, and through
// those that reduction leaves, and wants the same verdicts of both.
func TestReductionLosesNothing(t *testing.T) {
	some := []fault.Kind{fault.DieAfter, fault.LostReply, fault.Cancel}
	for _, c := range []struct {
		name string
		cfg  explore.Config
	}{
		{"setnx-getset/naive", explore.Config{Rounds: 1, Faults: 1, Moves: 1, Kinds: some}},
		{"setnx-getset/expiry", explore.Config{Rounds: 1, Faults: 1, Moves: -1, Kinds: some}},
		{"setnx-getset/timestamp", explore.Config{Rounds: 1, Faults: -1, Moves: longtest.Times(1, 2)}},
		{"lua-token/strategy", explore.Config{Clients: 3, Rounds: 1, Faults: -1, Moves: 1}},
		{"lua-token/token", explore.Config{Scenario: "two-keys", Rounds: 1, Faults: -1, Moves: -1}},
		{"lua-token/expire", explore.Config{Scenario: "two-keys", Rounds: 1, Faults: -1, Moves: 1}},
		{"lua-token/options", explore.Config{Scenario: "release-twice", Rounds: 1, Faults: -1, Moves: 1}},
		{"hash-reentrant/plain", explore.Config{Scenario: "nested", Rounds: 1, Faults: -1, Moves: 1}},
		{"hash-reentrant/notify", explore.Config{Wait: 3e9, Rounds: 1, Faults: -1, Moves: 1}},
		{"hash-reentrant/watchdog", explore.Config{Scenario: "update", Rounds: 1, Faults: -1, Moves: 1}},
		{"lua-token/strategy", explore.Config{Scenario: "overrun", Rounds: 1, Faults: 1, Moves: -1, Kinds: fault.Of(fault.Standstill).Explored}},
		{"hash-reentrant/watchdog", explore.Config{Scenario: "update", Rounds: 1, Faults: 1, Moves: -1, Kinds: fault.Of(fault.Standstill).Explored}},
		{"watch-multi/give-up", explore.Config{Rounds: 1, Faults: -1, Moves: -1}},
		{"watch-multi/poll", explore.Config{Rounds: 1, Faults: longtest.Times(-1, 1), Moves: -1, Kinds: some[:1]}},
	} {
		t.Run(c.name+" "+c.cfg.Scenario, func(t *testing.T) {
			c.cfg.Design, c.cfg.Strategy, c.cfg.Schedules = find(t, c.name), explore.Exhaustive, 20_000
			reduced := run(t, c.cfg)
			c.cfg.NoReduction = true
			all := run(t, c.cfg)
			if !reduced.Coverage.Complete || !all.Coverage.Complete {
				t.Fatalf("%d and %d schedules, not complete: stopped by %q and %q", reduced.Coverage.Schedules, all.Coverage.Schedules, reduced.Coverage.Stopped, all.Coverage.Stopped)
			}
			t.Logf("%d schedules, %d with reduction", all.Coverage.Schedules, reduced.Coverage.Schedules)
			if diff := cmp.Diff(verdicts(reduced), verdicts(all)); diff != "" {
				t.Errorf("verdicts (-reduced +all):\n%s", diff)
			}
		})
	}
}

func verdicts(r explore.Result) map[lockbench.Cell]checker.Verdict {
	all := map[lockbench.Cell]checker.Verdict{}
	for _, f := range r.Findings {
		all[f.Cell] = f.Verdict
	}
	return all
}
