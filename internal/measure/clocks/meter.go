package clocks

import "math"

// A Reading reads the clocks of a machine, in ns: CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, and
// CLOCK_MONOTONIC again.
type Reading struct{ Before, Raw, Boot, After int64 }

// A Window bounds how much CLOCK_MONOTONIC_RAW is ahead of CLOCK_MONOTONIC, in ns, whenever the latter shows From
// to Until.
type Window struct{ From, Until, Least, Largest int64 }

// A window is as long as windowLength, in ns, at most, and wider than the bounds of each two successive readings
// by windowSlack at most.
const (
	windowLength = 100e6
	windowSlack  = 50e3
)

// A Meter makes windows of readings. It is not safe for concurrent use.
type Meter struct {
	window    Window
	last      Reading
	begun     bool
	raw, boot consistency
	Changed   bool // a reading has shown that the machine was suspended or a clock was changed
}

// Add adds the next reading, and calls f for the window that it completes, if any. It ignores readings from the
// first one on that shows a change: nothing is known any more.
func (m *Meter) Add(r Reading, f func(Window)) {
	switch {
	case m.Changed:
		return
	case !m.begun:
		m.begun, m.raw, m.boot = true, newConsistency(Slew), newConsistency(0)
		m.window, m.last = at(r), r
	}
	raw := m.raw.add(Comparison{r.Before, r.Raw, r.After})
	if boot := m.boot.add(Comparison{r.Before, r.Boot, r.After}); !raw || !boot {
		m.End(f)
		m.Changed = true
		return
	}
	piece := between(m.last, r)
	w := m.window
	w.Until, w.Least, w.Largest = r.Before, min(w.Least, piece.Least), max(w.Largest, piece.Largest)
	if w.width() > min(m.window.width(), piece.width())+windowSlack {
		m.End(f)
		w = piece
	}
	m.window, m.last = w, r
	if w.Until-w.From >= windowLength {
		m.End(f)
		m.window = at(r)
	}
}

// at returns an empty window at a reading.
func at(r Reading) Window { return Window{r.Before, r.Before, r.Raw - r.Before, r.Raw - r.Before} }

// between returns the window between two readings. The difference of the clocks is off from a reading's by
// the slew over half the time between them at most.
func between(a, b Reading) Window {
	w := Window{From: a.Before, Until: b.Before}
	w.Largest = max(a.Raw-a.Before, b.Raw-b.Before) + slewed((b.Before-a.Before)/2)
	w.Least = min(a.Raw-a.After-slewed(a.After-a.Before), min(a.Raw-a.After, b.Raw-b.After)-slewed((b.After-a.After)/2))
	return w
}

func (w *Window) width() int64 { return w.Largest - w.Least }

// End calls f for the window so far, if there is one.
func (m *Meter) End(f func(Window)) {
	if m.window.Until > m.window.From {
		f(m.window)
	}
	m.window = Window{}
}

// slewed returns how much two clocks drift apart by a slew of d ns at most, rounded up.
func slewed(d int64) int64 { return int64(math.Ceil(Slew*float64(d))) + 1 }
