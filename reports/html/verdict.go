package html

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports"
)

// A judgement is one guarantee as a page shows it, whatever it was judged by.
type judgement struct {
	Name lockbench.Guarantee
	reports.Guarantee
	// Limited: claimed, but not under the faults that broke it.
	Limited bool
}

// Holds says when the guarantee holds.
func (j judgement) Holds() string {
	for _, g := range lockbench.Guarantees() {
		if g.Name == j.Name {
			return g.HoldsWhen
		}
	}
	return ""
}

// Sign shows the verdict without colour.
func (j judgement) Sign() string {
	switch j.Verdict {
	case checker.Held:
		return "✓"
	case checker.Broken:
		return "✗"
	case checker.Hazard:
		return "~"
	case checker.Untested:
		if j.Exercised {
			return "?"
		}
		return "·"
	}
	return "–"
}

// Mark is the sign with a star for a claim, as in a matrix.
func (j judgement) Mark() string {
	switch {
	case j.Claimed:
		return j.Sign() + "*"
	case j.Limited:
		return j.Sign() + "°"
	}
	return j.Sign()
}

// Word is the verdict in words.
func (j judgement) Word() string {
	if j.Verdict == checker.Untested && !j.Exercised {
		return "not put to the test"
	}
	return j.Verdict.String()
}

// Says is the verdict with the claim, and what it is counted by.
func (j judgement) Says() string {
	s := j.Word()
	switch {
	case j.Claimed:
		s += ", claimed"
	case j.Limited:
		s += ", claimed but not under these faults"
	case j.Verdict == checker.Broken:
		s += ", not claimed"
	}
	if detail := j.Detail(); detail != "" {
		s += ": " + detail
	}
	return s
}

// Class is how the verdict is coloured; a broken claim stands out.
func (j judgement) Class() string {
	switch {
	case j.Verdict == checker.Broken && j.Claimed:
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
	case j.Verdict == checker.Broken && j.Claimed:
		return 0
	case j.Verdict == checker.Broken:
		return 1
	case j.Verdict == checker.Hazard:
		return 2
	case j.Verdict == checker.Untested && j.Claimed && j.Exercised:
		return 3
	case j.Verdict == checker.Held:
		return 4
	case j.Verdict == checker.Untested:
		return 5
	}
	return 6
}

// Said tells whether the judgement belongs above the fold: something was seen.
func (j judgement) Said() bool { return j.gravity() < 5 }

// shown tells whether there is a witness for it.
func (j judgement) shown() bool {
	return (j.Verdict == checker.Broken || j.Verdict == checker.Hazard) && (j.Witness != nil || j.Schedule != nil)
}
