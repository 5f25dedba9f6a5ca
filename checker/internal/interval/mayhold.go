package interval

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/history"
)

// maxUncertain bounds the number of uncertain operations that are counted one by one.
const maxUncertain = 1000

// mayHold bounds the time in which the server may keep the key for a grant. It never ends before
// the must-hold interval does.
type mayHold struct {
	mayUntil int64 // the latest end, in ns, to which the other fields add
	// pending are the extends of unknown outcome that are under way. They are added when they
	// return.
	pending []pendingLease
	// added is the sum of the leases, in ns, of returned extends of unknown outcome, and additions
	// their number. Each lease may begin only when the one before it ends.
	added     int64
	additions int16
	// restarts counts the releases of earlier holds that may begin the lease anew at any time.
	restarts       int16
	exact          bool // mayUntil needs no slack for rounding and polling
	hiddenRenewals bool // the owner may renew it, and the record does not show that
}

// A pendingLease is an operation under way that may set the remaining lease to ttl ns.
type pendingLease struct {
	op  *history.Op
	ttl int64
}

// ExtendMayHold extends the may-hold interval by op, an extend or acquire.
func (g *Grant) ExtendMayHold(op *history.Op) {
	switch {
	case g.exact:
	case op.Outcome == history.OK:
		g.mayUntil = max(g.mayUntil, After(op.Return, Longest(op)))
	case op.Outcome == history.Unknown:
		ttl := Longest(op)
		if InheritsLease(op) {
			ttl = g.MaxLease
		}
		g.pending = append(g.pending, pendingLease{op, ttl})
	}
}

// SettlePending settles when op, a pending operation of unknown outcome, may act: by end if over is
// set, else at any later time. It returns false if op is not pending.
func (g *Grant) SettlePending(op *history.Op, end int64, over bool) bool {
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
			g.mayUntil = max(g.mayUntil, After(end, l.ttl))
		default:
			g.added = After(g.added, l.ttl)
			g.additions = min(g.additions+1, maxUncertain)
		}
		return true
	})
	return len(g.pending) < n
}

// EndMayHold applies that the acquire of g, of unknown outcome, acts no more. A lease that it may
// have set ends at t, in ns, at the latest.
func (g *Grant) EndMayHold(t int64) { g.mayUntil = t }

// RenewedBy applies that the last hidden renewal of g was sent by t, in ns.
func (g *Grant) RenewedBy(t int64) {
	if g.hiddenRenewals {
		g.mayUntil = max(g.mayUntil, After(t, g.MaxLease))
	}
}

// ReleaseUnanswered reports whether the release of g was never answered although its owner lives,
// so that the lock may go on renewing g in the background.
func (g *Grant) ReleaseUnanswered() bool {
	return g.hiddenRenewals && !g.Dead && g.Released && g.ReleasedBy.Return == history.Never
}

// Died applies that the owner of g died at t, in ns, which ends its renewals. An answered release
// had ended them before.
func (g *Grant) Died(t int64) {
	if !g.Released || g.ReleaseUnanswered() {
		g.Dead = true
		g.RenewedBy(t)
	}
}

// Leaseless reports whether g has no lease: it lasts until its owner releases it or the owner's
// session ends.
func (g *Grant) Leaseless() bool { return g.leaseless }

// SessionEnds applies that the session of the owner ended at t, in ns, for a lock that may grant
// without a lease. From then on g is not certainly valid. If no operation can have set a lease, the
// server has ended g.
func (g *Grant) SessionEnds(t int64) {
	if !g.Confirmed {
		return
	}
	if g.Until == math.MaxInt64 && g.MinLease == math.MaxInt64 && len(g.pending)+len(g.late) == 0 {
		g.mayUntil = t
	}
	until := t + 1 // after all events of that instant; the must-hold interval orders these
	g.Until, g.Base, g.Promised = min(g.Until, until), min(g.Base, until), min(g.Promised, until)
}

// Freed returns the latest end of the may-hold interval. If the answer to the release ends it, the
// stamp has the sequence number of that answer.
func (g *Grant) Freed(slack int64) Stamp {
	if g.exact {
		return Return(g.ReleasedBy)
	}
	return Stamp{T: g.Latest(slack), Seq: math.MaxUint64}
}

// Latest returns the latest end of the may-hold interval, in ns.
func (g *Grant) Latest(slack int64) int64 {
	switch {
	case g.exact:
		return g.mayUntil
	case g.hiddenRenewals && !g.Dead && (!g.Released || g.ReleaseUnanswered() || g.rules.Nested && g.Uncertain): // its remaining levels may be renewed
		return math.MaxInt64
	}
	at, slacks := After(g.mayUntil, g.added), int64(g.additions)+int64(g.restarts)
	for range g.restarts {
		at = After(at, g.MaxLease)
	}
	for _, l := range g.pending {
		at = After(at, l.ttl)
		slacks++
	}
	return After(at, slack*(1+min(slacks, maxUncertain)))
}
