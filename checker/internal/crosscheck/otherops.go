package crosscheck

import (
	"slices"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// findOthers finds the operations of the same client that act on this hold, although they name
// another: extends and renewals of earlier holds, since the server knows owners but no holds, and
// refused attempts to acquire anew.
func (r *replay) findOthers(ops []*history.Op, earlier []*replay) {
	first := r.ops[0]
	known := interval.Return(first)
	if first.Outcome == history.Unknown {
		known = interval.Call(first)
	}
	r.all = ops
	place := slices.Index(ops, first)
	for i, op := range ops {
		if op.Client != first.Client || op.Hold == first.Hold {
			continue
		}
		denied := op.Outcome == history.Refused || op.Outcome == history.LossReported
		if i > place && r.rules.Refreshed && op.Kind == history.Acquire && denied {
			r.others = append(r.others, otherOp{op: op})
		}
		ttl, acts := leaseSetBy(op, earlier)
		called := i < place || interval.Call(op).Before(known) || interval.Call(op) == known && !sequential(op, first)
		switch over := interval.Return(op).Before(interval.Call(first)) || sequential(op, first) && i < place; {
		case !acts:
		case !called:
			r.others = append(r.others, otherOp{op: op, ttl: ttl})
		case op.Outcome == history.Unknown || !over:
			r.cap = min(r.cap, ttl)
		}
	}
}

// leaseSetBy returns the lease, in ns, that op may set if it is an extend or renewal of one of the
// holds; false if it sets none.
func leaseSetBy(op *history.Op, holds []*replay) (ttl int64, acts bool) {
	for _, r := range slices.Backward(holds) {
		if r.ops[0].Hold == op.Hold && interval.SetsLease(op) && slices.Contains(r.ops, op) {
			return r.lease(op), true
		}
	}
	return 0, false
}

// An otherOp is an operation of the same client under another hold. It may set the lease of this
// hold to ttl ns or, if it is an acquire, was refused because this hold was lost.
type otherOp struct {
	op  *history.Op
	ttl int64
}

// applyOther applies the call of a.
func (r *replay) applyOther(a otherOp) {
	switch {
	case r.ended || r.end.Before(interval.Call(a.op)):
	case a.op.Kind == history.Acquire:
		r.end, r.ended = interval.Call(a.op), true
	default:
		r.minUnknown = min(r.minUnknown, a.ttl)
		r.until = min(r.until, interval.After(a.op.Call, a.ttl))
		r.demoteNested(a.op)
	}
}

// applyOthersBefore applies the other operations that were called before op; nil applies all.
func (r *replay) applyOthersBefore(op *history.Op) {
	place := slices.Index(r.all, op) // -1 if op is nil
	for len(r.others) > 0 && (place < 0 || slices.Index(r.all, r.others[0].op) < place) {
		a := r.others[0]
		r.others = r.others[1:]
		r.startLate(func(l *history.Op) bool { return sequential(l, a.op) || interval.Return(l).Before(interval.Call(a.op)) })
		r.applyOther(a)
	}
}
