package reports

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// suites are all that a matrix says, a suite per design.
func (m *Matrix) suites() []document.Suite {
	all := []document.Suite{}
	gated := m.asResult()
	for i := range m.Rows {
		row := &m.Rows[i]
		s := document.Suite{Name: row.Design, Cases: gated.thresholdCases(i)}
		for _, part := range m.Settings.Parts {
			s.Cases = append(s.Cases, m.partCase(row, part))
		}
		for _, cell := range row.findings().sorted() {
			s.Cases = append(s.Cases, m.cellCase(row, cell))
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		all = append(all, document.Suite{Name: "lockbench", Cases: []document.Case{{Name: "matrix", State: document.Erred, Message: "nothing was run"}}})
	}
	if checks := m.selfChecks(); len(checks) > 0 {
		all = append(all, document.Suite{Name: "self-check", Cases: checks})
	}
	return append(all, gated.withoutDesign()...)
}

// partCase is whether a part of a design was done, and could be judged.
func (m *Matrix) partCase(row *MatrixRow, name string) document.Case {
	found := document.Case{Name: "part " + name}
	switch p := row.part(name); {
	case row.lacks(name):
		found.State, found.Message = document.Skipped, row.omission(name)
	case p == nil:
		found.Message = "not run"
	case p.failed():
		found.Message = p.why()
	case !p.Complete:
		found.Message = "not run to its end"
	default:
		found.State, found.Message = document.Held, figures.Plural(p.Grants, "grant")+" judged"
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
func (m *Matrix) cellCase(row *MatrixRow, at lockbench.Cell) document.Case {
	cell := row.Cells[at]
	f := cell.Finding
	for _, e := range cell.Evidence {
		if e.Part == cell.By {
			f.Note, f.Measures, f.Counterexample = e.Note, e.Measures, e.Counterexample
		}
	}
	found := document.Case{Name: at.String(), Broken: f.Verdict == checker.Broken}
	found.State, found.Message = stateOf(f, row.findings().open(at), row.reason(at))
	if cell.By != "" {
		found.Message += " (" + cell.By + ")"
	}
	if found.Broken {
		e := &explanation{&gallery{inFull: true}, m, row, ""}
		found.Evidence = []document.Block{e.section(at)}
	}
	return found
}

// selfChecks are the parts in which a lock that is broken on purpose was to be caught.
func (m *Matrix) selfChecks() (all []document.Case) {
	for _, part := range m.Settings.Parts {
		p := m.SelfCheck.part(part)
		if p == nil {
			continue
		}
		found := document.Case{Name: "a lock broken on purpose is caught in " + part, State: document.Held, Message: "it broke " + p.MustBreak.String()}
		if !m.SelfCheck.caught(part) {
			found.State, found.Message = document.Erred, "what held counts as untested: "+m.uncaught(p)
		}
		all = append(all, found)
	}
	return all
}
