package reports

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// column is one column of the table of runs.
type column struct {
	top, name string
	cell      func(*table, *Run) string
	// spare columns go first where the terminal is too narrow; zero stays.
	spare int
	// apart begins a group of columns.
	apart bool
}

// indent sets a column apart from the one before it.
func (c column) indent(text string) string {
	if c.apart {
		return " " + text
	}
	return text
}

// table is what the cells of one report have in common.
type table struct {
	palette
	result *Result
	label  label
}

// speedsAndVerdicts are the columns of the first table.
var speedsAndVerdicts = []column{
	{name: "design", cell: (*table).design},
	{name: "grants/s", cell: (*table).rate},
	{top: "acquire", name: "p50", cell: latency("acquire", p50), apart: true},
	{name: "p90", cell: latency("acquire", p90), spare: 1},
	{name: "p99", cell: latency("acquire", p99)},
	{name: "p99.9", cell: latency("acquire", p999), spare: 2},
	{name: "max", cell: latency("acquire", longest)},
	{top: "release", name: "p99", cell: latency("release", p99), spare: 5, apart: true},
	{top: "hand-", name: "off p50", cell: latency("handoff", p50), spare: 6},
	{name: "breaches", cell: (*table).breaches, apart: true},
	{top: "worst", name: "overlap", cell: (*table).overlap, spare: 7},
}

// What is picked of a latency.
func p50(l Latency) int64     { return l.P50 }
func p90(l Latency) int64     { return l.P90 }
func p99(l Latency) int64     { return l.P99 }
func p999(l Latency) int64    { return l.P999 }
func longest(l Latency) int64 { return l.Max }

func latency(op string, pick func(Latency) int64) func(*table, *Run) string {
	return func(_ *table, r *Run) string {
		l := r.Latency[op]
		return duration(l.Count, pick(l))
	}
}

func (t *table) design(r *Run) string {
	if r.Partial {
		return t.label.of(r) + " (partial)"
	}
	return t.label.of(r)
}

// slowServer marks speeds that are not the design's.
const slowServer = "~"

func (t *table) rate(r *Run) string {
	s := figure(r.GrantsPerS)
	if t.result.server(r).Kind == "embedded" && s != "-" {
		s = slowServer + s
	}
	return s
}

func (t *table) breaches(r *Run) string {
	switch n := r.Breaches; {
	case r.Counts.Ops == 0:
		return "-"
	case n == 0:
		return "0"
	default:
		return t.warn(number(n))
	}
}

func (t *table) overlap(r *Run) string {
	if r.WorstOverlap == 0 {
		return "-"
	}
	return compact(r.WorstOverlap)
}

// render draws columns of the table of runs; where width is positive and too small,
// it leaves out the figures that are missed least.
func (t *table) render(w io.Writer, columns []column, width int) error {
	shown := slices.Clone(columns)
	for {
		var buf bytes.Buffer
		if err := t.draw(&buf, shown); err != nil {
			return err
		}
		least := leastMissed(shown)
		if width <= 0 || longestLine(buf.String()) <= width || least < 0 {
			return writeTrimmed(w, buf.String())
		}
		shown = slices.Delete(shown, least, least+1)
	}
}

func writeTrimmed(w io.Writer, text string) error {
	for line := range strings.Lines(text) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// leastMissed is the index of the column to leave out next, -1 for none.
func leastMissed(shown []column) int {
	found := -1
	for i, c := range shown {
		if c.spare > 0 && (found < 0 || c.spare < shown[found].spare) {
			found = i
		}
	}
	return found
}

func (t *table) draw(w io.Writer, shown []column) error {
	header := make([]string, len(shown))
	for i, c := range shown {
		header[i] = c.indent(c.top) + "\n" + c.indent(c.name)
	}
	tab := plainTable(w, header)
	for i := range t.result.Runs {
		row := make([]string, len(shown))
		for j, c := range shown {
			row[j] = c.indent(c.cell(t, &t.result.Runs[i]))
		}
		if err := tab.Append(row); err != nil {
			return err
		}
	}
	return tab.Render()
}

// plainTable is a table with a line under its header and no others. The first column, and
// those named by left, are text, the others numbers.
func plainTable(w io.Writer, header []string, left ...int) *tablewriter.Table {
	align, padding := make(tw.Alignment, len(header)), make([]tw.Padding, len(header))
	for i := range header {
		align[i], padding[i] = tw.AlignRight, tw.Padding{Left: " ", Overwrite: true}
	}
	align[0], padding[0] = tw.AlignLeft, tw.PaddingNone
	for _, i := range left {
		align[i] = tw.AlignLeft
	}
	tab := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(plain)),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderPaddingPerColumn(padding),
		tablewriter.WithRowPaddingPerColumn(padding),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	)
	tab.Header(header)
	return tab
}

// plain is a table without lines but the one under its header.
var plain = tw.Rendition{
	Borders: tw.BorderNone,
	Settings: tw.Settings{
		Separators: tw.SeparatorsNone,
		Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
	},
}

// longestLine is the number of characters in the longest line, colours left out.
func longestLine(s string) int {
	longest := 0
	for line := range strings.Lines(s) {
		longest = max(longest, utf8.RuneCountInString(stripColour(strings.TrimRight(line, " \n"))))
	}
	return longest
}

func stripColour(s string) string {
	for {
		from := strings.Index(s, "\x1b[")
		if from < 0 {
			return s
		}
		length := strings.IndexByte(s[from:], 'm')
		if length < 0 {
			return s
		}
		s = s[:from] + s[from+length+1:]
	}
}
