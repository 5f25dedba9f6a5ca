package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench"
)

// A Tone is how a cell of a table is coloured. The text says the same without it.
type Tone uint8

// The tones.
const (
	Plain Tone = iota
	Good
	Bad  // fails the run
	Weak // not enough, or not claimed
	None // says nothing
)

// String returns the name of the tone, as pages use it.
func (t Tone) String() string { return [...]string{"plain", "good", "bad", "weak", "none"}[t] }

// A Table is a part of a report, for each renderer to draw: names down, columns across.
type Table struct {
	Title   string
	Corner  string // the head of the first column
	Columns []string
	Rows    []TableRow
	// Notes say how to read it, a sentence each.
	Notes []string
}

// A TableRow is one line of a table.
type TableRow struct {
	Name string
	// Short stands for Name where there is no room.
	Short string
	Cells []TableCell // one for each column
}

// A TableCell is what stands in one place.
type TableCell struct {
	Text string
	// Short stands for Text where there is no room.
	Short string
	Tone  Tone
	// Note says more, for renderers that can show it aside.
	Note string
	// About is the cell whose evidence shows it; zero for none.
	About lockbench.Cell
}

// tableColumns is how many characters of a terminal a table takes at most.
const tableColumns = 80

// An abridged table has less than it could have of what there is no room for.
type abridged struct{ heads, texts, names bool }

// abridgements are tried in this order.
var abridgements = []abridged{{}, {heads: true}, {heads: true, texts: true}, {heads: true, names: true}, {true, true, true}}

// terminalText is a table as a terminal shows it: which of its texts, and the widths.
type terminalText struct {
	*Table
	abridged
	from, to int // columns
}

func (t *terminalText) name(r *TableRow) string {
	if t.abridged.names && r.Short != "" {
		return r.Short
	}
	return r.Name
}

func (t *terminalText) text(c *TableCell) string {
	if t.texts && c.Short != "" {
		return c.Short
	}
	return c.Text
}

// headsOf are the two lines over a column, the first of which may be empty.
func (t *terminalText) headsOf(column int) (above, head string) {
	name := t.Columns[column]
	if !t.abridged.heads {
		return "", name
	}
	at := strings.LastIndexAny(name, " -")
	if at < 0 {
		return "", name
	}
	return strings.TrimRight(name[:at+1], " "), name[at+1:]
}

// same reports whether all cells of a row say one thing, which is then said once.
func (t *terminalText) same(r *TableRow) bool {
	for i := range r.Cells {
		if r.Cells[i].Text != r.Cells[0].Text {
			return false
		}
	}
	return len(r.Cells) > 1
}

func (t *terminalText) widths() (first int, columns []int) {
	first = utf8.RuneCountInString(t.Corner)
	for i := range t.Rows {
		first = max(first, utf8.RuneCountInString(t.name(&t.Rows[i])))
	}
	for c := t.from; c < t.to; c++ {
		above, head := t.headsOf(c)
		width := max(len(above), len(head))
		for i := range t.Rows {
			if r := &t.Rows[i]; !t.same(r) {
				width = max(width, utf8.RuneCountInString(t.text(&r.Cells[c])))
			}
		}
		columns = append(columns, width)
	}
	return first, columns
}

func (t *terminalText) width() int {
	width, columns := t.widths()
	for _, c := range columns {
		width += 2 + c
	}
	return width
}

// writeTable writes a table for a terminal. Where it is too wide, heads take two lines, texts
// and names become shorter, and at last it is drawn in parts. No line is broken.
func (p page) writeTable(t *Table, width int) {
	if width <= 0 || width > tableColumns {
		width = tableColumns
	}
	if t.Title != "" {
		p.printf("%s\n", p.bold(t.Title))
	}
	text := terminalText{Table: t, to: len(t.Columns)}
	for _, text.abridged = range abridgements {
		if text.width() <= width {
			text.write(p)
			p.tableNotes(t)
			return
		}
	}
	for text.from = 0; text.from < len(t.Columns); text.from = text.to {
		for text.to = len(t.Columns); text.width() > width && text.to > text.from+1; text.to-- {
		}
		if text.from > 0 {
			p.printf("\n")
		}
		text.write(p)
	}
	p.tableNotes(t)
}

func (p page) tableNotes(t *Table) {
	if len(t.Notes) == 0 {
		return
	}
	p.printf("\n")
	for _, line := range wrapped(t.Notes, ";", tableColumns-1) {
		p.printf("%s\n", p.dim(line))
	}
}

func (t *terminalText) write(p page) {
	first, widths := t.widths()
	above, head, length := strings.Repeat(" ", first), fmt.Sprintf("%-*s", first, t.Corner), first
	for i, w := range widths {
		upper, lower := t.headsOf(t.from + i)
		above += fmt.Sprintf("  %-*s", w, upper)
		head += fmt.Sprintf("  %-*s", w, lower)
		length += 2 + w
	}
	if above = strings.TrimRight(above, " "); above != "" {
		p.printf("%s\n", above)
	}
	p.printf("%s\n%s\n", strings.TrimRight(head, " "), strings.Repeat("─", length))
	for i := range t.Rows {
		p.printf("%s\n", t.line(p, &t.Rows[i], first, widths))
	}
}

func (t *terminalText) line(p page, r *TableRow, first int, widths []int) string {
	name := t.name(r)
	line, gap := name, first-utf8.RuneCountInString(name)
	for i, w := range widths {
		c := &r.Cells[t.from+i]
		text := t.text(c)
		if text != "" {
			line += strings.Repeat(" ", gap+2) + p.tone(c.Tone, text)
			gap = -2
		}
		if t.same(r) {
			break
		}
		gap += 2 + w - utf8.RuneCountInString(text)
	}
	return line
}

// tone colours a text.
func (p palette) tone(t Tone, text string) string {
	switch t {
	case Good:
		return p.good(text)
	case Bad:
		return p.bad(text)
	case Weak:
		return p.warn(text)
	case None:
		return p.dim(text)
	}
	return text
}

// markdownTable writes a table as GitHub's Markdown; what fails the run stands out.
func markdownTable(w io.Writer, t *Table) {
	if t.Title != "" {
		fmt.Fprintf(w, "**%s**\n\n", inline(t.Title))
	}
	fmt.Fprintf(w, "| %s |", inline(t.Corner))
	for _, c := range t.Columns {
		fmt.Fprintf(w, " %s |", inline(c))
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", len(t.Columns)))
	for i := range t.Rows {
		r := &t.Rows[i]
		fmt.Fprintf(w, "| %s |", inline(r.Name))
		for _, c := range r.Cells {
			text := inline(c.Text)
			if c.Tone == Bad {
				text = "**" + text + "**"
			}
			fmt.Fprintf(w, " %s |", text)
		}
		fmt.Fprintln(w)
	}
	if len(t.Notes) > 0 {
		fmt.Fprintf(w, "\n<sub>%s.</sub>\n", inline(strings.Join(t.Notes, "; ")))
	}
}
