package reports

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/history"
)

// A timeline draws a counterexample: one lane per client over one axis. The axis is not
// to scale, since a race of microseconds may follow a lease of seconds: the
// distance between two marks grows with the logarithm of the time between them.
type timeline struct {
	counterexample *Counterexample
	entries        []entry
	stamps         []int64 // distinct, rising; mark i+1 stands at column columns[i]
	columns        []int
	lanes          []int32 // clients, in the order in which they appear
}

// entry is one line under the lanes: something that happened at a stamp.
type entry struct {
	at     int64
	client int32
	mark   byte // 0: painted with its hold, or not at all
	text   string
}

const (
	axisWidth  = 84 // columns of the axis, at most
	maxEntries = 16 // entries shown; the JSON result has all
)

func newTimeline(w *Counterexample) *timeline {
	t := &timeline{counterexample: w}
	for i := range w.Ops {
		t.entries = append(t.entries, newEntry(&w.Ops[i]))
	}
	for i := range w.Holds {
		if h := &w.Holds[i]; h.leaseOver() {
			t.entries = append(t.entries, entry{*h.UntilNS, h.Client, 0, "lease over"})
		}
	}
	slices.SortStableFunc(t.entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	t.entries = t.entries[:min(maxEntries, len(t.entries))]
	t.place()
	return t
}

// place spreads the distinct stamps over the axis.
func (t *timeline) place() {
	for _, h := range t.counterexample.Holds {
		t.stamps = append(t.stamps, h.GrantedNS)
		t.addLane(h.Client)
	}
	for _, e := range t.entries {
		t.stamps = append(t.stamps, e.at)
		t.addLane(e.client)
	}
	slices.Sort(t.stamps)
	t.stamps = slices.Compact(t.stamps)
	gaps, total := make([]int, len(t.stamps)), 0
	for i := 1; i < len(t.stamps); i++ {
		us := float64(t.stamps[i]-t.stamps[i-1]) / 1e3
		gaps[i] = 3 + int(2.5*math.Log10(1+us))
		total += gaps[i]
	}
	column := 0
	for _, gap := range gaps {
		if total > axisWidth && gap > 3 {
			gap = max(3, gap*axisWidth/total)
		}
		column += gap
		t.columns = append(t.columns, column)
	}
}

func (t *timeline) addLane(client int32) {
	if !slices.Contains(t.lanes, client) {
		t.lanes = append(t.lanes, client)
	}
}

// column is where stamp at stands, or would stand if it had a mark.
func (t *timeline) column(at int64) int {
	i, found := slices.BinarySearch(t.stamps, at)
	switch {
	case found:
		return t.columns[i]
	case i == 0:
		return 0
	case i == len(t.stamps):
		return t.columns[i-1]
	}
	return (t.columns[i-1] + t.columns[i]) / 2
}

// leaseOver says whether the end of h's lease is part of the story: it is not
// once its owner has given the lock up.
func (h *Hold) leaseOver() bool {
	return h.UntilNS != nil && (h.EndNS == nil || *h.EndNS >= *h.UntilNS || h.EndedBy == "validity")
}

// active is how long the owner of h was seen to act under it.
func (w *Counterexample) active(h *Hold) int64 {
	last := h.GrantedNS
	if h.EndNS != nil {
		last = max(last, *h.EndNS)
	}
	for _, op := range w.Ops {
		if op.Hold == h.Hold && op.Client == h.Client {
			last = max(last, op.CallNS)
		}
	}
	return last
}

// write draws the axis, the lanes, the overlap and the entries.
func (t *timeline) write(w *bufio.Writer, p palette) {
	if len(t.stamps) == 0 {
		return
	}
	width := t.columns[len(t.columns)-1] + 3
	label := len("overlap")
	for _, client := range t.lanes {
		label = max(label, len(laneName(client)))
	}
	axis := blank(width)
	for i, column := range t.columns {
		copy(axis[column:], fmt.Sprint(i+1))
	}
	lane(w, label, "", axis)
	for _, client := range t.lanes {
		lane(w, label, laneName(client), t.paintLane(client, width))
	}
	if over := t.paintOverlap(width); over != nil {
		fmt.Fprintf(w, "      %-*s  %s\n", label, "overlap", p.bad(strings.TrimRight(string(over), " ")))
	}
	w.WriteString("\n")
	for _, e := range t.entries {
		i, _ := slices.BinarySearch(t.stamps, e.at)
		fmt.Fprintf(w, "    %3d  %13s  %-*s  %s\n", i+1, moment(e.at), label, laneName(e.client), e.text)
	}
	if n := len(t.counterexample.Ops); n > maxEntries {
		fmt.Fprintf(w, "         and more: %d operations in the JSON result\n", n)
	}
}

func lane(w *bufio.Writer, label int, name string, cells []byte) {
	fmt.Fprintf(w, "      %-*s  %s\n", label, name, strings.TrimRight(string(cells), " "))
}

func laneName(client int32) string { return fmt.Sprintf("client %d", client) }

func blank(width int) []byte {
	return []byte(strings.Repeat(" ", width))
}

func (t *timeline) paintLane(client int32, width int) []byte {
	cells := blank(width)
	for i := range t.counterexample.Holds {
		if h := &t.counterexample.Holds[i]; h.Client == client {
			t.paintHold(cells, h)
		}
	}
	for _, e := range t.entries {
		if e.client == client && e.mark != 0 {
			cells[t.column(e.at)] = e.mark
		}
	}
	return cells
}

// paintHold paints the time within the lease, its end, and what came after.
func (t *timeline) paintHold(cells []byte, h *Hold) {
	from, last := t.column(h.GrantedNS), t.column(t.counterexample.active(h))
	over := len(cells)
	if h.leaseOver() {
		over = t.column(*h.UntilNS)
		last = max(last, over)
	}
	for i := from; i <= last && i < len(cells); i++ {
		cells[i] = '='
		if i > over {
			cells[i] = '.'
		}
	}
	if over < len(cells) {
		cells[over] = '|'
	}
	cells[from] = '['
}

// paintOverlap marks where two clients held at once: '!' where both were within
// their lease, '~' past one's end. It is nil when there is no such time.
func (t *timeline) paintOverlap(width int) []byte {
	cells, any := blank(width), false
	holds := t.counterexample.Holds
	for i := range holds {
		for j := range holds[:i] {
			a, b := &holds[j], &holds[i]
			if a.Client == b.Client {
				continue
			}
			from := max(a.GrantedNS, b.GrantedNS)
			past := t.fill(cells, '~', from, min(t.counterexample.active(a), t.counterexample.active(b)))
			within := a.EndNS != nil && b.EndNS != nil && t.fill(cells, '!', from, min(*a.EndNS, *b.EndNS))
			any = any || past || within
		}
	}
	if !any {
		return nil
	}
	return cells
}

// fill paints from one stamp to another, if there is time between them.
func (t *timeline) fill(cells []byte, c byte, from, to int64) bool {
	if to <= from {
		return false
	}
	for i := t.column(from); i <= t.column(to); i++ {
		if cells[i] != '!' {
			cells[i] = c
		}
	}
	return true
}

// newEntry puts an operation in words, at the instant at which it mattered: a
// grant when the client knew of it, anything else when it was called.
func newEntry(o *Op) entry {
	e := entry{at: o.CallNS, client: o.Client}
	switch o.Kind {
	case history.Acquire:
		e.acquire(o)
	case history.Release:
		e.mark, e.text = 'R', "release"+after(" keeping others out for ", o.DelayNS)+answer(o)
	case history.Extend, history.Renew:
		e.mark, e.text = 'E', o.Kind.String()+after(" to ", o.GrantedNS)+answer(o)
	case history.Read:
		e.mark, e.text = 'r', fmt.Sprintf("read %d, version %d", o.Value, o.Version)+answer(o)
	case history.Write:
		e.mark, e.text = 'w', fmt.Sprintf("write %d, version %d, decided on version %d", o.Value, o.Version, o.Base)+answer(o)
	case history.Lost:
		e.mark, e.text = 'L', "told of the loss: Lost() closed"
	default:
		e.mark, e.text = '+', strings.TrimSpace(o.Kind.String()+" "+o.Note)
	}
	return e
}

func (e *entry) acquire(o *Op) {
	if o.Outcome != history.OK {
		e.mark, e.text = 'A', "acquire"+answer(o)
		return
	}
	e.mark, e.text = '[', "granted"+after(" a lease of ", o.GrantedNS)
	if o.ReturnNS == nil {
		return
	}
	e.at = *o.ReturnNS
	if o.AttemptNS != nil {
		e.text += ", valid from " + moment(*o.AttemptNS)
	}
	e.text += after(", having waited ", e.at-o.CallNS)
	if o.Fence != 0 {
		e.text += fmt.Sprintf(", fence %d", o.Fence)
	}
}

// after renders a duration behind words, nothing when it is zero.
func after(words string, ns int64) string {
	if ns == 0 {
		return ""
	}
	return words + exact(ns)
}

// answer reports what came back, and how soon.
func answer(o *Op) string {
	if o.ReturnNS == nil {
		return ": no answer"
	}
	s := ": answered " + o.Outcome.String()
	if o.Late {
		s += " (late)"
	}
	if o.Note != "" {
		s += " (" + o.Note + ")"
	}
	return s + after(" after ", *o.ReturnNS-o.CallNS)
}
