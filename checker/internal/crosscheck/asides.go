package crosscheck

import (
	"slices"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// besides finds what the client does to earlier holds that acts on this one too, as
// the server knows owners and no holds, and its refused attempts to begin anew.
func (r *replay) besides(ops []*history.Op, earlier []*replay) {
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
			r.asides = append(r.asides, aside{op: op})
		}
		ttl, acts := leaseAmong(op, earlier)
		called := i < place || interval.Call(op).Before(known) || interval.Call(op) == known && !inTurn(op, first)
		switch over := interval.Return(op).Before(interval.Call(first)) || inTurn(op, first) && i < place; {
		case !acts:
		case !called:
			r.asides = append(r.asides, aside{op: op, ttl: ttl})
		case op.Outcome == history.Unknown || !over:
			r.cap = min(r.cap, ttl)
		}
	}
}

// leaseAmong is the lease that op, an extend or renewal, may set: it belongs to one
// of the holds.
func leaseAmong(op *history.Op, holds []*replay) (ttl int64, acts bool) {
	for _, r := range slices.Backward(holds) {
		if r.ops[0].Hold == op.Hold && interval.Sets(op) && slices.Contains(r.ops, op) {
			return r.lease(op), true
		}
	}
	return 0, false
}

// An aside is an operation of the same client that does not name the hold: one that
// may set its lease to ttl or, when it is an acquire, was refused because the hold
// was lost.
type aside struct {
	op  *history.Op
	ttl int64
}

// aside applies the call of one.
func (r *replay) aside(a aside) {
	switch {
	case r.ended || r.end.Before(interval.Call(a.op)):
	case a.op.Kind == history.Acquire:
		r.end, r.ended = interval.Call(a.op), true
	default:
		r.unsure = min(r.unsure, a.ttl)
		r.until = min(r.until, interval.After(a.op.Call, a.ttl))
		r.overtaken(a.op)
	}
}

// asidesBefore applies the asides called before op.
func (r *replay) asidesBefore(op *history.Op) {
	place := slices.Index(r.all, op) // -1 for those after all
	for len(r.asides) > 0 && (place < 0 || slices.Index(r.all, r.asides[0].op) < place) {
		a := r.asides[0]
		r.asides = r.asides[1:]
		r.land(func(l *history.Op) bool { return inTurn(l, a.op) || interval.Return(l).Before(interval.Call(a.op)) })
		r.aside(a)
	}
}
