package interval

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/history"
)

// validity is the time that the lease certainly lasts: no operation called so far may end the lease
// before Until.
type validity struct {
	// Until is the end, in ns, Base the end without background renewals, and Promised the end that
	// the acquire set.
	Until, Base, Promised int64
	// minUnknown is the shortest lease, in ns, of the extends of unknown outcome. Each may still
	// take effect after any later operation.
	minUnknown int64
	// underWay are the extends, renewals and refreshes that have not returned.
	underWay []*history.Op
	// late are operations under way that will begin a new segment, since validity may end before
	// they take effect; and nested acquires that may become such.
	late []lateOp
}

// A lateOp is an operation that will begin a segment at its return, and the lease, in ns, that is
// then certain: overlapping operations may take effect after it.
type lateOp struct {
	op     *history.Op
	ttl    int64
	inTime bool // set for a nested acquire as long as it takes effect within validity
}

// Extend applies the call of an extend, or of a renewal in the background.
func (g *Grant) Extend(op *history.Op) {
	g.ExtendMayHold(op)
	switch op.Outcome {
	case history.Unknown:
		g.shorten(op)
	case history.OK:
		g.prolong(op, g.Shortest(Lease(op)))
		g.underWay = append(g.underWay, op)
	}
}

// prolong sets the end of validity by op, answered ok, after which a lease of ttl ns is certain.
func (g *Grant) prolong(op *history.Op, ttl int64) {
	until := After(op.Call, ttl)
	if g.Ended { // the must-hold interval is over, but the lease may keep other clients out
		g.setUntil(op, min(g.Until, until))
		return
	}
	g.capLate(op)
	switch {
	case op.Call >= g.Until || !g.HasMust:
		g.late = append(g.late, lateOp{op: op, ttl: ttl})
	case g.rules.Joins() && (op.Kind == history.Renew || g.Regrant) && op.Return >= g.Until:
		// After a gap, op may have acted on a later grant to its owner.
		g.late = append(g.late, lateOp{op: op, ttl: ttl})
		g.setUntil(op, min(g.Until, until))
	default:
		g.setUntil(op, until)
	}
}

// ExtendedByOther applies op, an extend or renewal of another hold of the same owner, which may set
// the lease of g to ttl ns.
func (g *Grant) ExtendedByOther(op *history.Op, ttl int64) {
	g.shortenTo(op, ttl)
	g.ExtendMayHold(op)
	g.SettlePending(op, op.Return, false)
}

// Early applies renewal op to g, which was just granted; op was called before the acquire returned.
// Either may have taken effect last, so that op can only shorten g.
func (g *Grant) Early(op *history.Op) {
	switch op.Outcome {
	case history.Failed:
	case history.LossReported:
		g.CloseUnknown(Call(op), ByLoss, false)
	default:
		g.shorten(op)
		g.ExtendMayHold(op)
		g.EarliestEnd = min(g.EarliestEnd, After(op.Call, g.LeaseOf(op)))
	}
	g.HasMust = g.HasMust && !g.End.Before(g.Start) && g.Start.Before(Stamp{T: g.Until})
}

// Bound limits the end of validity to t, in ns.
func (g *Grant) Bound(t int64) {
	g.Until = min(g.Until, t)
	g.demoteLate()
}

// Prolonging reports whether an operation under way may prolong the lease.
func (g *Grant) Prolonging() bool { return len(g.underWay) > 0 }

// shorten applies the call of an operation that may set the remaining lease to its own, now, later
// or never.
func (g *Grant) shorten(op *history.Op) {
	g.shortenTo(op, g.LeaseOf(op))
}

// shortenTo is shorten for an operation that may set a lease of ttl ns.
func (g *Grant) shortenTo(op *history.Op, ttl int64) {
	g.minUnknown = min(g.minUnknown, ttl)
	g.setUntil(op, min(g.Until, After(op.Call, ttl)))
}

// Shortest returns the lease, in ns, that is certain after an extend by ttl: operations under way,
// or of unknown outcome, may take effect after it.
func (g *Grant) Shortest(ttl int64) int64 {
	ttl = min(ttl, g.minUnknown)
	for _, other := range g.underWay {
		ttl = min(ttl, Lease(other))
	}
	return ttl
}

// capLate applies that op overlaps the operations that will begin a segment.
func (g *Grant) capLate(op *history.Op) {
	for i := range g.late {
		g.late[i].ttl = min(g.late[i].ttl, Lease(op))
	}
}

// setUntil sets the end of validity by op.
func (g *Grant) setUntil(op *history.Op, until int64) {
	if g.traced != nil {
		g.traced.setting(g, op, until)
	}
	g.Until = until
	if op.Kind != history.Renew {
		g.Base = until
	}
	g.demoteLate()
}

// demoteLate applies that validity may end before nested acquires take effect. Each of these may
// then be a new grant instead of a level.
func (g *Grant) demoteLate() {
	for i := range g.late {
		if l := &g.late[i]; l.inTime && l.op.Return >= g.Until {
			l.inTime = false
			g.mustDepth--
			g.depth--
		}
	}
}

// Reacquire applies the call of a second acquire by the owner, which was answered ok or has an
// unknown outcome.
func (g *Grant) Reacquire(op *history.Op) {
	ttl := Lease(op)
	g.MinLease, g.MaxLease, g.leaseless = min(g.MinLease, ttl), max(g.MaxLease, Longest(op)), g.leaseless || ttl == math.MaxInt64
	if g.rules.HiddenRenewals {
		g.shorten(op)
	}
	if op.Outcome == history.OK {
		g.reacquired(op)
		return
	}
	g.Uncertain, g.Regrant = true, true
	g.ExtendMayHold(op)
	if !g.rules.Nested {
		g.shortenTo(op, g.rules.UnknownLease(op))
	}
}

// reacquired applies the call of a second acquire answered ok: a level more if nested, else a
// refresh. Before it returns, the lease may end, and the server grant the key anew.
func (g *Grant) reacquired(op *history.Op) {
	nested := g.rules.Nested
	ttl := g.Shortest(Lease(op))
	until := After(Start(op), ttl)
	retried := !nested && op.Attempts > 1 // an earlier attempt may have acted, too
	if retried {
		until = After(op.Call, ttl)
	}
	if g.Ended {
		if !nested {
			g.setUntil(op, min(g.Until, until))
		}
		return
	}
	if !nested {
		g.capLate(op)
		g.underWay = append(g.underWay, op)
	}
	switch {
	case !g.HasMust || op.Return >= g.Until || retried:
		g.late = append(g.late, lateOp{op: op, ttl: ttl})
		if !nested { // a refresh may shorten the lease
			g.setUntil(op, min(g.Until, until))
		}
	case nested:
		g.mustDepth++
		g.depth++
		g.setUntil(op, max(g.Until, until))
		g.late = append(g.late, lateOp{op, ttl, true})
	default:
		g.setUntil(op, until)
	}
}

// Returned applies the return of an extend, renewal or second acquire answered ok. It reports
// whether a new segment of the must-hold interval begins there.
func (g *Grant) Returned(op *history.Op) (reopens bool) {
	if len(g.underWay)+len(g.late) == 0 {
		return false
	}
	g.underWay = slices.DeleteFunc(g.underWay, func(o *history.Op) bool { return o == op })
	i := slices.IndexFunc(g.late, func(l lateOp) bool { return l.op == op })
	if i < 0 {
		return false
	}
	ttl, inTime := min(g.late[i].ttl, g.minUnknown), g.late[i].inTime
	g.late = slices.Delete(g.late, i, i+1)
	if inTime {
		return false
	}
	if op.Kind == history.Acquire || g.rules.Nested && g.Regrant { // it may be a new grant, so that one level is certain
		g.mustDepth, g.depth, g.Uncertain = 1, 1, true
	}
	return g.reopen(op, ttl)
}

// reopen begins a segment at the return of op, after which a lease of ttl ns is certain. It returns
// false if the open segment just goes on.
func (g *Grant) reopen(op *history.Op, ttl int64) (begins bool) {
	from := op.Call
	if op.Kind == history.Acquire {
		from = Start(op)
	}
	until := After(from, ttl)
	if g.End.Before(Return(op)) || op.Return >= until {
		return false
	}
	if g.HasMust && op.Return < g.Until {
		// An overlapping operation has opened a segment already. Both ends are certain, so the
		// later one counts.
		g.setUntil(op, max(g.Until, until))
		g.openedByRenewal = g.openedByRenewal && (op.Kind == history.Renew || g.Start.Before(Return(op)))
		return false
	}
	g.From, g.openedByRenewal = from, op.Kind == history.Renew
	g.setUntil(op, until)
	return g.open(Return(op))
}
