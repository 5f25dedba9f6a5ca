package explore

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore/internal/shrink"
)

// schedule is the finding for a schedule that violated these cells, each of them twice. against is
// the number of violations of each that count against the claims.
func schedule(against int64, violated ...lockbench.Cell) (r checker.Result) {
	for _, cell := range violated {
		r.Findings = append(r.Findings, checker.CellFinding{
			Cell: cell, Finding: checker.Finding{Verdict: checker.Broken, Exposure: 3, Violations: 2, Against: against,
				Questions: checker.ByQuestion{checker.LostUpdate: 2},
			}})
	}
	return r
}

func TestMergedCountsSchedules(t *testing.T) {
	plain, died, both := lockbench.Exclusion.At(0), lockbench.Exclusion.At(lockbench.Crash), lockbench.Exclusion.At(lockbench.Crash|lockbench.Skew)
	held := checker.Result{Findings: []checker.CellFinding{{Cell: plain, Finding: checker.Finding{Verdict: checker.Held, Exposure: 5}}}, Grants: 2}
	var m findingSum
	var broken []lockbench.Cell
	for _, r := range []checker.Result{schedule(0, died), held, schedule(0, died, both), schedule(1, died), schedule(0, plain)} {
		m.add(r, func(f *checker.CellFinding) { broken = append(broken, f.Cell) })
	}
	if diff := cmp.Diff(broken, []lockbench.Cell{died, both, died, plain}); diff != "" {
		t.Errorf("worse than before (-got +want):\n%s", diff)
	}
	asked := func(n int64) checker.ByQuestion { return checker.ByQuestion{checker.LostUpdate: n} }
	want := []checker.CellFinding{
		{Cell: plain, Finding: checker.Finding{Verdict: checker.Broken, Exposure: 8, Violations: 1, Questions: asked(1)}},
		{Cell: died, Finding: checker.Finding{Verdict: checker.Broken, Exposure: 9, Violations: 3, Against: 1, Questions: asked(3)}},
		{Cell: both, Finding: checker.Finding{Verdict: checker.Broken, Exposure: 3, Violations: 1, Questions: asked(1)}},
	}
	if diff := cmp.Diff(m.findings, want); diff != "" || m.grants != 2 {
		t.Errorf("%d grants, findings (-got +want):\n%s", m.grants, diff)
	}
}

// TestMergingAllocatesNothing has schedules of more and fewer findings follow one another.
func TestMergingAllocatesNothing(t *testing.T) {
	var m findingSum
	died, late := lockbench.Exclusion.At(lockbench.Crash), lockbench.Exclusion.At(lockbench.Outlived)
	few, many := schedule(0, died), schedule(0, lockbench.Exclusion.At(0), late, died, lockbench.Effects.At(0))
	add := func() {
		m.add(few, func(*checker.CellFinding) {})
		m.add(many, func(*checker.CellFinding) {})
	}
	add()
	if n := testing.AllocsPerRun(10, add); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestBreaks(t *testing.T) {
	died, both := lockbench.Exclusion.At(lockbench.Crash), lockbench.Exclusion.At(lockbench.Crash|lockbench.Skew)
	for _, c := range []struct {
		name    string
		r       checker.Result
		within  lockbench.Cell
		against bool
		want    string
	}{
		{"the same", schedule(0, died), died, false, "exclusion@crash"},
		{"fewer conditions", schedule(0, died, both), both, false, "exclusion@crash"},
		{"more conditions", schedule(0, both), died, false, ""},
		{"another condition", schedule(0, lockbench.Exclusion.At(lockbench.Skew)), died, false, ""},
		{"another guarantee", schedule(0, lockbench.Effects.At(0)), died, false, ""},
		{"it counts, the other did not", schedule(2, died), died, false, ""},
		{"it does not count, the other did", schedule(0, died), died, true, ""},
		{"some of it counts", schedule(1, died), died, true, "exclusion@crash"},
		{"some of it does not", schedule(1, died), died, false, "exclusion@crash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := firstBroken(c.r, c.within, c.against); got.String() != c.want || ok != (c.want != "") {
				t.Errorf("got %q, %t, want %q", got, ok, c.want)
			}
		})
	}
}

// TestExplained: a violation of a claim is never explained by one that violates none.
func TestExplained(t *testing.T) {
	plain, died, late := lockbench.Exclusion.At(0), lockbench.Exclusion.At(lockbench.Crash), lockbench.Exclusion.At(lockbench.Outlived)
	x := explorer{failures: map[lockbench.Cell]failure{plain: {}, died: {against: true}, late: {}}}
	left := x.unexplained(map[lockbench.Cell]bool{})
	if diff := cmp.Diff(left, []lockbench.Cell{died, plain}); diff != "" {
		t.Errorf("to be shown (-got +want):\n%s", diff)
	}
	x.keepNewFailure(failure{schedule: 7}, shrink.Candidate{Cell: late}, schedule(1, late, lockbench.Exclusion.At(lockbench.Crash|lockbench.Skew)))
	if f := x.failures[late]; !f.against || f.schedule != 7 || len(x.failures) != 3 {
		t.Errorf("got %+v: want %s turned up, and nothing else", x.failures, late)
	}
}

// TestDropLeavesNothingHeld: cells broken only by schedules that went another way when run again
// are neither broken nor held.
func TestDropLeavesNothingHeld(t *testing.T) {
	cell := lockbench.Exclusion.At(0)
	var m findingSum
	m.add(checker.Result{Findings: []checker.CellFinding{{Cell: cell, Finding: checker.Finding{Claimed: true, Verdict: checker.Broken, Violations: 1, Against: 1, Exposure: 9}}}}, func(*checker.CellFinding) {})
	m.drop(cell)
	if got := m.findings[0]; got.Verdict != checker.Untested || got.Violations+got.Against > 0 || got.Note == "" {
		t.Errorf("got %+v, want it untested, and said why", got)
	}
}
