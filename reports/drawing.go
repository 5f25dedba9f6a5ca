package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// maxTold is the largest number of operations or steps that a picture and its table show. The JSON
// result has all.
const maxTold = 400

// Timeline draws a counterexample by itself, as under the table of a run, without colour. It
// returns the first error of w.
func Timeline(w io.Writer, counterexample *checker.Counterexample) error {
	return writeBlocks(w, newTimeline(counterexample, ""))
}

// A drawing is a timeline under construction.
type drawing struct {
	*document.Timeline
	of *checker.Counterexample
}

// stamped reports whether a stamp is known and finite.
func stamped(ns int64) bool { return ns != history.NoStamp && ns != history.Never }

func clientName(client int32) string { return fmt.Sprintf("client %d", client) }

// newTimeline draws the holds and operations of a counterexample.
func newTimeline(w *checker.Counterexample, id string) *document.Timeline {
	d := drawing{&document.Timeline{ID: id, Key: w.Key}, w}
	ops := w.Ops
	if len(ops) > maxTold {
		ops, d.More = ops[:maxTold], len(ops)-maxTold
	}
	for i := range w.Holds {
		d.hold(&w.Holds[i])
	}
	for i := range ops {
		d.op(&ops[i])
	}
	if d.Drawable() {
		for i := range w.Holds {
			for j := range w.Holds[:i] {
				d.overlap(&w.Holds[j], &w.Holds[i])
			}
		}
	}
	d.Sort()
	return d.Timeline
}

// leaseOver reports whether a picture shows the end of h's lease: it does not if the owner gave the
// lock up before.
func leaseOver(h *checker.CounterexampleHold) bool {
	return stamped(h.Until) && (!stamped(h.End) || h.End >= h.Until || h.EndedBy == "validity")
}

// active returns the stamp of the last action of h's owner under h.
func active(w *checker.Counterexample, h *checker.CounterexampleHold) int64 {
	last := h.Granted
	if stamped(h.End) {
		last = max(last, h.End)
	}
	for _, op := range w.Ops {
		if op.Hold == h.Hold && op.Client == h.Client {
			last = max(last, op.Call)
		}
	}
	return last
}

// hold draws the time within the lease, its end, and the time after it.
func (d *drawing) hold(h *checker.CounterexampleHold) {
	name := clientName(h.Client)
	l := &d.Lanes[d.Lane(name)]
	last := active(d.of, h)
	if stamped(h.End) && h.End > h.Granted {
		l.Bars = append(l.Bars, document.Bar{Kind: document.Within, From: h.Granted, To: h.End, Says: heldSays(h)})
	} else if last > h.Granted && !leaseOver(h) {
		l.Bars = append(l.Bars, document.Bar{Kind: document.Within, From: h.Granted, To: last, Says: name + " holds the lock"})
	}
	if !leaseOver(h) || h.Until <= h.Granted && d.leaseNotTold(h) {
		return
	}
	until := h.Until
	if !stamped(h.End) && until > h.Granted {
		l.Bars = append(l.Bars, document.Bar{Kind: document.Within, From: h.Granted, To: until, Says: name + " holds the lock until its lease is over"})
	}
	l.Marks = append(l.Marks, document.Mark{Sign: "|", At: until, To: until, Says: name + ": the lease is over"})
	d.Entries = append(d.Entries, document.Entry{At: until, Lane: name, Words: "lease over"})
	if from := max(until, h.Granted); last > from {
		l.Bars = append(l.Bars, document.Bar{Kind: document.Past, From: from, To: last, Says: name + " works on past its lease for " + length(last-from)})
	}
}

// leaseNotTold reports whether the history does not record the lease of h.
func (d *drawing) leaseNotTold(h *checker.CounterexampleHold) bool {
	return slices.ContainsFunc(d.of.Ops, func(op history.Op) bool { return op.Hold == h.Hold && op.Granted == history.NotTold })
}

func heldSays(h *checker.CounterexampleHold) string {
	by := h.EndedBy
	if by == "validity" {
		by = "the end of the lease"
	}
	s := clientName(h.Client) + " holds the lock for " + length(h.End-h.Granted) + ", ended by " + by
	if stamped(h.Until) && !leaseOver(h) {
		s += "; its lease had " + length(h.Until-h.End) + " to go"
	}
	return s
}

// op draws an operation at the stamp that matters: a grant at its return, any other operation
// at its call.
func (d *drawing) op(o *history.Op) {
	name := clientName(o.Client)
	l := &d.Lanes[d.Lane(name)]
	at, sign, words := describeOp(o)
	m := document.Mark{Sign: sign, At: at, To: at, Says: name + ": " + words}
	m.Bad = o.Outcome == history.Unknown || o.Outcome == history.LossReported || o.Kind >= history.Lost
	switch {
	case !granted(o) && stamped(o.Return):
		m.To = o.Return
	case granted(o) && stamped(o.Return) && o.Return > o.Call:
		says := name + " waits " + length(o.Return-o.Call) + " for its grant"
		if o.Attempts > 1 {
			says += fmt.Sprintf(", in %d tries", o.Attempts)
		}
		l.Bars = append(l.Bars, document.Bar{Kind: document.Waiting, From: o.Call, To: o.Return, Says: says})
	}
	l.Marks = append(l.Marks, m)
	d.Entries = append(d.Entries, document.Entry{At: at, Lane: name, Words: words})
}

// overlap draws the time in which the owners of two holds both held the key.
func (d *drawing) overlap(a, b *checker.CounterexampleHold) {
	if a.Client == b.Client {
		return
	}
	from := max(a.Granted, b.Granted)
	lanes := [2]int{d.Lane(clientName(a.Client)), d.Lane(clientName(b.Client))}
	both := clientName(a.Client) + " and " + clientName(b.Client)
	till := from
	if stamped(a.End) && stamped(b.End) && min(a.End, b.End) > from {
		till = min(a.End, b.End)
		d.Overlaps = append(d.Overlaps, document.Overlap{From: from, To: till, Within: true, Lanes: lanes,
			Says: both + " both hold the lock, within their leases, for " + length(till-from)})
	}
	if last := min(active(d.of, a), active(d.of, b)); last > till {
		d.Overlaps = append(d.Overlaps, document.Overlap{From: till, To: last, Lanes: lanes,
			Says: both + " are both at work, one of them past its lease, for " + length(last-till)})
	}
}

func granted(o *history.Op) bool { return o.Kind == history.Acquire && o.Outcome == history.OK }

// describeOp returns the sign of an operation, its description in words, and the stamp at which it
// is drawn.
func describeOp(o *history.Op) (at int64, sign, words string) {
	at = o.Call
	switch o.Kind {
	case history.Acquire:
		if granted(o) {
			at, words = grant(o)
			return at, "G", words
		}
		return at, "A", "acquire" + answer(o)
	case history.Release:
		return at, "R", "release" + after(" keeping others out for ", o.Delay) + answer(o)
	case history.Extend, history.Renew:
		return at, "E", o.Kind.String() + after(" to ", o.Granted) + answer(o)
	case history.Read:
		return at, "r", fmt.Sprintf("read %d, version %d", o.Value, o.Version) + answer(o)
	case history.Write:
		return at, "w", fmt.Sprintf("write %d, version %d, decided on version %d", o.Value, o.Version, o.Base) + answer(o)
	case history.Lost:
		return at, "L", "told of the loss: Lost() closed"
	}
	sign = "!"
	if o.Kind == history.Death {
		sign = "†"
	}
	return at, sign, strings.TrimSpace(o.Kind.String() + " " + o.Note)
}

// grant describes a granted acquire.
func grant(o *history.Op) (at int64, words string) {
	words = "granted" + after(" a lease of ", o.Granted)
	if o.Granted == history.NotTold {
		words = "granted a lease that the history does not tell"
	}
	if !stamped(o.Return) {
		return o.Call, words
	}
	at = o.Return
	if stamped(o.Attempt) {
		words += ", valid from " + figures.Moment(o.Attempt)
	}
	words += after(", having waited ", at-o.Call)
	if o.Fence != 0 {
		words += fmt.Sprintf(", fence %d", o.Fence)
	}
	return at, words
}

// length formats a duration for pictures.
func length(ns int64) string { return strings.Replace(figures.Exact(ns), "us", "µs", 1) }

// after returns words followed by a duration, nothing for a zero duration.
func after(words string, ns int64) string {
	if ns == 0 {
		return ""
	}
	return words + figures.Exact(ns)
}

// answer returns the outcome of an operation, and how soon it came.
func answer(o *history.Op) string {
	if !stamped(o.Return) {
		return ": no answer"
	}
	s := ": answered " + o.Outcome.String()
	if o.Late {
		s += " (late)"
	}
	if o.Note != "" {
		s += " (" + o.Note + ")"
	}
	return s + after(" after ", o.Return-o.Call)
}

// stepsTimeline draws the steps of an explored schedule in order, with the clients that believe
// that they hold a key after each.
func stepsTimeline(steps []results.Step, id string) *document.Timeline {
	t := &document.Timeline{ID: id, Steps: true}
	if len(steps) > maxTold {
		steps = steps[:maxTold]
	}
	since := make(map[string]int)
	for i := range steps {
		t.Lanes[t.Lane(steps[i].Client)].Marks = append(t.Lanes[t.Lane(steps[i].Client)].Marks, mark(&steps[i], int64(i)))
	}
	for i := range len(steps) + 1 {
		var holders []string
		if i < len(steps) {
			holders = steps[i].Holders
		}
		for _, client := range slices.Sorted(maps.Keys(since)) {
			if !slices.Contains(holders, client) {
				l := &t.Lanes[t.Lane(client)]
				l.Bars = append(l.Bars, document.Bar{Kind: document.Believes, From: int64(since[client]), To: int64(i),
					Says: fmt.Sprintf("%s believes that it holds the lock, from step %d on", client, since[client]+1)})
				delete(since, client)
			}
		}
		for _, client := range holders {
			if _, known := since[client]; !known {
				since[client] = i
			}
		}
	}
	contested(t, steps)
	return t
}

// mark returns a step as the sign of its command, without the client's comment.
func mark(s *results.Step, at int64) document.Mark {
	m := document.Mark{At: at, To: at, Bad: s.Fault != "", Says: fmt.Sprintf("step %d, at %s, %s: %s", at+1, length(s.At), s.Client, s.Command)}
	if s.Reply != "" {
		m.Says += " → " + s.Reply
	}
	command := s.Command
	if _, after, found := strings.Cut(command, ": "); found {
		command = after
	}
	words := strings.Fields(command)
	if s.Fault != "" {
		m.Says += " (" + s.Fault + ")"
	}
	if m.Sign = "! " + s.Fault; len(words) > 0 && s.Fault == "" {
		m.Sign = strings.TrimSuffix(words[0], ",")
	}
	return m
}

// contested marks the steps after which more than one client believes that it holds the key.
func contested(t *document.Timeline, steps []results.Step) {
	for i := range steps {
		holders := steps[i].Holders
		if len(holders) < 2 {
			continue
		}
		o := document.Overlap{From: int64(i), To: int64(i + 1), Within: true, Says: strings.Join(holders, " and ") + " believe that they hold the lock",
			Lanes: [2]int{t.Lane(holders[0]), t.Lane(holders[1])}}
		if n := len(t.Overlaps); n > 0 && t.Overlaps[n-1].To == o.From && t.Overlaps[n-1].Says == o.Says {
			t.Overlaps[n-1].To = o.To
			continue
		}
		t.Overlaps = append(t.Overlaps, o)
	}
}
