package mutants_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/bubble"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/longtest"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/workloads"
)

// TestMutantsAreCaught explores every mutant until each of its broken cells is found broken,
// against its claims. Short runs are those under the race detector: a few schedules are enough for
// it, and too few to require more.
func TestMutantsAreCaught(t *testing.T) {
	for _, m := range mutants.Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			if testing.Short() {
				caught(t, m, int64(longtest.Times(4, 100)))
				return
			}
			// Half of a budget goes to the exhaustive search, which may long miss a violation that
			// the random one after it shows at once.
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

// caught explores m until it is caught, with one budget of schedules after the other.
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

// search explores m until it is caught, or for so many schedules.
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

// TestSoundLocksPass explores the sound locks in every scenario: their claims hold, and at least
// one scenario tests each.
func TestSoundLocksPass(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	for _, d := range mutants.Sound() {
		t.Run(d.Name, func(t *testing.T) {
			shown := map[lockbench.Cell]bool{}
			for _, s := range workloads.By(workloads.Explored) {
				if s.Exploration.OnRequest || slices.Contains(s.Needs, workloads.Nests) && d.Reacquire == design.Refused ||
					slices.Contains(s.Needs, workloads.Renews) && !d.Renews {
					continue
				}
				t.Run(s.Name, func(t *testing.T) { holds(t, d, s.Name, shown) })
			}
			// Locks that renew do not lose their holds.
			shown[lockbench.LossReported.At(0)] = shown[lockbench.LossReported.At(0)] || d.Renews
			for _, g := range d.Claims.Keeps {
				is := shown[g.At(0)] // false if no scenario did
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

// holds explores d in a scenario, and records the claims that this exercises: whether there was an
// occasion to break them, under any conditions.
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
