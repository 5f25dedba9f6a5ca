package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// Finish ends the judgement and returns the verdicts. Only [Checker.Reset] may follow.
func (c *Checker) Finish(end history.End) Result {
	for _, k := range c.sorted() {
		c.settle(k, interval.Forever)
		if !c.partial {
			c.refusedFree(k)
		}
		c.endOpenHolds(k)
	}
	c.result.Partial, c.result.Why = end.Partial, end.Why
	still := &c.faults.standstills
	c.result.Standstills = Standstills{still.Times, time.Duration(still.For), time.Duration(still.Longest)}
	if !c.verdictsOnly {
		c.crossCheck(end.Trailer)
		c.result.GrantsByClient = c.fair.Shares()
	}
	c.result.Findings = c.findings(c.result.Findings, c.find)
	c.result.Fairness = Fairness(c.fair.Figures())
	return c.result
}

// findings appends to all the finding on each row, and on each cell without a row that the run was
// meant to exercise.
func (c *Checker) findings(all []CellFinding, find func(guaranteeID, *row) CellFinding) []CellFinding {
	c.noteAbility(nests, c.rules.Nested)
	for p := range guaranteeCount {
		t := &c.tallies[p]
		t.At(0)
		for _, cell := range c.header.Exercises {
			if cell.Guarantee == names[p] {
				t.At(cell.Under)
			}
		}
		t.Sort()
		for i := range t.Rows {
			all = append(all, find(p, &t.Rows[i]))
		}
	}
	return all
}

// sorted returns the keys in the order of their names, so that each judgement of a history finds
// the same counterexample.
func (c *Checker) sorted() []*key {
	c.pools.sorted = slices.AppendSeq(c.pools.sorted[:0], maps.Values(c.keys))
	slices.SortFunc(c.pools.sorted, func(a, b *key) int { return cmp.Compare(a.name, b.name) })
	return c.pools.sorted
}

// endOpenHolds ends the holds that were open when the record ended.
func (c *Checker) endOpenHolds(k *key) {
	for i := len(k.holds) - 1; i >= 0; i-- {
		h := k.holds[i]
		if h.intruder != nil && !h.Dead {
			c.publish(factLettingGo, fact{at: c.last, key: k, hold: h})
		}
		c.drop(k, i)
	}
}

// countsOf returns the finding on a row without measures and counterexample.
func (c *Checker) countsOf(p guaranteeID, r *row) CellFinding {
	cell := names[p].At(r.Under)
	f := CellFinding{Cell: cell, Finding: Finding{
		Claimed:    c.header.Claims.Claims(cell),
		Exposure:   r.Occasions(),
		Violations: r.Violations,
		Against:    r.Against,
		Exercised:  slices.Contains(c.header.Exercises, cell) || c.header.Exercises == nil && r.Exposure > 0,
	}}
	if n, struck := c.faults.Strikes(r.Under); struck && r.Violations == 0 {
		f.Exposure = min(f.Exposure, n)
	}
	f.SetAsked(cell.Guarantee, r.Asked)
	f.Verdict, f.Note = c.verdict(p, r, f.Claimed)
	return f
}

// find returns the finding on a row.
func (c *Checker) find(p guaranteeID, r *row) CellFinding {
	f := c.countsOf(p, r)
	if c.verdictsOnly {
		return f
	}
	f.Measures, f.When = r.Measured.Figures(monitors[p].measures), r.When
	if len(r.Broken) > 0 {
		f.Counterexample = c.clearest(r.Broken)
	}
	return f
}

// verdict returns the verdict on a row, and the note that explains it.
func (c *Checker) verdict(p guaranteeID, r *row, claimed bool) (Verdict, string) {
	switch {
	case r.Violations > 0:
		return Broken, c.slackNote(p, r.Under)
	case r.Exposure > 0:
		return Held, c.slackNote(p, r.Under)
	}
	if m := monitors[p]; m.needs&^c.ability != 0 && !claimed {
		return NotApplicable, m.lacks
	}
	if missing := r.Under &^ c.faults.happened() &^ lockbench.Outlived; missing != 0 {
		return Untested, "nothing of the kind happened: " + missing.String()
	}
	if past := monitors[p].untestedPast; past != "" && r.Under.Has(lockbench.Outlived) {
		return Untested, past
	}
	return Untested, monitors[p].untested
}

// slackNote returns a note on the slack that was granted.
func (c *Checker) slackNote(p guaranteeID, under lockbench.Conditions) string {
	switch allowed := monitors[p].allowed; {
	case c.verdictsOnly:
	case allowed != nil:
		return allowed(c)
	case under&lockbench.Skew != 0:
		return fmt.Sprintf("client clocks off by up to %v either way, so that two differ by up to %v", time.Duration(c.faults.Skew), time.Duration(2*c.faults.Skew))
	}
	return ""
}

// Find returns the finding on exactly this cell, an untested one if there is none.
func (r Result) Find(cell lockbench.Cell) CellFinding {
	for _, f := range r.Findings {
		if f.Cell == cell {
			return f
		}
	}
	return CellFinding{Cell: cell}
}

// Cells returns the findings by cell.
func (r Result) Cells() Cells {
	all := make(Cells, len(r.Findings))
	for i := range r.Findings {
		all[r.Findings[i].Cell] = r.Findings[i].Finding
	}
	return all
}

// The exit codes of a judgement.
const (
	exitHeld         = 0 // no exposed claim was broken
	exitBroken       = 1 // a claim is broken
	exitInconclusive = 3 // not enough was observed
)

// Exit returns the exit code for r: 0 if every exposed claim held, 1 if one is broken, 3 if r is
// inconclusive. Inconclusive are a claim that was exercised and not exposed, a partial record, no
// grant at all, and a defect of lockbench.
func (r Result) Exit() int {
	exit := r.Cells().Exit()
	if exit == exitHeld && (r.Grants == 0 || r.Partial || len(r.Defects) > 0) {
		exit = exitInconclusive
	}
	return exit
}
