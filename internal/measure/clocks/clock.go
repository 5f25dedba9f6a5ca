package clocks

import (
	"math"
	"sort"
	"time"
)

const (
	// Drift bounds how much the rates of two clocks that no time daemon changes differ: crystals of computers are
	// within 100 ppm of the true rate.
	Drift = 200e-6
	// Slew bounds how much the rate of CLOCK_MONOTONIC_RAW differs from that of CLOCK_MONOTONIC, which a time
	// daemon changes: chrony by a twelfth at most.
	Slew = 1.0 / 11
)

// A Clock bounds the coordinator's clock by the stamps of a machine's history, which are of CLOCK_MONOTONIC. It
// may be used concurrently.
type Clock struct {
	windows     []Window // each begins where the one before ends
	coordinator *Bounds
	first, last int64 // of CLOCK_MONOTONIC_RAW, between which the coordinator's clock is known
	from, until int64 // the first and the last stamp with a known time
}

// NewClock returns the clock of a machine by windows of its own clocks and by probes, which compare its
// CLOCK_MONOTONIC_RAW with the coordinator's. Both are in the order of time. It returns nil if they say nothing.
func NewClock(windows []Window, probes []Comparison) *Clock {
	for i := 1; i < len(windows); i++ {
		if windows[i].From != windows[i-1].Until { // a clock was changed, or a part is missing
			windows = windows[:i]
		}
	}
	if len(windows) == 0 {
		return nil
	}
	end := windows[len(windows)-1]
	probes = probes[:Consistent(probes, Drift)]
	probes = probes[:sort.Search(len(probes), func(i int) bool { return probes[i].After > end.Until+end.Least })]
	if len(probes) == 0 {
		return nil
	}
	// A change before the first probe was answered, or after the last one was sent, would be seen by none.
	c := &Clock{windows: windows, coordinator: NewBounds(probes, Drift), first: probes[0].After, last: probes[len(probes)-1].Before}
	begins := sort.Search(len(windows), func(i int) bool { return windows[i].Until+windows[i].Least >= c.first })
	ends := sort.Search(len(windows), func(i int) bool { return windows[i].From+windows[i].Largest > c.last }) - 1
	if begins > ends {
		return nil
	}
	c.from = max(windows[begins].From, c.first-windows[begins].Least)
	c.until = min(windows[ends].Until, c.last-windows[ends].Largest)
	if c.from > c.until {
		return nil
	}
	return c
}

// window returns the window of a stamp with a known time.
func (c *Clock) window(stamp int64) *Window {
	return &c.windows[sort.Search(len(c.windows), func(i int) bool { return c.windows[i].Until >= stamp })]
}

// At returns the least and the largest time, by the coordinator's clock, that an event with this stamp can have.
// They are not known before the first probe was answered, after the last one was sent, and after the machine was
// suspended or a clock was changed.
func (c *Clock) At(stamp int64) (least, most int64, known bool) {
	if stamp < c.from || stamp > c.until {
		return 0, 0, false
	}
	w := c.window(stamp)
	return c.coordinator.Lower(stamp + w.Least), c.coordinator.Upper(stamp + w.Largest), true
}

// Bounds is like At for any stamp. A time that is not known is bounded by the first or last stamp with a known time:
// it is before or after it.
func (c *Clock) Bounds(stamp int64) (least, most int64) {
	if least, most, known := c.At(stamp); known {
		return least, most
	}
	least, most = math.MinInt64, math.MaxInt64
	if stamp < c.from {
		_, most, _ = c.At(c.from)
	} else if stamp > c.until {
		least, _, _ = c.At(c.until)
	}
	return least, most
}

// A Hold is a segment of a must-hold interval: from Start to End, by a grant or renewal of Lease that was called
// at Called. Stamps are in ns; a Lease of zero has no end.
type Hold struct {
	Start, End, Called int64
	Lease              time.Duration
}

// A Span bounds the start and the end of a hold on the coordinator's clock, in ns.
type Span struct{ StartLeast, StartMost, EndLeast, EndMost int64 }

// Span returns the bounds of a hold, and false if the clock is not known at one of its stamps. The server counts the
// lease by a clock of its own, which may be faster than the coordinator's, from the call on at the earliest. The
// owner may believe in it for longer, by a clock that is slower: that is no fault of the lock.
func (c *Clock) Span(h Hold) (s Span, known bool) {
	called, _, known := c.At(h.Called)
	s.StartLeast, s.StartMost, _ = c.At(h.Start)
	end, most, endKnown := c.At(h.End)
	if !known || !endKnown {
		return s, false
	}
	s.EndLeast, s.EndMost = end, most
	if h.Lease > 0 {
		s.EndLeast = min(end, called+int64(math.Floor(float64(h.Lease)*(1-Drift))))
	}
	return s, true
}

// An Order is what bounds prove about two holds of one key on two machines.
type Order uint8

// The orders.
const (
	Undecided Order = iota // some clocks that fit let them overlap, others do not
	Apart                  // no clocks that fit let them overlap
	Overlap                // all clocks that fit let them overlap
)

// Order returns the order of two holds.
func (s Span) Order(o Span) Order {
	switch {
	case s.StartMost < o.EndLeast && o.StartMost < s.EndLeast:
		return Overlap
	case s.StartLeast >= o.EndMost || o.StartLeast >= s.EndMost:
		return Apart
	}
	return Undecided
}
