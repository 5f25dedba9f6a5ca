package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// comparisonDocument returns the report of a comparison: the differences in settings, the changed
// cells, the limits, then the figures of each design, with the evidence for cells that got worse.
func comparisonDocument(c *results.Comparison) *document.Document {
	d := &document.Document{Kind: "comparison", Title: title(c), Exit: c.Exit, Tone: exitTone(c.Exit)}
	d.Headline, d.Why = comparisonOutcome(c)
	d.Blocks = append(headings(c), differences(c), comparisonGuarantees(c), limitList(c))
	for i := range c.Designs {
		d.Blocks = append(d.Blocks, comparedDesignFigures(&c.Designs[i], i))
	}
	if c.Tests > 0 {
		d.Blocks = append(d.Blocks, &document.Table{Notes: comparisonExplanation(c)})
	}
	d.Blocks = append(d.Blocks, comparedErrors(c), shown(c))
	if c.Exit == results.Inconclusive && c.SpeedsBarred {
		d.Blocks = append(d.Blocks, line("hint: --force compares them all the same"))
	}
	return d
}

func title(c *results.Comparison) string {
	if len(c.Designs) == 1 {
		return c.Designs[0].Label()
	}
	return fmt.Sprintf("%d locks", len(c.Designs))
}

// headings returns a line for each design with the numbers of its runs.
func headings(c *results.Comparison) (blocks []document.Block) {
	for i := range c.Designs {
		blocks = append(blocks, line(heading(&c.Designs[i])))
	}
	for _, side := range []struct {
		name string
		only []string
	}{{"BASE", c.BaseOnly}, {"NEW", c.NewOnly}} {
		if len(side.only) > 0 {
			blocks = append(blocks, line(fmt.Sprintf("only in %s, not compared: %s", side.name, strings.Join(side.only, ", "))))
		}
	}
	return blocks
}

// heading returns the name of the design and the numbers of its runs.
func heading(d *results.ComparedDesign) string {
	if d.BaseRuns == d.NewRuns {
		return fmt.Sprintf("%s, %s of each", d.Label(), figures.Plural(int64(d.BaseRuns), "run"))
	}
	return fmt.Sprintf("%s, %s and %d", d.Label(), figures.Plural(int64(d.BaseRuns), "run"), d.NewRuns)
}

// differences returns the differences of settings and surroundings, and the notes that a reader
// needs first.
func differences(c *results.Comparison) *document.List {
	l := &document.List{}
	for _, d := range c.Differences {
		item := document.Item{Word: "differs", Text: d.String()}
		if d.Bars {
			item.Tone = document.Weak
		}
		if d.Bars && c.SpeedsBarred {
			item.Text += ": speeds are not compared across it"
		}
		l.Items = append(l.Items, item)
	}
	for _, note := range c.Notes {
		l.Items = append(l.Items, document.Item{Word: "note", Tone: document.Weak, Text: note})
	}
	return l
}

// changeWords are the words for changes of guarantees, in the order in which they are shown.
var changeWords = []struct {
	change, word string
	claimed      bool
}{
	{results.CellWorse, "WORSE", true},
	{results.CellWorse, "worse", false},
	{results.CellUnclear, "unclear", true},
	{results.CellUnclear, "unclear", false},
	{results.CellBetter, "better", true},
	{results.CellBetter, "better", false},
}

// A changedCell is a cell with another verdict than before, in one of the designs. Word is better,
// worse, unclear, or WORSE if it is claimed.
type changedCell struct {
	word   string
	design *results.ComparedDesign
	*results.CellChange
}

// changed returns the changed cells, failing cells first, and a phrase with the number of the other
// cells.
func changed(c *results.Comparison) (all []changedCell, rest string) {
	for _, w := range changeWords {
		for i := range c.Designs {
			for j := range c.Designs[i].Cells {
				if g := &c.Designs[i].Cells[j]; g.Change == w.change && g.Claimed == w.claimed {
					all = append(all, changedCell{w.word, &c.Designs[i], g})
				}
			}
		}
	}
	same, broken := 0, 0
	for _, d := range c.Designs {
		for _, g := range d.Cells {
			switch {
			case g.Change == results.CellSame && g.Is.Broken > 0:
				broken++
			case g.Change == results.CellSame:
				same++
			}
		}
	}
	return all, unchanged(same, broken)
}

// unchanged returns the number of cells that did not change, in words.
func unchanged(same, broken int) string {
	if broken == 0 {
		return figures.Plural(int64(same), "cell") + " the same"
	}
	return fmt.Sprintf("%s the same, and %d still broken", figures.Plural(int64(same), "cell"), broken)
}

// changeSigns show the direction of a change.
var changeSigns = map[string]string{"WORSE": "▼", "worse": "▼", "better": "▲", "unclear": "?"}

// changeTone returns the colour of a change.
func changeTone(word string) document.Tone {
	switch word {
	case "WORSE":
		return document.Bad
	case results.MetricBetter:
		return document.Good
	}
	return document.Weak
}

// comparisonGuarantees returns the changed cells, as lines or, on a page, as a table, with the
// number of the others.
func comparisonGuarantees(c *results.Comparison) document.Block {
	changed, rest := changed(c)
	l := &document.List{}
	for i, g := range changed {
		l.Items = append(l.Items, document.Item{Word: g.word, Tone: changeTone(g.word), Sign: changeSigns[g.word], Text: g.design.Label() + " " + g.CellChange.String(), Link: g.link(i)})
	}
	for _, lost := range c.StrengthLosses() {
		l.Items = append(l.Items, document.Item{Word: "weaker", Tone: document.Weak, Sign: changeSigns["worse"], Text: lost.String()})
	}
	l.Items = append(l.Items, document.Item{Text: rest})
	section := &document.Section{ID: "guarantees", Title: "guarantees", Blocks: []document.Block{l}}
	all := &document.Section{Title: "All that some run could put to the test", Folded: true, Media: document.Page}
	for i := range c.Designs {
		all.Blocks = append(all.Blocks, allCells(&c.Designs[i]))
	}
	section.Blocks = append(section.Blocks, all)
	return section
}

// link returns the ID of the evidence that the i-th changed cell is broken, empty if there is none.
func (g *changedCell) link(i int) string {
	if g.design.Shown(g.Cell) == nil {
		return ""
	}
	return fmt.Sprintf("changed-%d", i+1)
}

// allCells returns the table of all cells of a design.
func allCells(d *results.ComparedDesign) *document.Table {
	t := &document.Table{Title: d.Label(), Corner: "guarantee", Columns: document.Words("change", "base", "new", "equals differ so")}
	for i := range d.Cells {
		g := &d.Cells[i]
		name := g.Cell.String()
		if g.Claimed {
			name += "*"
		}
		t.Rows = append(t.Rows, document.Row{Name: name, Cells: []document.Value{{Text: g.Change}, {Text: words(g.Was)}, {Text: words(g.Is)}, {Text: chance(g.Chance)}}})
	}
	return t
}

// words describes the runs of a side, with the claim.
func words(s checker.Runs) string {
	if s.Claimed {
		return s.String() + ", claimed"
	}
	return s.String()
}

// chance formats a probability; 1 is a dash, since the sides do not differ.
func chance(p float64) string {
	switch {
	case p >= 1:
		return "–"
	case p < 0.001:
		return "<0.1%"
	}
	return fmt.Sprintf("%.2g%%", 100*p)
}

// shown returns the evidence for the changed cells.
func shown(c *results.Comparison) document.Block {
	section := &document.Section{ID: "shown", Title: "What shows it", Media: document.Page}
	changed, _ := changed(c)
	g := &gallery{}
	for i := range changed {
		if f := changed[i].design.Shown(changed[i].Cell); f != nil {
			j := judgement{cell: changed[i].Cell, Finding: *f}
			evidence := &document.Section{ID: changed[i].link(i), Role: document.Evidence, Title: j.cell.String() + ", " + j.cell.Under.Title(),
				Says: j.text(), Tone: findingTone(&j.Finding)}
			if g.shows(f) == nil {
				g.drawn = append(g.drawn, picture{evidence.ID, j.cell.String(), *f})
			}
			evidence.Blocks = append(g.counterexample(evidence.ID, &j, ""), document.Only(document.Page, line("Promise: "+j.cell.Guarantee.Info().Promise+".")))
			section.Blocks = append(section.Blocks, evidence)
		}
	}
	return section
}

func limitList(c *results.Comparison) *document.List {
	l := &document.List{Title: "limits"}
	for _, o := range c.Limits {
		item := document.Item{Word: o.Outcome, Text: limitOutcomeString(o)}
		switch o.Outcome {
		case results.LimitKept:
			item.Tone = document.Good
		case results.LimitPassed:
			item.Tone, item.Word = document.Bad, "PASSED"
		default:
			item.Tone = document.Weak
		}
		l.Items = append(l.Items, item)
	}
	return l
}

// limitOutcomeString describes a limit and its outcome.
func limitOutcomeString(l results.LimitOutcome) string {
	return fmt.Sprintf("%s: %s worse by %.3g%% at most: %s", l.Design, l.Metric, 100*l.Share, l.Why)
}

// comparedDesignFigures returns the table of a design.
func comparedDesignFigures(d *results.ComparedDesign, i int) document.Block {
	t := &document.Table{Title: d.Label(), Corner: "figure", Columns: []document.Column{
		{Name: "base", Number: true, Apart: true}, {Name: "new", Number: true, Apart: true}, {Name: "change", Number: true, Apart: true},
		{Name: "between", Number: true, Apart: true}, {Name: "p", Number: true, Apart: true},
	}}
	for j := range d.Metrics {
		t.Rows = append(t.Rows, row(d, &d.Metrics[j]))
	}
	section := &document.Section{ID: fmt.Sprintf("design-%d", i+1), Role: document.Subject, PageTitle: d.Label()}
	if len(t.Rows) > 0 {
		section.Blocks = []document.Block{t, document.Only(document.Page, line(fmt.Sprintf(
			"Medians of %d and %d runs. A dot is a run of base, a diamond one of new; the band is the 95%% interval of the median, the stroke the median.", d.BaseRuns, d.NewRuns)))}
	}
	return section
}

// row returns the row of a figure.
func row(d *results.ComparedDesign, m *results.MetricChange) document.Row {
	row := document.Row{Name: m.Metric, About: m.Better + " is better", Cells: []document.Value{{Text: "-"}, {Text: "-"}, {Text: "-"}, {}, {}}}
	if m.Base == nil {
		return row
	}
	change := document.Value{Text: results.Percent(*m.Ratio), Aside: m.Change, Tone: changeTone(m.Change), Dots: dots(d, m)}
	switch m.Change {
	case results.MetricTooFew:
		change = document.Value{Text: "?", Note: "too few runs", Dots: change.Dots}
	case results.MetricSame:
		change = document.Value{Text: "~", Note: "no difference seen", Dots: change.Dots}
	default:
		change.Sign = changeSigns[m.Change]
	}
	row.Cells[0] = document.Value{Text: m.Unit.Format(m.Base.Median), Aside: spread(m.Base)}
	row.Cells[1] = document.Value{Text: m.Unit.Format(m.New.Median), Aside: spread(m.New)}
	row.Cells[2] = change
	if m.Change == results.MetricTooFew {
		return row
	}
	if m.RatioLow != nil {
		row.Cells[3].Text = results.Percent(*m.RatioLow) + " " + results.Percent(*m.RatioHigh)
	}
	row.Cells[4].Text = fmt.Sprintf("%.3f", *m.PAdjusted)
	if *m.PAdjusted < 0.0005 {
		row.Cells[4].Text = "<0.001"
	}
	return row
}

// dots returns the values of a figure in all runs; nil if a side has none.
func dots(d *results.ComparedDesign, m *results.MetricChange) *document.Dots {
	base, changed := d.Samples(m.Metric)
	if len(base) == 0 || len(changed) == 0 || m.Base == nil || m.New == nil {
		return nil
	}
	low, high := min(slices.Min(base), slices.Min(changed)), max(slices.Max(base), slices.Max(changed))
	share := func(v float64) float64 {
		if high == low {
			return 0.5
		}
		return (v - low) / (high - low)
	}
	dots := &document.Dots{Low: m.Unit.Format(low), High: m.Unit.Format(high), Says: m.Metric}
	for _, side := range []struct {
		name   string
		values []float64
		*results.Center
	}{{"base", base, m.Base}, {"new", changed, m.New}} {
		row := document.Side{Name: side.name, Median: share(side.Median)}
		for _, v := range side.values {
			row.Values = append(row.Values, share(v))
		}
		if side.Low != nil && side.High != nil {
			row.From, row.To, row.Known = share(max(low, *side.Low)), share(min(high, *side.High)), true
		}
		dots.Sides = append(dots.Sides, row)
		dots.Says += fmt.Sprintf("; %s: %d runs from %s to %s, median %s", side.name, len(side.values),
			m.Unit.Format(slices.Min(side.values)), m.Unit.Format(slices.Max(side.values)), m.Unit.Format(side.Median))
	}
	return dots
}

// spread returns the distance of the confidence interval's ends from the median, in benchstat's
// form.
func spread(c *results.Center) string {
	if c.Low == nil || c.Median == 0 {
		return "±∞"
	}
	return fmt.Sprintf("±%.0f%%", 100*max(*c.High/c.Median-1, 1-*c.Low/c.Median))
}

// comparisonExplanation returns notes that explain the figures.
func comparisonExplanation(c *results.Comparison) []string {
	within := ""
	if slices.ContainsFunc(c.Designs, func(d results.ComparedDesign) bool { return d.Blocks > 1 }) {
		within = " among neighbouring runs"
	}
	return []string{
		"medians with their 95% interval; ~ no difference seen, ? too few runs to see one",
		"between: 95% interval of the change, of each figure by itself",
		fmt.Sprintf("p: Mann-Whitney%s, corrected for the %s (Holm): equals differ anywhere in %.0f%% of comparisons at most", within, figures.Plural(int64(c.Tests), "figure"), 100*c.Alpha),
	}
}

// comparisonOutcome returns the outcome in words.
func comparisonOutcome(c *results.Comparison) (headline, why string) {
	switch c.Exit {
	case results.BrokenClaim:
		n := c.ClaimsWorse()
		changed, _ := changed(c)
		var names []string
		for _, g := range changed {
			if g.word == "WORSE" && !slices.Contains(names, g.Cell.String()) {
				names = append(names, g.Cell.String())
			}
		}
		return "Worse", fmt.Sprintf("%s that %s claimed: %s", figures.Plural(int64(n), "cell"), isAre(n), strings.Join(names, ", "))
	case results.FailedThreshold:
		return failedComparison(c)
	case results.Inconclusive:
		return "Inconclusive", strings.Join(c.Open, "; ")
	}
	return "No claim is worse", tally(c)
}

// failedComparison returns the outcome if no claim is worse, but a requested limit or strength
// failed.
func failedComparison(c *results.Comparison) (headline, why string) {
	slower := slices.ContainsFunc(c.Limits, func(l results.LimitOutcome) bool { return l.Outcome == results.LimitPassed })
	if !c.FailedWeaker {
		return "Slower than allowed", "a limit is passed"
	}
	why = fmt.Sprintf("claims that were held on fewer occasions than enough: %d", len(c.StrengthLosses()))
	if slower {
		why += "; a limit is passed, too"
	}
	return "Weaker than before", why
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// tally returns a phrase with the number of figures by their change.
func tally(c *results.Comparison) string {
	counts := make(map[string]int64)
	for _, d := range c.Designs {
		for _, m := range d.Metrics {
			counts[m.Change]++
		}
	}
	var parts []string
	for _, change := range []string{results.MetricWorse, results.MetricBetter, results.MetricTooFew, results.MetricUnmeasured} {
		if n := counts[change]; n > 0 {
			parts = append(parts, figures.Plural(n, "figure")+" "+change)
		}
	}
	switch {
	case len(parts) == 0 && c.Tests == 0:
		return "no speed was measured"
	case len(parts) == 0:
		return "no difference in speed seen"
	}
	return strings.Join(parts, ", ")
}
