package mutants_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/workloads"
)

// TestMutantsAreCaught explores every mutant until each of its broken cells is found broken,
// although it claims them. Under the race detector it runs few schedules, and so does not require
// that.
func TestMutantsAreCaught(t *testing.T) {
	for _, m := range mutants.Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			if testing.Short() {
				caught(t, m, int64(longtest.Times(4, 100)))
				return
			}
			// Half of a budget goes to the exhaustive search. It may miss for long a violation that
			// the random search after it finds at once.
			budgets := []int64{20, 1500, 20_000}
			if longtest.On() {
				budgets = budgets[2:]
			}
			r := caught(t, m, budgets...)
			for _, cell := range uncaught(m, r) {
				f := finding(r, cell)
				t.Errorf("%s: got %v (%s), want broken; %s", cell, f.Verdict, f.Note, r.Coverage.Sentence())
			}
			for cell, w := range r.Counterexamples {
				t.Logf("%s: schedule %d, %d steps: %s", cell, w.FoundAt, len(w.Rows), w.Sentence)
			}
		})
	}
}

// caught explores m until it is caught, with each budget of schedules in turn.
func caught(t *testing.T, m mutants.Mutant, budgets ...int64) (r explore.Result) {
	t.Helper()
	for _, schedules := range budgets {
		r = search(t, m, schedules)
		if len(uncaught(m, r)) == 0 {
			break
		}
	}
	return r
}

// search explores m until it is caught, for at most a number of schedules.
func search(t *testing.T, m mutants.Mutant, schedules int64) explore.Result {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := explore.Run(ctx, bubble.New(t), explore.Config{
		Design: m.Design(), Scenario: m.Scenario, Threads: m.Threads, TTL: m.TTL,
		Schedules: schedules, Seed: 1,
	}, func(p explore.Progress) {
		missing := func(cell lockbench.Cell) bool { return !slices.Contains(p.Broken, cell) }
		if !slices.ContainsFunc(m.Breaks, missing) {
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// uncaught returns the cells that m breaks without being caught.
func uncaught(m mutants.Mutant, r explore.Result) []lockbench.Cell {
	return slices.DeleteFunc(slices.Clone(m.Breaks), func(cell lockbench.Cell) bool { return finding(r, cell).Against > 0 })
}

func finding(r explore.Result, cell lockbench.Cell) checker.CellFinding {
	return checker.Result{Findings: r.Findings}.Find(cell)
}

// TestSoundLocksPass explores the sound locks in every scenario, and checks that they keep their
// claims and that each claim is tested in at least one scenario.
func TestSoundLocksPass(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	for _, d := range append(mutants.Sound(), mutants.Watched()) {
		t.Run(d.Name, func(t *testing.T) {
			shown := map[lockbench.Cell]bool{}
			for _, s := range workloads.By(workloads.Explored) {
				if s.Exploration.OnRequest || slices.Contains(s.Needs, workloads.Nests) && d.Reacquire == design.Refused ||
					slices.Contains(s.Needs, workloads.Renews) && !d.Renews {
					continue
				}
				t.Run(s.Name, func(t *testing.T) { holds(t, d, s.Name, shown) })
			}
			// A lock that renews its leases loses no hold.
			shown[lockbench.LossReported.At(0)] = shown[lockbench.LossReported.At(0)] || d.Renews
			for _, g := range d.Claims.Keeps {
				is := shown[g.At(0)] // false if no scenario exercised it
				shown[g.At(0)] = is
			}
			for cell, is := range shown {
				if !is {
					t.Errorf("no scenario put %s to the test", cell)
				}
			}
		})
	}
}

// holds explores d in a scenario, checks that its claims hold, and records in shown the claims that
// had an occasion, under any conditions.
func holds(t *testing.T, d design.Design, scenario string, shown map[lockbench.Cell]bool) {
	t.Helper()
	r, err := explore.Run(t.Context(), bubble.New(t), explore.Config{
		Design: d, Scenario: scenario, Schedules: int64(longtest.Times(60, 1000)), Seed: 1,
	}, func(explore.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, defect := range r.Defects {
		t.Errorf("defect: %s", defect)
	}
	for _, f := range r.Findings {
		if f.Against > 0 {
			t.Errorf("%s broken: %s\n%s", f.Cell, r.Counterexamples[f.Cell].Sentence, r.Counterexamples[f.Cell].Replay.Text)
		}
		if !f.Claimed || !f.Exercised {
			continue
		}
		for _, cell := range []lockbench.Cell{f.Cell, f.Cell.Guarantee.At(0)} {
			shown[cell] = shown[cell] || checker.Result{Findings: r.Findings}.Cells().Occasions(cell, checker.Held, checker.Broken) > 0
		}
	}
}
