package reports

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// matrixSuites returns the test cases of a matrix, a suite per design.
func matrixSuites(m *results.Matrix) []document.Suite {
	all := []document.Suite{}
	gated := matrixResult(m)
	for i := range m.Rows {
		row := &m.Rows[i]
		s := document.Suite{Name: row.Design, Properties: concludedProperties(row.Conclusion), Cases: thresholdCases(&gated, i)}
		for _, part := range m.Settings.Parts {
			s.Cases = append(s.Cases, partCase(m, row, part))
		}
		for _, cell := range row.Cells.Sorted() {
			addCell(&s, matrixCellCase(m, row, cell))
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		all = append(all, document.Suite{Name: "lockbench", Cases: []document.Case{{Name: "matrix", State: document.Erred, Message: "nothing was run"}}})
	}
	if checks := selfChecks(m); len(checks) > 0 {
		all = append(all, document.Suite{Name: "self-check", Cases: checks})
	}
	return append(all, withoutDesign(&gated)...)
}

// partCase returns the test case on whether a part of a design was completed and could be judged.
func partCase(m *results.Matrix, row *results.MatrixRow, name string) document.Case {
	found := document.Case{Name: "part " + name}
	switch p := row.Part(name); {
	case row.Lacks(name):
		found.State, found.Message = document.Skipped, omission(row, name)
	case p == nil:
		found.Message = "not run"
	case p.Problem() != "":
		found.Message = p.Problem()
	case !p.Complete:
		found.Message = "not run to its end"
	default:
		found.State, found.Message = document.Held, figures.Plural(p.Counts.Grants, "grant")+" judged"
	}
	return found
}

func omission(r *results.MatrixRow, part string) string {
	for _, o := range r.Without {
		if o.Part == part {
			return o.Why
		}
	}
	return ""
}

// matrixCellCase returns the test case of one cell, with the evidence if the cell is broken.
func matrixCellCase(m *results.Matrix, row *results.MatrixRow, at lockbench.Cell) document.Case {
	f := row.Cells.At(at)
	if p := row.Part(f.Part); p != nil {
		decided := p.Cells.At(at)
		f.Note, f.Measures, f.Counterexample = decided.Note, decided.Measures, decided.Counterexample
	}
	found := document.Case{Name: at.String(), Broken: f.Verdict == checker.Broken}
	found.State, found.Message = stateOf(f, row.Cells.Open(at), row.Reason(at), false)
	if f.Part != "" {
		found.Message += " (" + f.Part + ")"
	}
	addParts(&found, row, at)
	if found.Broken {
		e := &explanation{&gallery{inFull: true}, m, row, ""}
		found.Evidence = []document.Block{e.section(at)}
	}
	return found
}

// addParts adds to the case of a cell its strength and the finding of each part.
func addParts(found *document.Case, row *results.MatrixRow, at lockbench.Cell) {
	all := matrixRowCells(row, 0, "")
	f := shownFinding(all.Cells, at)
	if word, text := strengthOf(f, all.explored); text != "" {
		found.Strength, found.Occasions = word, f.Exposure
	}
	for _, p := range row.Parts.On(at) {
		if _, text := strengthOf(p.Cells.At(at), p.Explored()); text != "" {
			found.Sources = append(found.Sources, [2]string{p.Name, text})
		}
	}
	if c := row.Conclusion; c != nil {
		found.Sources = append(found.Sources, [2]string{"conclusion of the design", string(c.Word)})
	}
}

// selfChecks returns a test case for each part, on whether it caught the lock that is broken on
// purpose.
func selfChecks(m *results.Matrix) (all []document.Case) {
	for _, part := range m.Settings.Parts {
		p := m.SelfCheck.Part(part)
		if p == nil {
			continue
		}
		found := document.Case{Name: "a lock broken on purpose is caught in " + part, State: document.Held, Message: "it broke " + p.MustBreak.String()}
		if !m.SelfCheck.Caught(part) {
			found.State, found.Message = document.Erred, "what held counts as untested: "+uncaught(m, p)
		}
		all = append(all, found)
	}
	return all
}
