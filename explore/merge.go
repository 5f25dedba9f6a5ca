package explore

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// merged adds up the findings of schedules.
type merged struct {
	findings []checker.Finding
	grants   int64
	hazards  []int64 // schedules that showed one, by finding
	claimed  []bool  // claimed in some schedule, by finding
}

// add takes in the verdicts on one schedule. It calls worse for each guarantee on
// which no schedule before had as bad a verdict, if that is broken or a hazard.
func (m *merged) add(r checker.Result, worse func(lockbench.Guarantee, checker.Verdict)) {
	m.grants += r.Grants
	if m.findings == nil {
		for _, g := range lockbench.Guarantees() {
			m.findings = append(m.findings, checker.Finding{Guarantee: g.Name, Verdict: checker.NotApplicable})
		}
		m.hazards = make([]int64, len(m.findings))
		m.claimed = make([]bool, len(m.findings))
	}
	for i := range r.Findings {
		f, sum := &r.Findings[i], &m.findings[i]
		m.claimed[i] = m.claimed[i] || f.Claimed
		sum.Exposure += f.Exposure
		sum.Exercised = sum.Exercised || f.Exercised
		switch f.Verdict {
		case checker.Broken:
			sum.Violations++
		case checker.Hazard:
			m.hazards[i]++
		}
		higher := graver(f, sum)
		if higher || sum.Note == "" && !graver(sum, f) {
			sum.Verdict, sum.Note, sum.Claimed = f.Verdict, f.Note, f.Claimed
		}
		if higher && shows(f.Verdict) {
			worse(f.Guarantee, f.Verdict)
		}
	}
}

// result is the sum. A design is held to what it claimed in some schedule; where it
// was broken, to what it claimed in one that broke it. What could have been put to
// the test and was in none is untested, not left out.
func (m *merged) result(exercises []lockbench.Guarantee) []checker.Finding {
	for i := range m.findings {
		f := &m.findings[i]
		f.Exercised = f.Exercised || f.Verdict == checker.Untested && slices.Contains(exercises, f.Guarantee)
		if f.Verdict == checker.Hazard {
			f.Violations = m.hazards[i]
		}
		if f.Verdict != checker.Broken {
			f.Claimed = m.claimed[i]
		}
	}
	return m.findings
}
