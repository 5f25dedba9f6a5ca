package html

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/reports"
)

var comparisonPage = newPage("comparison.html")

// WriteComparison writes c as one HTML document: the cells that changed, with the
// counterexample of what is broken now, then the figures of every design with all their values.
// All that comes from c is escaped. It returns the first error of w.
func WriteComparison(w io.Writer, c reports.Comparison) error {
	return comparisonPage.write(w, newComparisonView(&c))
}

// A comparisonView is a comparison as the template shows it.
type comparisonView struct {
	frame
	Comparison *reports.Comparison
	Changed    []changedView
	Rest       string // what became of the other cells
	Evidence   []evidence
	Designs    []comparedView
	Many       bool // designs, so that rows have to name theirs
}

// A changedView is a cell that is not what it was. Link is the id of the evidence,
// empty for none.
type changedView struct {
	reports.ChangedCell
	Sign, Class, Link string
}

// A comparedView is the figures of a design.
type comparedView struct {
	*reports.ComparedDesign
	ID      string
	Figures []figureView
}

// A figureView is one figure. Strip is nil where one side has no values.
type figureView struct {
	reports.MetricRow
	Sign, Class string
	Better      string
	Strip       *strip
}

// The signs of what became of something, beside the word.
var changeSigns = map[string]struct{ sign, class string }{
	"WORSE": {"▼", "broken"}, "worse": {"▼", "broken"}, "better": {"▲", "held"}, "unclear": {"?", "weak"},
}

func newComparisonView(c *reports.Comparison) *comparisonView {
	v := &comparisonView{
		frame:      frame{Kind: "comparison", Title: arrow(comparisonTitle(c)), Exit: c.Exit, Scripts: []string{"base.js", "lanes.js"}, Data: newData()},
		Comparison: c, Many: len(c.Designs) > 1,
	}
	v.Headline, v.Why = c.Outcome()
	var changed []reports.ChangedCell
	changed, v.Rest = c.Changed()
	for i, g := range changed {
		v.Changed = append(v.Changed, v.changed(fmt.Sprintf("changed-%d", i+1), g))
	}
	if c.Exit == reports.BrokenClaim {
		v.Why += ": " + worse(changed)
	}
	v.Data.show(v.Evidence)
	for i := range c.Designs {
		v.Designs = append(v.Designs, newComparedView(&c.Designs[i], fmt.Sprintf("design-%d", i+1)))
	}
	return v
}

func comparisonTitle(c *reports.Comparison) string {
	if len(c.Designs) == 1 {
		return c.Designs[0].Label()
	}
	return fmt.Sprintf("%d locks", len(c.Designs))
}

// worse names the claims that fail the comparison.
func worse(changed []reports.ChangedCell) string {
	var names []string
	for _, g := range changed {
		if g.Word == "WORSE" && !slices.Contains(names, g.Cell.String()) {
			names = append(names, g.Cell.String())
		}
	}
	return strings.Join(names, ", ")
}

// changed is a cell that changed, the evidence of which the page gets.
func (v *comparisonView) changed(id string, g reports.ChangedCell) changedView {
	s := changeSigns[g.Word]
	c := changedView{ChangedCell: g, Sign: s.sign, Class: s.class}
	if shown := g.Design.Shown(g.Cell); shown != nil {
		c.Link = id
		v.Evidence = appendEvidence(v.Evidence, newEvidence(id, judgement{Cell: g.Cell, Finding: *shown}))
	}
	return c
}

func newComparedView(d *reports.ComparedDesign, id string) comparedView {
	v := comparedView{ComparedDesign: d, ID: id}
	for i := range d.Metrics {
		m := &d.Metrics[i]
		f := figureView{MetricRow: m.Row(), Better: m.Better, Strip: newStrip(d, m)}
		f.Sign, f.Class = changeSigns[f.Word].sign, changeSigns[f.Word].class
		v.Figures = append(v.Figures, f)
	}
	return v
}

// The strip is drawn in units that are pixels where there is room.
const (
	stripFrom, stripTo = 32.0, 212.0
	stripMargin        = 6.0
)

// A strip is the values of a figure in all runs, those of each side in a row.
type strip struct {
	Says, Low, High string
	Sides           []stripSide
}

// A stripSide is one row: an X for each run, and for the median and its interval.
type stripSide struct {
	Name     string
	Diamonds bool // dots otherwise, so that the sides differ without colour
	Y        float64
	Runs     []float64
	Median   float64
	From, To float64
	Known    bool // the interval
}

// newStrip draws a figure; nil when one of the sides has no values.
func newStrip(d *reports.ComparedDesign, m *reports.MetricChange) *strip {
	base, changed := d.Samples(m.Metric)
	if len(base) == 0 || len(changed) == 0 || m.Base == nil || m.New == nil {
		return nil
	}
	low, high := min(slices.Min(base), slices.Min(changed)), max(slices.Max(base), slices.Max(changed))
	x := func(v float64) float64 {
		if high == low {
			return (stripFrom + stripTo) / 2
		}
		return stripFrom + stripMargin + (stripTo-stripFrom-2*stripMargin)*(v-low)/(high-low)
	}
	s := &strip{Low: m.Unit.Format(low), High: m.Unit.Format(high), Says: m.Metric}
	for i, side := range []struct {
		name   string
		values []float64
		*reports.Center
	}{{"base", base, m.Base}, {"new", changed, m.New}} {
		row := stripSide{Name: side.name, Y: 10 + 16*float64(i), Median: x(side.Median), Diamonds: i == 1}
		for _, v := range side.values {
			row.Runs = append(row.Runs, x(v))
		}
		if side.Low != nil && side.High != nil {
			row.From, row.To, row.Known = x(max(low, *side.Low)), x(min(high, *side.High)), true
		}
		s.Sides = append(s.Sides, row)
		s.Says += fmt.Sprintf("; %s: %d runs from %s to %s, median %s", side.name, len(side.values),
			m.Unit.Format(slices.Min(side.values)), m.Unit.Format(slices.Max(side.values)), m.Unit.Format(side.Median))
	}
	return s
}
