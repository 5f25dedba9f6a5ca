package explore

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// merged adds up the findings of schedules.
type merged struct {
	findings []checker.Finding
	grants   int64
	hazards  []int64 // schedules that showed one, by finding
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
	}
	for i := range r.Findings {
		f, sum := &r.Findings[i], &m.findings[i]
		sum.Claimed = f.Claimed
		sum.Exposure += f.Exposure
		sum.Exercised = sum.Exercised || f.Exercised
		switch f.Verdict {
		case checker.Broken:
			sum.Violations++
		case checker.Hazard:
			m.hazards[i]++
		}
		higher := rank(f.Verdict) > rank(sum.Verdict)
		if higher || sum.Note == "" && f.Verdict == sum.Verdict {
			sum.Verdict, sum.Note = f.Verdict, f.Note
		}
		if higher && rank(f.Verdict) >= rank(checker.Hazard) {
			worse(f.Guarantee, f.Verdict)
		}
	}
}

// result is the sum.
func (m *merged) result() []checker.Finding {
	for i := range m.findings {
		if f := &m.findings[i]; f.Verdict == checker.Hazard {
			f.Violations = m.hazards[i]
		}
	}
	return m.findings
}
