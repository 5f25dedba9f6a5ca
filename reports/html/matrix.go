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
// part found, with its witness. All that comes from m is escaped. It returns the first
// error of w.
func WriteMatrix(w io.Writer, m reports.Matrix) error {
	return matrixPage.write(w, newMatrixView(&m))
}

// A matrixView is a matrix as the template shows it.
type matrixView struct {
	frame
	Matrix     *reports.Matrix
	Thresholds []thresholdView
	Columns    []lockbench.GuaranteeInfo
	Designs    []designView
}

// A designView is one row of a matrix.
type designView struct {
	*reports.MatrixRow
	ID    string
	Cells []cellView
}

// A cellView is one cell of a matrix with what it is made from.
type cellView struct {
	judgement
	ID, By string
	Limits []reports.MatrixLimit // the faults under which the design is known to give it up
	Found  []foundView
	// Missing are the parts that say nothing of it.
	Missing []missing
}

// A foundView is what one part found of a guarantee.
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
	v.Thresholds = thresholds(&gated)
	judgeable := reports.Judgeable()
	for _, g := range lockbench.Guarantees() {
		if slices.Contains(judgeable, g.Name) {
			v.Columns = append(v.Columns, g)
		}
	}
	for i := range m.Rows {
		v.Designs = append(v.Designs, v.design(i))
	}
	return v
}

// design is the i-th row, the pictures of which the page gets.
func (v *matrixView) design(i int) designView {
	d := designView{MatrixRow: &v.Matrix.Rows[i], ID: fmt.Sprintf("design-%d", i+1)}
	var drawn []evidence
	for _, g := range v.Columns {
		c := v.cell(&d, g.Name)
		for j := range c.Found {
			if f := &c.Found[j]; f.shown() {
				drawn = appendEvidence(drawn, f.evidence)
				f.evidence = drawn[len(drawn)-1]
			}
		}
		d.Cells = append(d.Cells, c)
	}
	v.Data.show(drawn)
	return d
}

func (v *matrixView) cell(d *designView, name lockbench.Guarantee) cellView {
	found := d.MatrixRow.Cells[name]
	c := cellView{
		judgement: judgement{
			Name: name, Limited: found.Limited,
			Guarantee: reports.Guarantee{Verdict: found.Verdict, Claimed: found.Claimed, Exercised: found.Exercised},
		},
		ID: d.ID + "-" + string(name), By: found.By,
	}
	for _, l := range d.Limits {
		if slices.Contains(l.Gives, name) {
			c.Limits = append(c.Limits, l)
		}
	}
	for i, e := range found.Evidence {
		if p := d.Part(e.Part); p != nil {
			c.Found = append(c.Found, v.found(fmt.Sprintf("%s-%d", c.ID, i+1), name, e, p))
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

// found is what a part says of a guarantee.
func (v *matrixView) found(id string, name lockbench.Guarantee, e reports.Evidence, p *reports.MatrixPart) foundView {
	f := foundView{
		evidence: evidence{ID: id, judgement: judgement{Name: name, Guarantee: e.Counted(p)}},
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
