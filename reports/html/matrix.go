package html

import (
	"fmt"
	"io"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports"
)

var matrixPage = newPage("matrix.html")

// WriteMatrix writes m as one HTML document: the table, and for every cell of it what each
// part found, with its counterexample. All that comes from m is escaped. It returns the first
// error of w.
func WriteMatrix(w io.Writer, m reports.Matrix) error {
	return matrixPage.write(w, newMatrixView(&m))
}

// A matrixView is a matrix as the template shows it.
type matrixView struct {
	frame
	Matrix     *reports.Matrix
	Thresholds []thresholdView
	Guarantees []lockbench.GuaranteeInfo
	Table      tableView
	Designs    []designView
}

// A designView is one row of a matrix.
type designView struct {
	*reports.MatrixRow
	ID    string
	Table tableView
	Cells []cellView
}

// A cellView is one cell of a matrix with what it is made from.
type cellView struct {
	judgement
	ID, By string
	Found  []foundView
	// Missing are the parts that say nothing of it.
	Missing []missing
}

// A foundView is what one part found of a cell.
type foundView struct {
	evidence
	Part    *reports.MatrixPart
	Extent  []string
	Doubted bool // held, in a part in which the lock broken on purpose was not caught
}

// A missing is a part that says nothing, and why.
type missing struct{ Part, Why string }

func newMatrixView(m *reports.Matrix) *matrixView {
	v := &matrixView{
		frame: frame{
			Kind: "matrix", Title: fmt.Sprintf("%d designs", len(m.Rows)), Exit: m.Exit, Version: m.Environment.Version,
			Scripts: []string{"base.js", "lanes.js"}, Data: newData(),
		},
		Matrix: m,
	}
	v.Headline, v.Why = m.Outcome()
	gated := m.AsResult()
	v.Thresholds = thresholdViews(&gated)
	v.Guarantees = lockbench.Guarantees()
	for i := range m.Rows {
		v.Designs = append(v.Designs, v.design(i))
	}
	v.Table = newTable(m.Table(), func(i int) string { return v.Designs[i].ID },
		func(i int, about lockbench.Cell) string { return v.Designs[i].cellID(about) })
	return v
}

// design is the i-th row, the pictures of which the page gets.
func (v *matrixView) design(i int) designView {
	d := designView{MatrixRow: &v.Matrix.Rows[i], ID: fmt.Sprintf("design-%d", i+1)}
	var drawn []evidence
	for _, cell := range d.Findings().Sorted() {
		c := v.cell(&d, cell)
		for j := range c.Found {
			if f := &c.Found[j]; f.shown() {
				drawn = appendEvidence(drawn, f.evidence)
				f.evidence = drawn[len(drawn)-1]
			}
		}
		shown := slices.ContainsFunc(c.Found, func(f foundView) bool { return f.shown() })
		if cell.Under.Count() <= 1 || shown || c.Verdict == checker.Broken { // what holds under a mix is in the sums of its conditions
			d.Cells = append(d.Cells, c)
		}
	}
	v.Data.show(drawn)
	d.Table = newTable(d.GuaranteeTable(), unlinked, func(_ int, about lockbench.Cell) string { return d.cellID(about) })
	return d
}

// cellID is the id of a cell of the design.
func (d *designView) cellID(cell lockbench.Cell) string { return d.ID + "-" + idOf(cell) }

func (v *matrixView) cell(d *designView, at lockbench.Cell) cellView {
	found := d.MatrixRow.Cells[at]
	c := cellView{
		judgement: judgement{Cell: at, Finding: found.Finding, Reason: d.Reason(at)},
		ID:        d.cellID(at), By: found.By,
	}
	for i, e := range found.Evidence {
		if p := d.Part(e.Part); p != nil {
			c.Found = append(c.Found, v.found(fmt.Sprintf("%s-%d", c.ID, i+1), c.judgement, e, p))
		}
	}
	slices.SortStableFunc(c.Found, func(a, b foundView) int { return c.rank(a) - c.rank(b) })
	for _, part := range v.Matrix.Settings.Parts {
		if !slices.ContainsFunc(c.Found, func(f foundView) bool { return f.Part.Name == part }) {
			c.Missing = append(c.Missing, missing{part, d.silent(part)})
		}
	}
	return c
}

// rank puts the part that decided first.
func (c *cellView) rank(f foundView) int {
	if f.Part.Name == c.By {
		return 0
	}
	return 1
}

// found is what a part says of a cell.
func (v *matrixView) found(id string, cell judgement, e reports.Evidence, p *reports.MatrixPart) foundView {
	f := foundView{
		evidence: evidence{ID: id, judgement: judgement{Cell: cell.Cell, Finding: e.Counted(p), Reason: cell.Reason}},
		Part:     p, Extent: p.Extent(e.In),
		Doubted: e.Verdict == checker.Held && slices.Contains(v.Matrix.Unproven(), p.Name),
	}
	if f.shown() {
		f.evidence = newEvidence(id, f.judgement)
	}
	return f
}

// silent says why a part says nothing.
func (d *designView) silent(part string) string {
	for _, o := range d.Without {
		if o.Part == part {
			return "not done: " + o.Why
		}
	}
	if d.Part(part) == nil {
		return "not run"
	}
	return "does not put it to the test"
}
