package interval

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/history"
)

// validity is until when the lease lasts for sure: no operation that has been called may
// have it end before Until.
type validity struct {
	// Until is its end as it stands, Base as it would stand without background renewals, and
	// Promised as the acquire left it.
	Until, Base, Promised int64
	// minUnknown is the shortest TTL of an extend whose outcome is unknown: it may
	// still take effect after any later one.
	minUnknown int64
	// underWay are the extends, renewals and refreshes not returned yet.
	underWay []*history.Op
	// late are the operations under way that will begin a new segment, since
	// validity may end before they take effect, and nested acquires that come to be so.
	late []lateOp
}

// A lateOp is an operation that will begin a segment at its return, and the TTL
// it then leaves for sure: others that overlap it may take effect after it.
type lateOp struct {
	op     *history.Op
	ttl    int64
	inTime bool // a nested acquire, as long as it takes effect within validity
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

// prolong sets the end of validity by op, answered ok, that leaves ttl for sure.
func (g *Grant) prolong(op *history.Op, ttl int64) {
	until := After(op.Call, ttl)
	if g.Ended { // its must-hold interval is over, but not what its lease keeps out
		g.setUntil(op, min(g.Until, until))
		return
	}
	g.capLate(op)
	switch {
	case op.Call >= g.Until || !g.HasMust:
		g.late = append(g.late, lateOp{op: op, ttl: ttl})
	case g.rules.Joins() && (op.Kind == history.Renew || g.Regrant) && op.Return >= g.Until:
		// It may have acted on what its owner was granted since, after a gap.
		g.late = append(g.late, lateOp{op: op, ttl: ttl})
		g.setUntil(op, min(g.Until, until))
	default:
		g.setUntil(op, until)
	}
}

// ExtendedByOther applies op, an extend or renewal of another hold of the owner that may act on g,
// and set its lease to ttl.
func (g *Grant) ExtendedByOther(op *history.Op, ttl int64) {
	g.shortenTo(op, ttl)
	g.ExtendMayHold(op)
	g.SettlePending(op, op.Return, false)
}

// Early applies to g, just granted, renewal op that was called before its acquire returned.
// Which of the two took effect last is not known, so that it can only shorten g.
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

// Bound has validity end at t at the latest.
func (g *Grant) Bound(t int64) {
	g.Until = min(g.Until, t)
	g.demoteLate()
}

// Prolonging reports whether something is under way that is to prolong the lease.
func (g *Grant) Prolonging() bool { return len(g.underWay) > 0 }

// shorten applies the call of an operation that may or may not, now or later,
// set the time left to its own lease.
func (g *Grant) shorten(op *history.Op) {
	g.shortenTo(op, g.LeaseOf(op))
}

// shortenTo is shorten where op may leave ttl.
func (g *Grant) shortenTo(op *history.Op, ttl int64) {
	g.minUnknown = min(g.minUnknown, ttl)
	g.setUntil(op, min(g.Until, After(op.Call, ttl)))
}

// Shortest is the TTL that an extend of ttl certainly leaves: one that is still
// under way, or whose outcome is unknown, may take effect after it.
func (g *Grant) Shortest(ttl int64) int64 {
	ttl = min(ttl, g.minUnknown)
	for _, other := range g.underWay {
		ttl = min(ttl, Lease(other))
	}
	return ttl
}

// capLate tells the operations that will reopen the must-hold interval that op overlaps them.
func (g *Grant) capLate(op *history.Op) {
	for i := range g.late {
		g.late[i].ttl = min(g.late[i].ttl, Lease(op))
	}
}

// setUntil moves the end of validity by op.
func (g *Grant) setUntil(op *history.Op, until int64) {
	g.Until = until
	if op.Kind != history.Renew {
		g.Base = until
	}
	g.demoteLate()
}

// demoteLate applies that validity may end before nested acquires take effect, which were to be
// in time: each may be a grant anew.
func (g *Grant) demoteLate() {
	for i := range g.late {
		if l := &g.late[i]; l.inTime && l.op.Return >= g.Until {
			l.inTime = false
			g.mustDepth--
			g.depth--
		}
	}
}

// Reacquire applies the call of a second acquire by the owner, which was answered ok or whose
// outcome is unknown.
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

// reacquired applies the call of a second acquire, answered ok, by the owner: counted
// when nested, otherwise a refresh. Only its return shows whether it came in
// time: until then the lease may have ended and the server granted it anew.
func (g *Grant) reacquired(op *history.Op) {
	nested := g.rules.Nested
	ttl := g.Shortest(Lease(op))
	until := After(Start(op), ttl)
	retried := !nested && op.Attempts > 1 // an attempt without an answer may have acted before
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
		if !nested { // a refresh may also have shortened what was left
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

// Returned applies the return of an extend, renewal or second acquire answered ok,
// and reports whether a new segment of the must-hold interval begins there.
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
	if op.Kind == history.Acquire || g.rules.Nested && g.Regrant { // it may be a fresh grant: one level is sure
		g.mustDepth, g.depth, g.Uncertain = 1, 1, true
	}
	return g.reopen(op, ttl)
}

// reopen has a segment begin at the return of op, which leaves ttl, and reports whether it is
// a new one.
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
		// One that overlaps it, called later or landed sooner, has opened the must-hold interval
		// already. Both bounds are sound, so the later one counts.
		g.setUntil(op, max(g.Until, until))
		g.openedByRenewal = g.openedByRenewal && (op.Kind == history.Renew || g.Start.Before(Return(op)))
		return false
	}
	g.From, g.openedByRenewal = from, op.Kind == history.Renew
	g.setUntil(op, until)
	return g.open(Return(op))
}
