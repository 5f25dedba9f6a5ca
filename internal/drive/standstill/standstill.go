package standstill

import "time"

// DefaultBound is the largest delay of a clock reading or an answer that is no standstill. An idle
// machine delays by less than 2 ms, a machine with more work than processors by 5 to 15 ms. Every
// lock must bear shorter delays: a lock that renews has two thirds of a lease for them.
const DefaultBound = 20 * time.Millisecond

// BoundFor returns the bound for a run with leases of this length: a quarter of a lease, and at
// most DefaultBound.
func BoundFor(lease time.Duration) time.Duration {
	if lease <= 0 {
		return DefaultBound
	}
	return min(DefaultBound, max(lease/4, time.Millisecond))
}

// An Of is the party that stood still.
type Of uint8

// The parties.
const (
	Driver Of = iota // the process that drives and records
	Server           // a server, or the way to it
)

// A Standstill is a time during which a party stood still, as far as known.
type Standstill struct {
	Of Of
	// From is the last instant at which it was seen running, Until the first one after that.
	From, Until time.Time
}

// Length is its length, at most.
func (s Standstill) Length() time.Duration { return s.Until.Sub(s.From) }

// A Sum adds up standstills. The zero Sum has none.
type Sum struct {
	// Times counts standstills, Driver and Server the standstills of each.
	Times, Driver, Server int
	// For is the total time; overlapping standstills count once.
	For time.Duration
	// Longest is the longest of all.
	Longest time.Duration

	covered time.Time
}

// Add adds a standstill. It must end after all earlier ones, or lie within one of them.
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
