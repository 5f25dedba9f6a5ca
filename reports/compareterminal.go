package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// TerminalComparison writes a comparison for people: what differs in the settings, the
// cells that changed, the limits, then the figures of each design, and the outcome in
// one sentence. It returns the first error of w.
func TerminalComparison(w io.Writer, c Comparison, opt TerminalOptions) error {
	t := &comparison{page: newPage(w, opt), Comparison: &c}
	t.heading()
	t.differences()
	t.guarantees()
	t.limits()
	for i := range c.Designs {
		if err := t.figures(&c.Designs[i]); err != nil {
			return err
		}
	}
	t.legend()
	t.outcome()
	return t.Flush()
}

// comparison is a comparison being written.
type comparison struct {
	page
	*Comparison
}

func (t *comparison) heading() {
	for i := range t.Designs {
		t.printf("%s\n", t.Designs[i].heading())
	}
	for _, side := range []struct {
		name string
		only []string
	}{{"BASE", t.BaseOnly}, {"NEW", t.NewOnly}} {
		if len(side.only) > 0 {
			t.printf("only in %s, not compared: %s\n", side.name, strings.Join(side.only, ", "))
		}
	}
}

// heading names the design and its runs.
func (d *ComparedDesign) heading() string {
	if d.BaseRuns == d.NewRuns {
		return fmt.Sprintf("%s, %s of each", d.label(), plural(int64(d.BaseRuns), "run"))
	}
	return fmt.Sprintf("%s, %s and %d", d.label(), plural(int64(d.BaseRuns), "run"), d.NewRuns)
}

func (t *comparison) differences() {
	if len(t.Differences)+len(t.Notes) > 0 {
		t.printf("\n")
	}
	for _, d := range t.Differences {
		word := "differs"
		if d.Bars {
			word = t.warn(word)
		}
		t.printf("%s %s\n", word, d)
	}
	for _, note := range t.Notes {
		t.printf("%s %s\n", t.warn("note"), note)
	}
}

// changeWords are how the changes of guarantees are called, in the order in which they are
// shown.
var changeWords = []struct {
	change, word string
	claimed      bool
}{
	{cellWorse, "WORSE", true},
	{cellWorse, "worse", false},
	{cellUnclear, "unclear", true},
	{cellUnclear, "unclear", false},
	{cellBetter, "better", true},
	{cellBetter, "better", false},
}

// changedCells calls show for those that changed, what fails first.
func (c *Comparison) changedCells(show func(word string, d *ComparedDesign, g *CellChange)) (same, broken int) {
	for _, w := range changeWords {
		for i := range c.Designs {
			for j := range c.Designs[i].Cells {
				if g := &c.Designs[i].Cells[j]; g.Change == w.change && g.Claimed == w.claimed {
					show(w.word, &c.Designs[i], g)
				}
			}
		}
	}
	for _, d := range c.Designs {
		for _, g := range d.Cells {
			switch {
			case g.Change == cellSame && g.Is.Broken > 0:
				broken++
			case g.Change == cellSame:
				same++
			}
		}
	}
	return same, broken
}

// unchanged says how many cells did not change.
func unchanged(same, broken int) string {
	if broken == 0 {
		return plural(int64(same), "cell") + " the same"
	}
	return fmt.Sprintf("%s the same, and %d still broken", plural(int64(same), "cell"), broken)
}

func (t *comparison) guarantees() {
	t.printf("\n%s\n", t.bold("guarantees"))
	same, broken := t.changedCells(func(word string, d *ComparedDesign, g *CellChange) {
		t.printf("  %s%s %s %s\n", t.paintChange(word), strings.Repeat(" ", len("unclear")-len(word)), d.label(), g)
	})
	t.printf("  %s\n", unchanged(same, broken))
}

func (t *comparison) paintChange(word string) string {
	switch word {
	case "WORSE":
		return t.bad(word)
	case metricBetter:
		return t.good(word)
	}
	return t.warn(word)
}

func (t *comparison) limits() {
	if len(t.Limits) > 0 {
		t.printf("\n%s\n", t.bold("limits"))
	}
	for _, l := range t.Limits {
		word := map[string]string{limitKept: t.good("kept"), limitPassed: t.bad("PASSED"), limitOpen: t.warn("open")}[l.Outcome]
		t.printf("  %s %s\n", word, l)
	}
}

// String says what the limit was, and what became of it.
func (l LimitOutcome) String() string {
	return fmt.Sprintf("%s: %s worse by %.3g%% at most: %s", l.Design, l.Metric, 100*l.Share, l.Why)
}

// figureHeads are the heads of the columns of cells.
var figureHeads = []string{"figure", "base", "", "new", "", "change", "", "between", "p"}

// apart are the columns that a wider gap sets apart from the one before them.
var apart = []int{1, 3, 5, 7, 8}

// setApart widens those gaps.
func setApart(cells []string) []string {
	cells = slices.Clone(cells)
	for _, i := range apart {
		cells[i] = " " + cells[i]
	}
	return cells
}

// figures writes the table of a design.
func (t *comparison) figures(d *ComparedDesign) error {
	if len(d.Metrics) == 0 {
		return nil
	}
	t.printf("\n%s\n", t.bold(d.label()))
	var text strings.Builder
	tab := plainTable(&text, setApart(figureHeads), wordCell)
	for i := range d.Metrics {
		cells := d.Metrics[i].cells()
		if word := cells[wordCell]; word != "" {
			cells[wordCell] = t.paintChange(word)
		}
		if err := tab.Append(setApart(cells)); err != nil {
			return err
		}
	}
	if err := tab.Render(); err != nil {
		return err
	}
	return writeTrimmed(t.Writer, text.String())
}

// wordCell is the index of the cell that says better or worse.
const wordCell = 6

// cells are what a table shows of a figure.
func (m *MetricChange) cells() []string {
	cells := []string{m.Metric, "-", "", "-", "", "-", "", "", ""}
	if m.Base == nil {
		return cells
	}
	cells[1], cells[2] = m.Unit.Format(m.Base.Median), m.Base.spread()
	cells[3], cells[4] = m.Unit.Format(m.New.Median), m.New.spread()
	switch m.Change {
	case metricTooFew:
		cells[5] = "?"
		return cells
	case metricSame:
		cells[5] = "~"
	default:
		cells[5], cells[wordCell] = percent(*m.Ratio), m.Change
	}
	if m.RatioLow != nil {
		cells[7] = percent(*m.RatioLow) + " " + percent(*m.RatioHigh)
	}
	cells[8] = fmt.Sprintf("%.3f", *m.PAdjusted)
	if *m.PAdjusted < 0.0005 {
		cells[8] = "<0.001"
	}
	return cells
}

// spread is how far the confidence interval reaches from the median, as benchstat has it.
func (c *Center) spread() string {
	if c.Low == nil || c.Median == 0 {
		return "±∞"
	}
	return fmt.Sprintf("±%.0f%%", 100*max(*c.High/c.Median-1, 1-*c.Low/c.Median))
}

func (t *comparison) legend() {
	if t.Tests == 0 {
		return
	}
	t.printf("\n")
	for _, line := range t.explanation() {
		t.printf("%s\n", t.dim(line))
	}
}

// explanation says how to read the figures.
func (c *Comparison) explanation() []string {
	within := ""
	if slices.ContainsFunc(c.Designs, func(d ComparedDesign) bool { return d.Blocks > 1 }) {
		within = " among neighbouring runs"
	}
	return []string{
		"medians with their 95% interval; ~ no difference seen, ? too few runs to see one;",
		"between: 95% interval of the change, of each figure by itself;",
		fmt.Sprintf("p: Mann-Whitney%s, corrected for the %s (Holm): equals differ anywhere in %.0f%% of comparisons at most", within, plural(int64(c.Tests), "figure"), 100*c.Alpha),
	}
}

func (t *comparison) outcome() {
	verdict, why := t.sentence()
	paint := map[int]func(string) string{Passed: t.good, Inconclusive: t.warn}[t.Exit]
	if paint == nil {
		paint = t.bad
	}
	t.printf("\n%s%s (exit %d)\n", paint(verdict), why, t.Exit)
	if t.Exit != Inconclusive {
		return
	}
	for _, reason := range t.Open {
		t.printf("  %s\n", reason)
	}
	if t.SpeedsBarred {
		t.printf("hint: --force compares them all the same\n")
	}
}

// sentence is the outcome in words.
func (c *Comparison) sentence() (verdict, why string) {
	switch c.Exit {
	case BrokenClaim:
		n := c.claimsWorse()
		return "Worse", fmt.Sprintf(": %s that %s claimed", plural(int64(n), "cell"), isAre(n))
	case FailedThreshold:
		return "Slower than allowed", ": a limit is passed"
	case Inconclusive:
		return "Inconclusive", ""
	}
	return "No claim is worse", "; " + c.tally()
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// tally counts the figures by what became of them.
func (c *Comparison) tally() string {
	counts := make(map[string]int64)
	for _, d := range c.Designs {
		for _, m := range d.Metrics {
			counts[m.Change]++
		}
	}
	var parts []string
	for _, change := range []string{metricWorse, metricBetter, metricTooFew, metricUnmeasured} {
		if n := counts[change]; n > 0 {
			parts = append(parts, plural(n, "figure")+" "+change)
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
