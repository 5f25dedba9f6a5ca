package document

import (
	"cmp"
	"slices"
)

// A Timeline is a drawing of a counterexample: a lane per client over one axis, of time in ns
// or of steps. lanes.js reads its JSON.
type Timeline struct {
	// ID identifies the drawing on its page; Title and About describe it in a file of its
	// own.
	ID    string `json:"-"`
	Name  string `json:"-"` // of its file
	Title string `json:"-"`
	About string `json:"-"`
	// Key is the locked key, Margin the size of the breach; empty if unknown.
	Key, Margin string `json:"-"`

	Steps    bool      `json:"steps,omitempty"`
	Lanes    []Lane    `json:"lanes"`
	Overlaps []Overlap `json:"overlaps,omitempty"`
	// Entries are the same events in words, in order; More counts those left out.
	Entries []Entry `json:"-"`
	More    int     `json:"-"`
}

// A Lane has the actions of one client.
type Lane struct {
	Name  string `json:"name"`
	Bars  []Bar  `json:"bars,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
}

// The kinds of bars.
const (
	Waiting  = "waiting"  // for the lock
	Within   = "within"   // the lease
	Past     = "past"     // the lease
	Believes = "believes" // that it holds the lock
)

// A Bar is a period of time.
type Bar struct {
	Kind string `json:"kind"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Says string `json:"says"`
}

// A Mark is a command that was called at At and answered at To. Without an answer To equals At.
type Mark struct {
	Sign string `json:"sign"`
	At   int64  `json:"at"`
	To   int64  `json:"to"`
	Says string `json:"says"`
	Bad  bool   `json:"bad,omitempty"`
}

// An Overlap is the time in which two clients held one key: within both leases, or past the
// end of one.
type Overlap struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Within bool   `json:"within"`
	Says   string `json:"says"`
	Lanes  [2]int `json:"lanes"`
}

// An Entry is an event in words, at a stamp in ns.
type Entry struct {
	At    int64
	Lane  string
	Words string
}

// Lane returns the index of the lane with this name, which it creates if necessary.
func (t *Timeline) Lane(name string) int {
	i := slices.IndexFunc(t.Lanes, func(l Lane) bool { return l.Name == name })
	if i < 0 {
		i = len(t.Lanes)
		t.Lanes = append(t.Lanes, Lane{Name: name})
	}
	return i
}

// Sort sorts marks and entries by time.
func (t *Timeline) Sort() {
	for i := range t.Lanes {
		slices.SortStableFunc(t.Lanes[i].Marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	}
	slices.SortStableFunc(t.Entries, func(a, b Entry) int { return cmp.Compare(a.At, b.At) })
}

// Drawable reports whether t has anything to draw.
func (t *Timeline) Drawable() bool {
	return slices.ContainsFunc(t.Lanes, func(l Lane) bool { return len(l.Bars)+len(l.Marks) > 0 })
}
