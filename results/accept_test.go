package results

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// broke returns a run that claims these cells and broke them.
func broke(design string, cells ...lockbench.Cell) Run {
	r := Run{RunSettings: RunSettings{Design: design}, RunFigures: RunFigures{Counts: Counts{Grants: 500}}, Cells: NewCells(map[lockbench.Cell]Finding{}), Exit: BrokenClaim}
	for _, cell := range cells {
		r.Cells.Set(cell, Finding{Finding: checker.Finding{Verdict: checker.Broken, Claimed: true, Exercised: true, Exposure: 500, Violations: 3, Against: 2}})
	}
	return r
}

func TestAccept(t *testing.T) {
	stuck, two := lockbench.Recovery.At(lockbench.Crash), lockbench.Exclusion.At(0)
	both := lockbench.Recovery.At(lockbench.Crash | lockbench.Pause)
	lastDay := time.Date(2027, 1, 31, 23, 59, 59, 0, time.UTC)
	entry := func(design string, cell lockbench.Cell) Acceptance {
		return Acceptance{Design: design, Cell: cell, Reason: "known", Until: "2027-01-31"}
	}
	doubted := func(r Run) Run {
		r.Cells.Set(two, Finding{Finding: checker.Finding{Verdict: checker.Untested, Claimed: true, Exercised: true, Exposure: 500}})
		return r
	}
	explored := broke("a/b")
	explored.Search = &Search{Parts: Parts{{Name: "explore", Run: broke("", stuck)}}}
	interrupted := broke("a/b", stuck)
	interrupted.Ended = EndedByUser
	for _, c := range []struct {
		name  string
		run   Run
		asked []Acceptance
		now   time.Time
		exit  int
		want  []AcceptanceState
	}{
		{"accepted", broke("a/b", stuck), []Acceptance{entry("a/b", stuck)}, lastDay, Passed, []AcceptanceState{Accepted}},
		{"a pattern", broke("a/b", stuck), []Acceptance{entry("a/*", stuck)}, lastDay, Passed, []AcceptanceState{Accepted}},
		{"found by exploration", explored, []Acceptance{entry("a/b", stuck)}, lastDay, Passed, []AcceptanceState{Accepted}},
		{"expired", broke("a/b", stuck), []Acceptance{entry("a/b", stuck)}, lastDay.Add(time.Second), BrokenClaim, []AcceptanceState{Expired}},
		{"a day is one of UTC", broke("a/b", stuck), []Acceptance{entry("a/b", stuck)}, lastDay.In(time.FixedZone("east", 9*3600)), Passed, []AcceptanceState{Accepted}},
		{"stale", broke("a/b"), []Acceptance{entry("a/b", two)}, lastDay, Passed, []AcceptanceState{Stale}},
		{"another cell", broke("a/b", stuck, two), []Acceptance{entry("a/b", stuck)}, lastDay, BrokenClaim, []AcceptanceState{Accepted}},
		{"more conditions", broke("a/b", both), []Acceptance{entry("a/b", stuck)}, lastDay, Passed, []AcceptanceState{Accepted}},
		{"fewer conditions", broke("a/b", stuck), []Acceptance{entry("a/b", both)}, lastDay, BrokenClaim, []AcceptanceState{Stale}},
		{"a condition where none is accepted", broke("a/b", stuck), []Acceptance{entry("a/b", lockbench.Recovery.At(0))}, lastDay, BrokenClaim, []AcceptanceState{Stale}},
		{"another design", broke("a/b", stuck), []Acceptance{entry("b/*", stuck)}, lastDay, BrokenClaim, []AcceptanceState{Stale}},
		{"each cell", broke("a/b", stuck, two), []Acceptance{entry("a/b", stuck), entry("a/*", two)}, lastDay, Passed, []AcceptanceState{Accepted, Accepted}},
		{"one in force beside one that is over", broke("a/b", stuck), []Acceptance{{Design: "a/b", Cell: stuck, Until: "2027-01-30"}, entry("a/*", stuck)}, lastDay, Passed, []AcceptanceState{Expired, Accepted}},
		{"what is unknown stays so", doubted(broke("a/b", stuck)), []Acceptance{entry("a/b", stuck)}, lastDay, Inconclusive, []AcceptanceState{Accepted}},
		{"a run that does not count", interrupted, []Acceptance{entry("a/b", stuck)}, lastDay, Inconclusive, []AcceptanceState{Accepted}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.run.Cells.Exit() == Passed {
				c.run.Exit = c.run.excused()
			}
			r := Result{Runs: []Run{c.run}}
			r.Exit = r.total()
			r.Accept(c.asked, c.now)
			var got []AcceptanceState
			for _, a := range r.Acceptances {
				got = append(got, a.State)
			}
			if diff := cmp.Diff(got, c.want); diff != "" || r.Exit != c.exit || r.Runs[0].Exit != c.exit {
				t.Errorf("exit %d, of the run %d; want %d (-got +want):\n%s", r.Exit, r.Runs[0].Exit, c.exit, diff)
			}
		})
	}
}
