package terminal

import (
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/lockbench/lockbench/reports/internal/document"
)

// wordColumns is the largest width of a table of words, in characters.
const wordColumns = 80

// numberColumns is the largest width of the notes of a table of numbers, in characters.
const numberColumns = 100

// An abridged table uses the short form of its heads, texts or names.
type abridged struct{ heads, texts, names bool }

// abridgements are tried in this order.
var abridgements = []abridged{{}, {heads: true}, {heads: true, texts: true}, {heads: true, names: true}, {true, true, true}}

// tableText is a table on a terminal: the columns shown, and the texts in full or abridged.
type tableText struct {
	*document.Table
	abridged
	columns []int // the indexes of the columns shown
}

// table writes a table. If the table is too wide, it drops spare columns first, then breaks
// heads into two lines, shortens texts and names, and at last splits the table into parts. No
// line is broken.
func (p *page) table(t *document.Table, indent int) {
	width := p.width
	numbers := slices.ContainsFunc(t.Columns, func(c document.Column) bool { return c.Number })
	switch {
	case t.Wide:
		width = 0
	case !numbers && (width <= 0 || width > wordColumns):
		width = wordColumns
	}
	if t.Title != "" {
		p.line(indent, p.bold(t.Title))
	}
	if len(t.Rows) > 0 {
		p.fit(t, width-indent, indent, width > 0)
	}
	if len(t.Notes) == 0 {
		return
	}
	if len(t.Rows) > 0 {
		p.line(indent, "")
	}
	room := wordColumns - 1
	if numbers {
		room = numberColumns
	}
	if p.width > 0 {
		room = min(room, p.width-indent)
	}
	for _, line := range wrapped(t.Notes, ";", room) {
		p.prose(indent, 2, p.tone(document.None, line))
	}
}

// fit writes the rows within width, if limited.
func (p *page) fit(t *document.Table, width, indent int, limited bool) {
	text := tableText{Table: t}
	for i := range t.Columns {
		if !t.Columns[i].Length.Hides(p.brief) {
			text.columns = append(text.columns, i)
		}
	}
	for limited && text.width() > width {
		least := text.leastMissed()
		if least < 0 {
			break
		}
		text.columns = slices.Delete(text.columns, least, least+1)
	}
	for _, text.abridged = range abridgements {
		if !limited || text.width() <= width {
			text.write(p, indent)
			return
		}
	}
	for rest := text.columns; len(rest) > 0; {
		n := len(rest)
		for text.columns = rest; n > 1 && text.width() > width; text.columns = rest[:n] {
			n--
		}
		text.columns = rest[:n]
		text.write(p, indent)
		if rest = rest[n:]; len(rest) > 0 {
			p.line(0, "")
		}
	}
}

// leastMissed returns the index of the column to drop next, -1 for none.
func (t *tableText) leastMissed() int {
	found := -1
	for i, c := range t.columns {
		if spare := t.Columns[c].Spare; spare > 0 && (found < 0 || spare < t.Columns[t.columns[found]].Spare) {
			found = i
		}
	}
	return found
}

func (t *tableText) name(r *document.Row) string {
	if t.names && r.Short != "" {
		return r.Short
	}
	return r.Name
}

func (t *tableText) text(v *document.Value) string {
	if t.texts && v.Short != "" {
		return v.Short
	}
	return v.Text
}

// headsOf returns the two lines over a column; the first may be empty.
func (t *tableText) headsOf(c *document.Column) (above, head string) {
	if c.Above != "" || !t.heads {
		return c.Above, c.Name
	}
	at := strings.LastIndexAny(c.Name, " -")
	if at < 0 {
		return "", c.Name
	}
	return strings.TrimRight(c.Name[:at+1], " "), c.Name[at+1:]
}

// same reports whether all cells of a row have the same text, which is then written once.
func same(r *document.Row) bool {
	for i := range r.Cells {
		if r.Cells[i].Text != r.Cells[0].Text || r.Cells[i].Aside != "" {
			return false
		}
	}
	return len(r.Cells) > 1
}

// gap returns the space before a column.
func (t *tableText) gap(c *document.Column) string {
	if !c.Number || c.Apart {
		return "  "
	}
	return " "
}

// width returns the width of the table, which is the length of its longest line.
func (t *tableText) width() int {
	longest := 0
	for _, line := range t.lines(false) {
		longest = max(longest, letters(line))
	}
	return longest
}

func (t *tableText) write(p *page, indent int) {
	for _, line := range t.lines(p.palette) {
		p.line(indent, line)
	}
}

// lines draws the table.
func (t *tableText) lines(colours palette) []string {
	var text strings.Builder
	grid := t.grid(&text)
	for i := range t.Rows {
		r := &t.Rows[i]
		cells := []string{t.name(r)}
		for _, at := range t.columns {
			cell := ""
			if !t.once(r) {
				cell = t.gap(&t.Columns[at]) + t.cell(colours, r, at)
			}
			cells = append(cells, cell)
		}
		_ = grid.Append(cells) // a Builder never fails
	}
	_ = grid.Render()
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	heads := len(lines) - len(t.Rows)
	if t.Wide {
		for i := range heads {
			lines[i] = colours.tone(document.None, strings.TrimRight(lines[i], " "))
		}
	}
	for i := range t.Rows {
		if r := &t.Rows[i]; t.once(r) { // in the table, its text would widen the first column
			v := &r.Cells[t.columns[0]]
			lines[heads+i] = strings.TrimRight(lines[heads+i], " ")
			lines[heads+i] += strings.Repeat(" ", max(0, t.first()-letters(t.name(r)))) + "  " + colours.tone(v.Tone, t.text(v))
		}
	}
	return lines
}

// once reports whether all cells of the row have the same text, which is then written once.
func (t *tableText) once(r *document.Row) bool {
	number := func(at int) bool { return t.Columns[at].Number }
	return !t.Wide && same(r) && !slices.ContainsFunc(t.columns, number)
}

// first returns the width of the first column.
func (t *tableText) first() int {
	first := letters(t.Corner)
	for i := range t.Rows {
		first = max(first, letters(t.name(&t.Rows[i])))
	}
	return first
}

// cell returns the text of one place, with Aside padded to a column of its own if any text has
// one.
func (t *tableText) cell(colours palette, r *document.Row, at int) string {
	v := &r.Cells[at]
	text, aside := 0, 0
	for i := range t.Rows {
		text = max(text, letters(t.text(&t.Rows[i].Cells[at])))
		aside = max(aside, letters(t.Rows[i].Cells[at].Aside))
	}
	if aside == 0 {
		return colours.tone(v.Tone, t.text(v))
	}
	return pad(t.text(v), text, t.Columns[at].Number) + " " + colours.tone(v.Tone, v.Aside) + strings.Repeat(" ", aside-letters(v.Aside))
}

// grid returns a table with its heads, and without lines but the one under the heads.
func (t *tableText) grid(w io.Writer) *tablewriter.Table {
	align := tw.Alignment{tw.AlignLeft}
	above, heads, two := []string{""}, []string{t.Corner}, false
	for _, at := range t.columns {
		c := &t.Columns[at]
		upper, lower := t.headsOf(c)
		above, heads, two = append(above, t.gap(c)+upper), append(heads, t.gap(c)+lower), two || upper != ""
		if c.Number {
			align = append(align, tw.AlignRight)
		} else {
			align = append(align, tw.AlignLeft)
		}
	}
	if two {
		for i := range heads {
			heads[i] = above[i] + "\n" + heads[i]
		}
	}
	underline := tw.On
	if t.Wide {
		underline = tw.Off
	}
	none := tw.Padding{Overwrite: true}
	grid := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Settings: tw.Settings{
				Separators: tw.SeparatorsNone,
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: underline, ShowFooterLine: tw.Off},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithPadding(none),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	)
	grid.Header(heads)
	return grid
}

func pad(s string, width int, right bool) string {
	gap := strings.Repeat(" ", max(0, width-letters(s)))
	if right {
		return gap + s
	}
	return s + gap
}

// wrapped breaks parts into lines of a maximal width.
func wrapped(parts []string, separator string, width int) []string {
	lines := []string{""}
	for i, p := range parts {
		if i < len(parts)-1 {
			p += separator
		}
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = p
		case letters(*last)+1+letters(p) > width:
			lines = append(lines, p)
		default:
			*last += " " + p
		}
	}
	return lines
}
