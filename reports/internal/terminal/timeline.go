package terminal

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/reports/internal/document"
)

// An axis maps stamps to columns. The mapping is not linear, since a race of microseconds may
// follow a lease of seconds: the distance between two marks grows with the logarithm of the
// time between them.
type axis struct {
	stamps  []int64 // distinct, rising; mark i+1 stands at column columns[i]
	columns []int
}

const (
	axisWidth  = 84 // columns of the axis, at most
	maxEntries = 16 // entries shown; the JSON result has all
)

// newAxis spreads the distinct stamps of entries over width columns.
func newAxis(entries []document.Entry, width int) *axis {
	a := &axis{}
	for _, e := range entries {
		a.stamps = append(a.stamps, e.At)
	}
	slices.Sort(a.stamps)
	a.stamps = slices.Compact(a.stamps)
	gaps, total := make([]int, len(a.stamps)), 0
	for i := 1; i < len(a.stamps); i++ {
		us := float64(a.stamps[i]-a.stamps[i-1]) / 1e3
		gaps[i] = 3 + int(2.5*math.Log10(1+us))
		total += gaps[i]
	}
	column := 0
	for _, gap := range gaps {
		if total > width && gap > 3 {
			gap = max(3, gap*width/total)
		}
		column += gap
		a.columns = append(a.columns, column)
	}
	return a
}

// column returns the column of stamp at, interpolated if at has no mark.
func (a *axis) column(at int64) int {
	i, found := slices.BinarySearch(a.stamps, at)
	switch {
	case found:
		return a.columns[i]
	case i == 0:
		return 0
	case i == len(a.stamps):
		return a.columns[i-1]
	}
	return (a.columns[i-1] + a.columns[i]) / 2
}

// timeline draws the axis, a lane per client, the overlap, then the entries in words.
func (p *page) timeline(t *document.Timeline, indent int) {
	entries := t.Entries[:min(maxEntries, len(t.Entries))]
	label := len("overlap")
	for i := range t.Lanes {
		label = max(label, letters(t.Lanes[i].Name))
	}
	width := axisWidth
	if p.width > 0 { // the labels, and the mark at the last stamp, need room beside the axis
		width = min(width, p.width-indent-label-8)
	}
	a := newAxis(entries, width)
	numbers := a.blank()
	for i, column := range a.columns {
		copy(numbers[column:], fmt.Sprint(i+1))
	}
	lane := func(name, cells string) { p.line(indent+2, pad(name, label, false)+"  "+cells) }
	lane("", string(numbers))
	for i := range t.Lanes {
		lane(t.Lanes[i].Name, a.paint(&t.Lanes[i]))
	}
	if over := a.overlaps(t.Overlaps); over != "" {
		lane("overlap", p.tone(document.Bad, strings.TrimRight(over, " ")))
	}
	p.line(0, "")
	for _, e := range entries {
		i, _ := slices.BinarySearch(a.stamps, e.At)
		at := fmt.Sprintf("%3d  %12.6fs  %s  ", i+1, float64(e.At)/1e9, pad(e.Lane, label, false))
		p.prose(indent, letters(at), at+e.Words)
	}
	if len(t.Entries) > maxEntries || t.More > 0 {
		p.line(indent, fmt.Sprintf("     and more: %d operations in the JSON result", len(t.Entries)+t.More))
	}
}

func (a *axis) blank() []byte {
	return []byte(strings.Repeat(" ", a.columns[len(a.columns)-1]+3))
}

// paint draws the time within leases, their ends, the time past them, and every command.
func (a *axis) paint(l *document.Lane) string {
	cells := a.blank()
	for _, drawn := range []struct {
		kind string
		sign byte
	}{{document.Within, '='}, {document.Past, '.'}} {
		for _, b := range l.Bars {
			if b.Kind == drawn.kind {
				a.fill(cells, drawn.sign, b.From, b.To)
			}
		}
	}
	for _, m := range l.Marks {
		sign := m.Sign[0]
		switch {
		case m.Sign == "G":
			sign = '['
		case len(m.Sign) > 1 || m.Sign == "!":
			sign = '+'
		}
		cells[a.column(m.At)] = sign
	}
	return string(cells)
}

// overlaps marks the times at which two clients held the key at once: '!' if both were within their
// lease, '~' past the end of one.
func (a *axis) overlaps(all []document.Overlap) string {
	if len(all) == 0 {
		return ""
	}
	cells := a.blank()
	for _, within := range []bool{false, true} {
		for _, o := range all {
			if o.Within == within {
				a.fill(cells, map[bool]byte{false: '~', true: '!'}[within], o.From, o.To)
			}
		}
	}
	return string(cells)
}

// fill paints from one stamp to another.
func (a *axis) fill(cells []byte, c byte, from, to int64) {
	for i := a.column(from); i <= a.column(to); i++ {
		cells[i] = c
	}
}
