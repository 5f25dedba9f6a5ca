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

// A Reading reads the clocks of a machine, in ns: CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, and
// CLOCK_MONOTONIC again.
type Reading struct{ Before, Raw, Boot, After int64 }

// A Clock bounds the coordinator's clock by the stamps of a machine's history, which are of CLOCK_MONOTONIC. It
// may be used concurrently.
type Clock struct {
	raw, coordinator *Bounds
	from, until      int64
}

// NewClock returns the clock of a machine by readings of its clocks and by probes, which compare its
// CLOCK_MONOTONIC_RAW with the coordinator's. Both are in the order of time. It returns nil if they say nothing.
func NewClock(readings []Reading, probes []Comparison) *Clock {
	raw, boot := make([]Comparison, len(readings)), make([]Comparison, len(readings))
	for i, r := range readings {
		raw[i], boot[i] = Comparison{r.Before, r.Raw, r.After}, Comparison{r.Before, r.Boot, r.After}
	}
	readings = readings[:min(Consistent(raw, Slew), Consistent(boot, 0))]
	probes = probes[:Consistent(probes, Drift)]
	if len(readings) > 0 { // a later probe may be after a change
		last := readings[len(readings)-1].Raw
		probes = probes[:sort.Search(len(probes), func(i int) bool { return probes[i].After > last })]
	}
	if len(probes) == 0 {
		return nil
	}
	// A change before the first probe was answered, or after the last one was sent, would be seen by none.
	first, last := probes[0].After, probes[len(probes)-1].Before
	begin := sort.Search(len(readings), func(i int) bool { return readings[i].Raw >= first })
	end := sort.Search(len(readings), func(i int) bool { return readings[i].Raw > last })
	if begin >= end {
		return nil
	}
	return &Clock{
		raw: NewBounds(raw[begin:end], Slew), coordinator: NewBounds(probes, Drift),
		from: readings[begin].After, until: readings[end-1].Before,
	}
}

// Known reports whether the clock is known at a stamp. It is from the first probe to the last one, or to the last
// one before the machine was suspended or a clock was changed.
func (c *Clock) Known(stamp int64) bool { return c.from <= stamp && stamp <= c.until }

// Upper returns the largest time, by the coordinator's clock, that an event with this stamp can have.
func (c *Clock) Upper(stamp int64) int64 { return c.coordinator.Upper(c.raw.Upper(stamp)) }

// Lower returns the least time, by the coordinator's clock, that an event with this stamp can have.
func (c *Clock) Lower(stamp int64) int64 { return c.coordinator.Lower(c.raw.Lower(stamp)) }

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
	if !c.Known(h.Called) || !c.Known(h.End) {
		return s, false
	}
	lease := int64(math.Floor(float64(h.Lease) * (1 - Drift)))
	s = Span{StartLeast: c.Lower(h.Start), StartMost: c.Upper(h.Start), EndLeast: c.Lower(h.End), EndMost: c.Upper(h.End)}
	if h.Lease > 0 {
		s.EndLeast = min(s.EndLeast, c.Lower(h.Called)+lease)
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
