package html

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/reports"
)

// A picture is what the page draws of a violation: a lane per client over one axis, of
// time in ns or of steps.
type picture struct {
	Steps    bool      `json:"steps,omitempty"`
	Lanes    []lane    `json:"lanes"`
	Overlaps []overlap `json:"overlaps,omitempty"`
}

type lane struct {
	Name  string `json:"name"`
	Bars  []bar  `json:"bars,omitempty"`
	Marks []mark `json:"marks,omitempty"`
}

// A bar is time spent: waiting for the lock, within the lease, past it, or believing to
// hold it.
type bar struct {
	Kind string `json:"kind"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Says string `json:"says"`
}

// A mark is a command: called at At, answered at To, which is At where it was not.
type mark struct {
	Sign string `json:"sign"`
	At   int64  `json:"at"`
	To   int64  `json:"to"`
	Says string `json:"says"`
	Bad  bool   `json:"bad,omitempty"`
}

// An overlap is time during which two clients held one key: within both leases, or past
// one's end.
type overlap struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Within bool   `json:"within"`
	Says   string `json:"says"`
	Lanes  [2]int `json:"lanes"`
}

// The kinds of bars.
const (
	waiting  = "waiting"
	within   = "within"
	past     = "past"
	believes = "believes"
)

func clientName(client int32) string { return fmt.Sprintf("client %d", client) }

// lane is the index of the lane of that name, which it makes.
func (p *picture) lane(name string) int {
	i := slices.IndexFunc(p.Lanes, func(l lane) bool { return l.Name == name })
	if i < 0 {
		i = len(p.Lanes)
		p.Lanes = append(p.Lanes, lane{Name: name})
	}
	return i
}

// counterexamplePicture draws the holds of a counterexample and the given ones of its operations; nil
// when there is nothing in them to draw.
func counterexamplePicture(w *reports.Counterexample, ops []reports.Op) *picture {
	p := &picture{}
	for i := range w.Holds {
		p.hold(w, &w.Holds[i])
	}
	for i := range ops {
		p.op(&ops[i])
	}
	if !slices.ContainsFunc(p.Lanes, func(l lane) bool { return len(l.Bars)+len(l.Marks) > 0 }) {
		return nil
	}
	for i := range w.Holds {
		for j := range w.Holds[:i] {
			p.overlap(w, &w.Holds[j], &w.Holds[i])
		}
	}
	for i := range p.Lanes {
		slices.SortStableFunc(p.Lanes[i].Marks, func(a, b mark) int { return cmp.Compare(a.At, b.At) })
	}
	return p
}

func (p *picture) hold(w *reports.Counterexample, h *reports.Hold) {
	l := &p.Lanes[p.lane(clientName(h.Client))]
	last := w.Active(h)
	if h.EndNS != nil && *h.EndNS > h.GrantedNS {
		l.Bars = append(l.Bars, bar{within, h.GrantedNS, *h.EndNS, heldSays(h)})
	}
	if !h.LeaseOver() {
		return
	}
	l.Marks = append(l.Marks, mark{Sign: "|", At: *h.UntilNS, To: *h.UntilNS, Says: clientName(h.Client) + ": the lease is over"})
	if from := max(*h.UntilNS, h.GrantedNS); last > from {
		l.Bars = append(l.Bars, bar{past, from, last,
			clientName(h.Client) + " works on past its lease for " + length(last-from)})
	}
}

func heldSays(h *reports.Hold) string {
	s := clientName(h.Client) + " holds the lock for " + length(*h.EndNS-h.GrantedNS) + ", ended by " + ended(h.EndedBy)
	if h.UntilNS != nil && !h.LeaseOver() {
		s += "; its lease had " + length(*h.UntilNS-*h.EndNS) + " to go"
	}
	return s
}

func ended(by string) string {
	if by == "validity" {
		return "the end of the lease"
	}
	return by
}

func (p *picture) op(o *reports.Op) {
	l := &p.Lanes[p.lane(clientName(o.Client))]
	at, words := o.Told()
	m := mark{Sign: sign(o), At: at, To: at, Says: clientName(o.Client) + ": " + words}
	m.Bad = o.Outcome == history.Unknown || o.Outcome == history.LossReported || o.Kind >= history.Lost
	if o.Kind == history.Acquire && o.Outcome == history.OK {
		if o.ReturnNS != nil && *o.ReturnNS > o.CallNS {
			l.Bars = append(l.Bars, bar{waiting, o.CallNS, *o.ReturnNS, acquiring(o)})
		}
	} else if o.ReturnNS != nil {
		m.To = *o.ReturnNS
	}
	l.Marks = append(l.Marks, m)
}

// acquiring reports how a grant came about.
func acquiring(o *reports.Op) string {
	s := clientName(o.Client) + " waits " + length(*o.ReturnNS-o.CallNS) + " for its grant"
	if o.Attempts > 1 {
		s += fmt.Sprintf(", in %d tries", o.Attempts)
	}
	return s
}

var signs = map[history.Kind]string{
	history.Acquire: "A", history.Release: "R", history.Extend: "E", history.Renew: "E",
	history.Read: "r", history.Write: "w", history.Lost: "L", history.Death: "†",
}

func sign(o *reports.Op) string {
	if o.Kind == history.Acquire && o.Outcome == history.OK {
		return "G"
	}
	if s := signs[o.Kind]; s != "" {
		return s
	}
	return "!"
}

func (p *picture) overlap(w *reports.Counterexample, a, b *reports.Hold) {
	if a.Client == b.Client {
		return
	}
	from := max(a.GrantedNS, b.GrantedNS)
	lanes := [2]int{p.lane(clientName(a.Client)), p.lane(clientName(b.Client))}
	both := clientName(a.Client) + " and " + clientName(b.Client)
	till := from
	if a.EndNS != nil && b.EndNS != nil && min(*a.EndNS, *b.EndNS) > from {
		till = min(*a.EndNS, *b.EndNS)
		p.Overlaps = append(p.Overlaps, overlap{from, till, true, both + " both hold the lock, within their leases, for " + length(till-from), lanes})
	}
	if last := min(w.Active(a), w.Active(b)); last > till {
		p.Overlaps = append(p.Overlaps, overlap{till, last, false, both + " are both at work, one of them past its lease, for " + length(last-till), lanes})
	}
}

// length renders a duration to the microsecond, or in full when it is shorter than ten.
func length(ns int64) string {
	d := time.Duration(ns)
	if d >= 10*time.Microsecond {
		d = d.Round(time.Microsecond)
	}
	return d.String()
}
