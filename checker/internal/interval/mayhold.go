package interval

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/history"
)

// mostInDoubt bounds how many operations in doubt are counted one by one.
const mostInDoubt = 1000

// mayHold is until when the server may keep the key for a grant. It never ends before the
// must-hold interval does.
type mayHold struct {
	mayUntil int64 // the latest instant, were it not for the rest
	// pending are extends of unknown outcome under way, to be added when they return.
	pending []pendingLease
	// added is what those of unknown outcome may add to mayUntil, each at the last moment, and
	// additions how many they are.
	added     int64
	additions int16
	// relets is how many releases of earlier holds may begin its lease anew, at any time.
	relets int16
	exact  bool // mayUntil is sure: no slack for rounding and polling
	unseen bool // it may be renewed without a word
}

// A pendingLease is an operation under way that may set what is left to ttl.
type pendingLease struct {
	op  *history.Op
	ttl int64
}

// Widen moves what the server may at most hold of g by op, an extend or acquire.
func (g *Grant) Widen(op *history.Op) {
	switch {
	case g.exact:
	case op.Outcome == history.OK:
		g.mayUntil = max(g.mayUntil, optime.After(op.Return, optime.Longest(op)))
	case op.Outcome == history.Unknown:
		ttl := optime.Longest(op)
		if optime.InheritsLease(op) {
			ttl = g.Most
		}
		g.pending = append(g.pending, pendingLease{op, ttl})
	}
}

// Fold ends the doubt when op, whose outcome is unknown, may act: at any time from
// now on or, when it is over, by end. It returns false when there is
// none.
func (g *Grant) Fold(op *history.Op, end int64, over bool) bool {
	n := len(g.pending)
	if n == 0 {
		return false
	}
	g.pending = slices.DeleteFunc(g.pending, func(l pendingLease) bool {
		switch {
		case l.op != op:
			return false
		case g.exact:
		case over:
			g.mayUntil = max(g.mayUntil, optime.After(end, l.ttl))
		default:
			g.added = optime.After(g.added, l.ttl)
			g.additions = min(g.additions+1, mostInDoubt)
		}
		return true
	})
	return len(g.pending) < n
}

// MayEnd applies that the acquire of g, whose outcome is unknown, has had its effect: what it
// may have been granted lasts until t at the latest.
func (g *Grant) MayEnd(t int64) { g.mayUntil = t }

// RenewedBy applies that the last renewal of g, of which nothing is known, was sent by t.
func (g *Grant) RenewedBy(t int64) {
	if g.unseen {
		g.mayUntil = max(g.mayUntil, optime.After(t, g.Most))
	}
}

// LettingGo reports whether the release of g is not answered, and its owner, of whose renewals nothing is known, may renew it.
func (g *Grant) LettingGo() bool {
	return g.unseen && !g.Dead && g.Released && g.ReleasedBy.Return == history.Never
}

// Died applies that the owner of g died at t: it renews no longer. One that was answered when it released g had ended that
// before.
func (g *Grant) Died(t int64) {
	if !g.Released || g.LettingGo() {
		g.Dead = true
		g.RenewedBy(t)
	}
}

// Leaseless reports whether the lock has no lease: what it grants lasts until its owner gives it
// up, or its session ends.
func (g *Grant) Leaseless() bool { return g.endless }

// SessionEnds applies, for a lock that may have given a grant without a lease, that the owner's session ended
// at t: g was valid no longer for sure and, where no operation can have given it a lease, was held
// no longer.
func (g *Grant) SessionEnds(t int64) {
	if !g.Known {
		return
	}
	if g.Until == math.MaxInt64 && g.Least == math.MaxInt64 && len(g.pending)+len(g.late) == 0 {
		g.mayUntil = t
	}
	until := t + 1 // later than all of that instant: when in it, the must-hold interval says
	g.Until, g.Base, g.Promised = min(g.Until, until), min(g.Base, until), min(g.Promised, until)
}

// Freed is when the server may at most still have held it: with the place among
// what happened at that instant, where its owner's release was answered there.
func (g *Grant) Freed(slack int64) optime.Stamp {
	if g.exact {
		return optime.Return(g.ReleasedBy)
	}
	return optime.Stamp{T: g.Latest(slack), Seq: math.MaxUint64}
}

// Latest is when the server may at most still have held it, in ns.
func (g *Grant) Latest(slack int64) int64 {
	switch {
	case g.exact:
		return g.mayUntil
	case g.unseen && !g.Dead && (!g.Released || g.LettingGo() || g.rules.Nested && g.Doubt): // what is left of it may be renewed
		return math.MaxInt64
	}
	at, slacks := optime.After(g.mayUntil, g.added), int64(g.additions)+int64(g.relets)
	for range g.relets {
		at = optime.After(at, g.Most)
	}
	for _, l := range g.pending {
		at = optime.After(at, l.ttl)
		slacks++
	}
	return optime.After(at, slack*(1+min(slacks, mostInDoubt)))
}
