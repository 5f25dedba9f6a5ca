package reports

import (
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// Outcome says what the exit code of c means, in a few words, and why.
func (c *Comparison) Outcome() (headline, why string) {
	headline, why = c.sentence()
	if c.Exit == Inconclusive {
		return headline, strings.Join(c.Open, "; ")
	}
	return headline, strings.TrimLeft(why, ":; ")
}

// A ChangedCell is a cell that is not what it was, in one of the designs. Word is
// better, worse, unclear, or WORSE where it is claimed.
type ChangedCell struct {
	Word   string
	Design *ComparedDesign
	*CellChange
}

// Changed lists the cells that changed, what fails first, and says what became of the
// others.
func (c *Comparison) Changed() (all []ChangedCell, rest string) {
	same, broken := c.changedCells(func(word string, d *ComparedDesign, g *CellChange) {
		all = append(all, ChangedCell{word, d, g})
	})
	return all, unchanged(same, broken)
}

// Explanation says, line by line, how to read the figures.
func (c *Comparison) Explanation() []string { return c.explanation() }

// Label names the design, or both.
func (d *ComparedDesign) Label() string { return d.label() }

// Heading names the design and its runs.
func (d *ComparedDesign) Heading() string { return d.heading() }

// Samples are the values of a figure in the runs of either side whose speed counts.
func (d *ComparedDesign) Samples(metric string) (base, changed []float64) {
	for _, f := range compared() {
		if f.name == metric {
			return f.sample(d.base), f.sample(d.changed)
		}
	}
	return nil, nil
}

// Shown is what shows that a cell is broken in NEW; nil when nothing does.
func (d *ComparedDesign) Shown(cell lockbench.Cell) *Finding {
	for _, o := range d.changed {
		if f := o.run.Cells[cell]; f.Verdict == checker.Broken && (f.Counterexample != nil || f.Schedule != nil) {
			return &f
		}
	}
	return nil
}

// A MetricRow is a figure of a comparison as tables show it; what is not known is empty or a
// dash. Spreads are how far the confidence interval reaches from the median, Change the
// difference, "~" where none was seen and "?" where too few runs were made to see one.
type MetricRow struct {
	Metric, Base, BaseSpread, New, NewSpread, Change, Word, Between, P string
}

// Row is the figure as tables show it.
func (m *MetricChange) Row() MetricRow {
	c := m.cells()
	return MetricRow{c[0], c[1], c[2], c[3], c[4], c[5], c[wordCell], c[7], c[8]}
}
