package zoo_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/explore/bubble"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/longtest"
	"github.com/lockbench/lockbench/internal/zoo"
)

// TestMutantsAreCaught explores every mutant until each guarantee that it breaks is
// shown to be broken. Short runs are those under the race detector: a few schedules show
// it what it can see, and are too few to ask for more.
func TestMutantsAreCaught(t *testing.T) {
	for _, m := range zoo.Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			if testing.Short() {
				caught(t, m, int64(longtest.Times(4, 100)))
				return
			}
			// Half of a budget goes to the exhaustive search, which may miss for long
			// what the random one after it shows at once.
			budgets := []int64{20, 1500, 20_000}
			if longtest.On() {
				budgets = budgets[2:]
			}
			r := caught(t, m, budgets...)
			for _, g := range uncaught(m, r) {
				f := finding(r, g)
				t.Errorf("%s: got %v (%s), want broken; %s", g, f.Verdict, f.Note, r.Coverage.Sentence())
			}
			for g, w := range r.Witnesses {
				t.Logf("%s: schedule %d, %d steps: %s", g, w.FoundAt, len(w.Rows), w.Sentence)
			}
		})
	}
}

// caught explores m until it is caught, with one budget of schedules after the other.
func caught(t *testing.T, m zoo.Mutant, budgets ...int64) (r explore.Result) {
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
func search(t *testing.T, m zoo.Mutant, schedules int64) explore.Result {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := explore.Run(ctx, bubble.New(t), explore.Config{
		Design: m.Design(), Scenario: m.Scenario, Threads: m.Threads, TTL: m.TTL,
		Schedules: schedules, Seed: 1,
	}, func(p explore.Progress) {
		missing := func(g lockbench.Guarantee) bool { return !slices.Contains(p.Broken, g) }
		if !slices.ContainsFunc(m.Breaks, missing) {
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// uncaught returns what m breaks without being caught at it.
func uncaught(m zoo.Mutant, r explore.Result) []lockbench.Guarantee {
	return slices.DeleteFunc(slices.Clone(m.Breaks), func(g lockbench.Guarantee) bool {
		return finding(r, g).Verdict == checker.Broken
	})
}

func finding(r explore.Result, g lockbench.Guarantee) checker.Finding {
	i := slices.IndexFunc(r.Findings, func(f checker.Finding) bool { return f.Guarantee == g })
	return r.Findings[i]
}

// TestSoundLocksPass explores the sound locks in every scenario: what they claim
// holds, and is put to the test by one scenario at least.
func TestSoundLocksPass(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	for _, d := range zoo.Sound() {
		t.Run(d.Name, func(t *testing.T) {
			// They read no clock, and those that renew do not lose what they hold.
			shown := map[lockbench.Guarantee]bool{lockbench.Skew: true, lockbench.LossReported: d.Renews}
			for _, s := range explore.Scenarios() {
				if s.OnRequest || slices.Contains(s.Needs, explore.NeedsNest) && d.Reacquire == design.Refused {
					continue
				}
				t.Run(s.Name, func(t *testing.T) { holds(t, d, s.Name, shown) })
			}
			for _, g := range d.Claims {
				if !shown[g] {
					t.Errorf("no scenario put %s to the test", g)
				}
			}
		})
	}
}

// holds explores d in a scenario, and notes the guarantees that it exercised.
func holds(t *testing.T, d design.Design, scenario string, shown map[lockbench.Guarantee]bool) {
	t.Helper()
	r, err := explore.Run(t.Context(), bubble.New(t), explore.Config{
		Design: d, Scenario: scenario, Schedules: int64(longtest.Times(60, 600)), Seed: 1,
	}, func(explore.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, defect := range r.Defects {
		t.Errorf("defect: %s", defect)
	}
	for _, f := range r.Findings {
		if f.Claimed && f.Verdict == checker.Broken {
			t.Errorf("%s broken: %s\n%s", f.Guarantee, r.Witnesses[f.Guarantee].Sentence, r.Witnesses[f.Guarantee].Replay.Text)
		}
		shown[f.Guarantee] = shown[f.Guarantee] || f.Verdict == checker.Held || f.Verdict == checker.Hazard
	}
}
