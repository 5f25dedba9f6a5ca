package terminal

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/reports/internal/document"
)

// wordColumns is how many characters a table of words takes at most.
const wordColumns = 80

// numberColumns is how many characters the notes of a table of numbers take at most.
const numberColumns = 100

// An abridged table has less than it could have of what there is no room for.
type abridged struct{ heads, texts, names bool }

// abridgements are tried in this order.
var abridgements = []abridged{{}, {heads: true}, {heads: true, texts: true}, {heads: true, names: true}, {true, true, true}}

// tableText is a table as a terminal shows it: which of its columns and texts, and the widths.
type tableText struct {
	*document.Table
	abridged
	columns []int // those shown, by their index
}

// table writes a table. Where it is too wide, spare columns go first; then heads take two
// lines, texts and names become shorter, and at last it is drawn in parts. No line is broken.
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
	for _, line := range wrapped(t.Notes, ";", room) {
		p.line(indent, p.tone(document.None, line))
	}
}

// fit writes the rows so that they fit into width, where it is limited.
func (p *page) fit(t *document.Table, width, indent int, limited bool) {
	text := tableText{Table: t}
	for i := range t.Columns {
		text.columns = append(text.columns, i)
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

// leastMissed is the place of the column to leave out next, -1 for none.
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

// headsOf are the two lines over a column, the first of which may be empty.
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

// same reports whether all cells of a row say one thing, which is then said once.
func same(r *document.Row) bool {
	for i := range r.Cells {
		if r.Cells[i].Text != r.Cells[0].Text || r.Cells[i].Aside != "" {
			return false
		}
	}
	return len(r.Cells) > 1
}

// gap is how far a column stands from the one before it.
func (t *tableText) gap(c *document.Column) int {
	switch {
	case !c.Number || c.Apart:
		return 2
	}
	return 1
}

// A width is that of a column: of the texts, and of what goes with them.
type width struct{ all, text int }

func (t *tableText) widths() (first int, columns []width) {
	first = letters(t.Corner)
	for i := range t.Rows {
		first = max(first, letters(t.name(&t.Rows[i])))
	}
	for _, at := range t.columns {
		c := &t.Columns[at]
		above, head := t.headsOf(c)
		text, aside := 0, 0
		for i := range t.Rows {
			if r := &t.Rows[i]; c.Number || t.Wide || !same(r) {
				text = max(text, letters(t.text(&r.Cells[at])))
				aside = max(aside, letters(r.Cells[at].Aside))
			}
		}
		w := width{all: text, text: text}
		if aside > 0 {
			w.all += 1 + aside
		}
		w.all = max(w.all, letters(above), letters(head))
		if aside == 0 {
			w.text = w.all
		}
		columns = append(columns, w)
	}
	return first, columns
}

func (t *tableText) width() int {
	all, columns := t.widths()
	for i, w := range columns {
		all += t.gap(&t.Columns[t.columns[i]]) + w.all
	}
	return all
}

func (t *tableText) write(p *page, indent int) {
	first, widths := t.widths()
	above, head := strings.Repeat(" ", first), pad(t.Corner, first, false)
	for i, w := range widths {
		c := &t.Columns[t.columns[i]]
		upper, lower := t.headsOf(c)
		gap := strings.Repeat(" ", t.gap(c))
		above += gap + pad(upper, w.all, c.Number)
		head += gap + pad(lower, w.all, c.Number)
	}
	if strings.TrimSpace(above) != "" {
		p.line(indent, above)
	}
	if t.Wide {
		p.line(indent, p.tone(document.None, strings.TrimRight(head, " ")))
	} else {
		p.line(indent, head)
		p.line(indent, strings.Repeat("─", letters(head)))
	}
	for i := range t.Rows {
		p.line(indent, t.row(p, &t.Rows[i], first, widths))
	}
}

func (t *tableText) row(p *page, r *document.Row, first int, widths []width) string {
	line := pad(t.name(r), first, false)
	for i, w := range widths {
		at := t.columns[i]
		c, v := &t.Columns[at], &r.Cells[at]
		text := t.text(v)
		if !c.Number && !t.Wide && same(r) {
			return line + "  " + p.tone(v.Tone, text)
		}
		cell := pad(text, w.text, c.Number)
		if v.Aside != "" {
			cell += " " + p.tone(v.Tone, v.Aside)
		} else if text != "" {
			cell = strings.Replace(cell, text, p.tone(v.Tone, text), 1)
		}
		line += strings.Repeat(" ", t.gap(c)) + cell + strings.Repeat(" ", w.all-w.text-after(v.Aside, w))
	}
	return line
}

// after is how much an aside takes of a column.
func after(aside string, w width) int {
	if aside == "" {
		return 0
	}
	return 1 + letters(aside)
}

func pad(s string, width int, right bool) string {
	gap := strings.Repeat(" ", max(0, width-letters(s)))
	if right {
		return gap + s
	}
	return s + gap
}

// wrapped puts parts on lines of so many characters at most.
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
