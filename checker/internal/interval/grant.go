package interval

import (
	"math"

	"github.com/lockbench/lockbench/history"
)

// A Grant is one grant of a key to one owner, from its acquire to its last release, with bounds of
// its duration.
type Grant struct {
	beginning
	mustHold
	validity
	levels
	mayHold
	ending
	traced *trace // nil if nobody asks for the pieces
}

// beginning describes the acquire. MinLease is never longer than MaxLease.
type beginning struct {
	First   *history.Op // the first acquire
	Granted Stamp       // return of First
	Newest  Stamp       // the latest instant at which an acquire can have granted the key
	From    int64       // start of validity in ns, NoStamp if no acquire was answered ok
	// EarliestEnd is the earliest end, in ns, of the lease that the acquire set, even if the start
	// of that lease is not known.
	EarliestEnd int64
	// MinLease and MaxLease are the shortest and the longest lease of its acquires, in ns. They
	// bound the lease that a renewal sets if the record does not tell it.
	MinLease, MaxLease int64
	Confirmed          bool // an acquire was answered ok
	Anchored           bool // validity begins at From exactly, and the record tells the lease
	Regrant            bool // an acquire of unknown outcome may have granted the key once more
	leaseless          bool // an acquire set no lease
}

// ending describes how the owner gave the key up. CertainlyFree implies Released, and Released
// implies ReleasedBy.
type ending struct {
	ReleasedBy    *history.Op
	LastWork      Stamp // the owner's last instant of work: then it released the key, was told of the loss, or died
	Released      bool  // the owner sent its last release, whatever the answer
	CertainlyFree bool  // the server certainly freed the key
	Dead          bool  // the owner died before it released the key
}

// Begin makes the empty g the grant of acquire op. It begins at the return of op if that was
// answered ok, and at its call if the outcome is unknown.
func (g *Grant) Begin(op *history.Op, rules Rules) {
	ttl, most := Lease(op), Longest(op)
	g.rules, g.First = rules, op
	g.Granted, g.Newest, g.Confirmed = Return(op), Return(op), op.Outcome == history.OK
	g.From, g.Anchored, g.minUnknown, g.mustDepth, g.depth = op.Attempt, !g.Confirmed || TellsLease(op), math.MaxInt64, 1, 1
	g.End, g.LastWork = Forever, Forever
	g.mayUntil, g.MinLease, g.MaxLease, g.leaseless = math.MaxInt64, ttl, most, ttl == math.MaxInt64
	if !g.Confirmed {
		g.From, g.Granted, g.Newest = history.NoStamp, Call(op), Forever
		g.minUnknown = rules.UnknownLease(op)
		return
	}
	if g.From == history.NoStamp { // the attempt began at the call at the earliest
		g.From, g.Anchored = op.Call, g.Anchored && op.Wait == 0
	}
	if g.hiddenRenewals = rules.HiddenRenewals; g.hiddenRenewals { // a renewal may shorten an extended lease
		g.minUnknown = ttl
	}
	g.mayUntil = After(op.Return, most)
	g.EarliestEnd = After(Start(op), ttl)
	if g.From == history.NoStamp {
		return
	}
	g.Until = After(g.From, ttl)
	g.Base, g.Promised = g.Until, g.Until
	g.open(g.Granted)
}

// Empty returns an empty grant that reuses the memory of g.
func (g *Grant) Empty() Grant {
	return Grant{
		validity: validity{underWay: g.underWay[:0], late: g.late[:0]},
		mayHold:  mayHold{pending: g.pending[:0]},
	}
}

// Began returns the start of validity, with its sequence number if that is known.
func (g *Grant) Began() Stamp {
	if g.First.Call == g.From {
		return Call(g.First)
	}
	return Stamp{T: g.From}
}

// LeaseOf returns the shortest lease, in ns, that op, an operation on g, may have set.
func (g *Grant) LeaseOf(op *history.Op) int64 {
	if InheritsLease(op) {
		return g.Renewal(op)
	}
	return Lease(op)
}

// Renewal returns a lower bound, in ns, on the lease that the renewal op sets, for records that do
// not tell it: the shortest lease that g may have. It returns 0 if op was called before g, because
// op then renews an earlier grant with an unknown lease.
func (g *Grant) Renewal(op *history.Op) int64 {
	if op.Call < g.First.Call {
		return 0
	}
	return g.MinLease
}

// Cap limits the lease of g, which was just granted, to ttl ns.
func (g *Grant) Cap(ttl int64) {
	g.minUnknown = min(g.minUnknown, ttl)
	if ttl >= g.MinLease {
		return
	}
	g.MinLease = ttl
	g.EarliestEnd = min(g.EarliestEnd, After(Start(g.First), ttl))
	if g.From == history.NoStamp {
		return
	}
	g.Until = min(g.Until, After(g.From, ttl))
	g.Base, g.Promised = g.Until, g.Until
	g.HasMust = g.Granted.Before(Stamp{T: g.Until})
}

// Joined applies that g, which was just granted, may have joined earlier levels of its client.
// longest is the longest lease of these, in ns, and restarts the number of releases that may begin
// that lease anew.
func (g *Grant) Joined(longest, restarts int64) {
	g.Uncertain = true
	g.MaxLease = max(g.MaxLease, longest)
	g.restarts = int16(min(restarts, maxUncertain))
}

// ValidAt reports whether the lease lasts beyond s. Only a release by the owner itself ends a lease
// early, whatever the owner was told.
func (g *Grant) ValidAt(s Stamp) bool {
	return g.Confirmed && g.From != history.NoStamp && !g.Released && s.Before(Stamp{T: g.Until})
}

// Follows reports whether g was certainly granted after a: if g had been granted first, its lease
// would not have been over when a was granted.
func (g *Grant) Follows(a *Grant) bool {
	return a.Newest.Before(g.Granted) && g.EarliestEnd > a.Newest.T
}

// Reach returns the last instant, in ns, at which g may keep other clients out, by the operations
// so far.
func (g *Grant) Reach() int64 {
	if g.Released {
		return max(g.MustEnd().T, min(g.Until, g.End.T))
	}
	return max(g.MustEnd().T, g.Until)
}
