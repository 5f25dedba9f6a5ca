package html

import (
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports"
)

// A judgement is one cell as a page shows it, whatever it was judged by.
type judgement struct {
	Cell lockbench.Cell
	reports.Finding
	// Reason says why the cell is not claimed, empty where it is or nobody says.
	Reason string
}

// Name is the text of the cell.
func (j judgement) Name() string { return j.Cell.String() }

// Promise says what the guarantee promises, Under what happened.
func (j judgement) Promise() string { return j.Cell.Guarantee.Info().Promise }

// Under says in words what happened.
func (j judgement) Under() string { return j.Cell.Under.Title() }

// Sign shows the verdict without colour.
func (j judgement) Sign() string {
	switch j.Verdict {
	case checker.Held:
		return "✓"
	case checker.Broken:
		return "✗"
	case checker.Untested:
		if j.Exercised {
			return "?"
		}
		return "·"
	}
	return "–"
}

// Word is the verdict in words.
func (j judgement) Word() string {
	if j.Verdict == checker.Untested && !j.Exercised {
		return "not put to the test"
	}
	return j.Verdict.String()
}

// Claim is the claim in words.
func (j judgement) Claim() string {
	switch {
	case j.Against > 0:
		return "claimed"
	case j.Verdict == checker.Broken && j.Reason != "":
		return "not claimed: " + j.Reason
	case j.Claimed:
		return "claimed"
	}
	return "not claimed"
}

// Says is the verdict with the claim, and what it is counted by.
func (j judgement) Says() string {
	s := j.Word() + ", " + j.Claim()
	if detail := j.Detail(); detail != "" {
		s += "; " + detail
	}
	return s
}

// Class is how the verdict is coloured; a broken claim stands out.
func (j judgement) Class() string {
	switch {
	case j.Against > 0:
		return "broken claimed"
	case j.Verdict == checker.NotApplicable:
		return "none"
	}
	return j.Verdict.String()
}

// gravity orders what is shown of a run: broken claims first, what was not put to the test
// last.
func (j judgement) gravity() int {
	switch {
	case j.Against > 0:
		return 0
	case j.Verdict == checker.Broken:
		return 1
	case j.Verdict == checker.Untested && j.Claimed && j.Exercised:
		return 2
	case j.Verdict == checker.Held:
		return 3
	case j.Verdict == checker.Untested:
		return 4
	}
	return 5
}

// Said reports whether something was seen.
func (j judgement) Said() bool { return j.gravity() < 4 }

// shown reports whether there is a counterexample.
func (j judgement) shown() bool {
	// One that another cell's schedule explains has a sentence only.
	return j.Verdict == checker.Broken && (j.Counterexample != nil && len(j.Counterexample.Ops) > 0 || j.Schedule != nil)
}

// idOf makes a cell part of an id.
func idOf(cell lockbench.Cell) string {
	return strings.NewReplacer("@", "-at-", "+", "-and-").Replace(cell.String())
}
