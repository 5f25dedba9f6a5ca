package interval

import (
	"math"

	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/history"
)

// A Grant is how long one grant of a key to one owner lasts, from the acquire that began it
// to the release that ended it.
type Grant struct {
	beginning
	mustHold
	validity
	levels
	mayHold
	ending
}

// beginning is how the key was granted. Least is never longer than Most.
type beginning struct {
	First   *history.Op  // the acquire that began it
	Granted optime.Stamp // return of the acquire
	Newest  optime.Stamp // it was last granted by then: it may be granted anew past its lease
	From    int64        // start of validity, NoStamp where the grant was not answered
	// Sure is when the lease that the acquire gave can end at the earliest, also
	// where nothing says when it began.
	Sure int64
	// Least and Most are the shortest and the longest lease of its acquires: what
	// a renewal of unknown outcome, which has no lease, may have set.
	Least, Most int64
	Known       bool // it is a grant: the acquire was answered ok
	// Anchored: validity begins at From, and not later, and the acquire's lease is told: where
	// validity ends is known.
	Anchored bool
	Regrant  bool // an acquire of unknown outcome may have granted it anew
	endless  bool // an acquire of it had no lease
}

// ending is how its owner gave it up. Certain implies Released, and Released that there is a
// ReleasedBy.
type ending struct {
	ReleasedBy *history.Op
	Knew       optime.Stamp // its owner stopped working then: it gave up, was told of the loss, or died
	Released   bool         // its owner gave it up, whatever came of that
	Certain    bool         // the server freed it for certain
	Dead       bool         // its owner died with it
}

// Begin makes g, which is empty, the grant that acquire op begins: at its return when it was
// answered ok, at its call when its outcome is unknown. An unknown one may still act as a
// refresh after a later one, unless nested acquires count.
func (g *Grant) Begin(op *history.Op, rules optime.Rules) {
	ttl, most := optime.Lease(op), optime.Longest(op)
	g.rules, g.First = rules, op
	g.Granted, g.Newest, g.Known = optime.Return(op), optime.Return(op), op.Outcome == history.OK
	g.From, g.Anchored, g.unsure, g.mustDepth, g.depth = op.Attempt, !g.Known || optime.TellsLease(op), math.MaxInt64, 1, 1
	g.End, g.Knew = optime.Forever, optime.Forever
	g.mayUntil, g.Least, g.Most, g.endless = math.MaxInt64, ttl, most, ttl == math.MaxInt64
	if !g.Known {
		g.From, g.Granted, g.Newest = history.NoStamp, optime.Call(op), optime.Forever
		g.unsure = rules.Leaves(op)
		return
	}
	if g.From == history.NoStamp { // at the call at the earliest: what follows from that is certain
		g.From, g.Anchored = op.Call, g.Anchored && op.Wait == 0
	}
	if g.unseen = rules.Unseen; g.unseen { // a renewal may cut an extend short
		g.unsure = ttl
	}
	g.mayUntil = optime.After(op.Return, most)
	g.Sure = optime.After(optime.Start(op), ttl)
	if g.From == history.NoStamp {
		return
	}
	g.Until = optime.After(g.From, ttl)
	g.Base, g.Promised = g.Until, g.Until
	g.open(g.Granted)
}

// Empty is a grant that has not begun, in the memory of g.
func (g *Grant) Empty() Grant {
	return Grant{
		validity: validity{flying: g.flying[:0], late: g.late[:0]},
		mayHold:  mayHold{pending: g.pending[:0]},
	}
}

// Began is the start of validity, with its place among what happened at that
// instant where that is known.
func (g *Grant) Began() optime.Stamp {
	if g.First.Call == g.From {
		return optime.Call(g.First)
	}
	return optime.Stamp{T: g.From}
}

// LeaseOf is the shortest lease that op, an operation on g, may have set.
func (g *Grant) LeaseOf(op *history.Op) int64 {
	if optime.InheritsLease(op) {
		return g.Renewal(op)
	}
	return optime.Lease(op)
}

// Renewal is the shortest lease that op, a renewal that does not say it, may set. One that was
// called before g renews an earlier grant, by the lease of that, which is not known.
func (g *Grant) Renewal(op *history.Op) int64 {
	if op.Call < g.First.Call {
		return 0
	}
	return g.Least
}

// Cap bounds the lease of g, just granted, by ttl.
func (g *Grant) Cap(ttl int64) {
	g.unsure = min(g.unsure, ttl)
	if ttl >= g.Least {
		return
	}
	g.Least = ttl
	g.Sure = min(g.Sure, optime.After(optime.Start(g.First), ttl))
	if g.From == history.NoStamp {
		return
	}
	g.Until = min(g.Until, optime.After(g.From, ttl))
	g.Base, g.Promised = g.Until, g.Until
	g.Must = g.Granted.Before(optime.Stamp{T: g.Until})
}

// Joined applies that g, just granted, may have joined what its client had left, of which
// the longest lease is given, and how many releases may begin it anew.
func (g *Grant) Joined(longest, relets int64) {
	g.Doubt = true
	g.Most = max(g.Most, longest)
	g.relets = int16(min(relets, mostInDoubt))
}

// ValidAt reports whether the lease granted is not over at s: whatever the owner
// was told meanwhile, only its own release gives the key to others earlier.
func (g *Grant) ValidAt(s optime.Stamp) bool {
	return g.Known && g.From != history.NoStamp && !g.Released && s.Before(optime.Stamp{T: g.Until})
}

// Follows reports whether g was granted after a for certain: had it been before, it would have
// been neither released nor over when a was granted.
func (g *Grant) Follows(a *Grant) bool {
	return a.Newest.Before(g.Granted) && g.Sure > a.Newest.T
}

// Reach is until when g may have kept others out, in ns, unless its owner does more with it.
func (g *Grant) Reach() int64 {
	if g.Released {
		return max(g.MustEnd().T, min(g.Until, g.End.T))
	}
	return max(g.MustEnd().T, g.Until)
}
