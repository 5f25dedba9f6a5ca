package reports

import (
	"bytes"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// suites are all that a matrix says, a suite per design.
func (m *Matrix) suites() []suite {
	all := []suite{}
	gated := m.AsResult()
	for i := range m.Rows {
		row := &m.Rows[i]
		s := suite{name: row.Design, cases: gated.thresholdCases(i)}
		for _, part := range m.Settings.Parts {
			s.cases = append(s.cases, m.partCase(row, part))
		}
		for _, cell := range row.Findings().Sorted() {
			s.cases = append(s.cases, m.cellCase(row, cell))
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		all = append(all, suite{name: "lockbench", cases: []testCase{{name: "matrix", state: caseErred, message: "nothing was run"}}})
	}
	if checks := m.selfChecks(); len(checks) > 0 {
		all = append(all, suite{name: "self-check", cases: checks})
	}
	return append(all, gated.withoutDesign()...)
}

// partCase is whether a part of a design was done, and could be judged.
func (m *Matrix) partCase(row *MatrixRow, name string) testCase {
	found := testCase{name: "part " + name}
	switch p := row.Part(name); {
	case row.lacks(name):
		found.state, found.message = caseSkipped, row.omission(name)
	case p == nil:
		found.message = "not run"
	case p.failed():
		found.message = p.why()
	case !p.Complete:
		found.message = "not run to its end"
	default:
		found.state, found.message = casePassed, plural(p.Grants, "grant")+" judged"
	}
	return found
}

func (r *MatrixRow) omission(part string) string {
	for _, o := range r.Without {
		if o.Part == part {
			return o.Why
		}
	}
	return ""
}

// cellCase is one cell of a matrix, with its evidence where it is broken.
func (m *Matrix) cellCase(row *MatrixRow, at lockbench.Cell) testCase {
	cell := row.Cells[at]
	f := cell.Finding
	for _, e := range cell.Evidence {
		if e.Part == cell.By {
			f.Note, f.Measures, f.Counterexample = e.Note, e.Measures, e.Counterexample
		}
	}
	found := testCase{name: at.String(), broken: f.Verdict == checker.Broken}
	found.state, found.message = stateOf(f, row.Findings().open(at), row.Reason(at))
	if cell.By != "" {
		found.message += " (" + cell.By + ")"
	}
	if found.broken {
		var buf bytes.Buffer
		_ = ExplainCell(&buf, *m, CellName{Design: row.Design, Cell: at}, TerminalOptions{}) // to memory, of a cell there is
		found.evidence = strings.Trim(buf.String(), "\n")
	}
	return found
}

// selfChecks are the parts in which a lock that is broken on purpose was to be caught.
func (m *Matrix) selfChecks() (all []testCase) {
	for _, part := range m.Settings.Parts {
		p := m.SelfCheck.Part(part)
		if p == nil {
			continue
		}
		found := testCase{name: "a lock broken on purpose is caught in " + part, state: casePassed, message: "it broke " + p.MustBreak.String()}
		if !m.SelfCheck.caught(part) {
			found.state, found.message = caseErred, "what held counts as untested: "+m.uncaught(p)
		}
		all = append(all, found)
	}
	return all
}
