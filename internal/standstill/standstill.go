package standstill

import "time"

// DefaultBound is how late a look at the clock, or an answer, may be before it shows a standstill. An idle
// machine is late by less than 2 ms, one with more to do than processors by 5 to 15. What
// is shorter is no more than any lock has to bear: one that renews has two thirds of a lease for it.
const DefaultBound = 20 * time.Millisecond

// BoundFor returns the bound for a run whose leases are this long: a quarter of a lease, and
// DefaultBound at most.
func BoundFor(lease time.Duration) time.Duration {
	if lease <= 0 {
		return DefaultBound
	}
	return min(DefaultBound, max(lease/4, time.Millisecond))
}

// Of is who stood still.
type Of uint8

// Who can.
const (
	Driver Of = iota // the process that drives and records
	Server           // a server, or the way to it
)

// A Standstill is a time in which somebody stood still, for all that is known.
type Standstill struct {
	Of Of
	// From is the last instant at which it was seen to go on, Until the first after that.
	From, Until time.Time
}

// Length is how long it lasted, at most.
func (s Standstill) Length() time.Duration { return s.Until.Sub(s.From) }

// A Sum is how much there was. The zero Sum is none.
type Sum struct {
	// Times counts standstills, Driver and Server those of each.
	Times, Driver, Server int
	// For is the time that nobody could use: where two standstills overlap it counts once.
	For time.Duration
	// Longest is the longest of all.
	Longest time.Duration

	covered time.Time
}

// Add takes in another standstill; each ends later than those before it, or else is part of them.
func (s *Sum) Add(one Standstill) {
	s.Times++
	if one.Of == Driver {
		s.Driver++
	} else {
		s.Server++
	}
	s.Longest = max(s.Longest, one.Length())
	from := one.From
	if from.Before(s.covered) {
		from = s.covered
	}
	if one.Until.After(from) {
		s.For += one.Until.Sub(from)
		s.covered = one.Until
	}
}
