package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/optime"
)

// How long the server may still hold what a hold stands for, read as widely as can
// be: the other side of its must-hold interval, which is how long it must be held.

// A pendingLease is an operation under way that may set what is left to ttl.
type pendingLease struct {
	op  *history.Op
	ttl int64
}

// widen moves what the server may at most hold of h by the extend op.
func (h *hold) widen(op *history.Op) {
	switch {
	case h.exact:
	case op.Outcome == history.OK:
		h.mayUntil = max(h.mayUntil, optime.After(op.Return, optime.Lease(op)))
	case op.Outcome == history.Unknown:
		ttl := optime.Lease(op)
		if optime.Untold(op) {
			ttl = h.most
		}
		h.pending = append(h.pending, pendingLease{op, ttl})
	}
}

// fold ends the doubt when op, whose outcome is unknown, may act: at any time from
// now on or, when it is over, by end. It returns false when there is
// none.
func (h *hold) fold(op *history.Op, end int64, over bool) bool {
	n := len(h.pending)
	if n == 0 {
		return false
	}
	h.pending = slices.DeleteFunc(h.pending, func(l pendingLease) bool {
		switch {
		case l.op != op:
			return false
		case h.exact:
		case over:
			h.mayUntil = max(h.mayUntil, optime.After(end, l.ttl))
		default:
			h.added = optime.After(h.added, l.ttl)
			h.additions++
		}
		return true
	})
	return len(h.pending) < n
}

// letGo applies the call of the release that gives h up on the server.
func (h *hold) letGo(op *history.Op) {
	h.released, h.releasedBy = true, op
	if h.unseen {
		h.mayUntil = max(h.mayUntil, optime.After(op.Return, h.most)) // the last renewal
	}
	switch {
	case op.Outcome == history.OK && !h.doubt:
		h.certain = true
		h.mayUntil, h.exact = optime.After(op.Return, op.Delay), op.Delay == 0
	default:
		h.relet(op)
		h.mayDelay(op)
	}
}

// relet notes that release op may have left a level, with its lease begun anew.
func (h *hold) relet(op *history.Op) {
	switch {
	case !h.levels || h.exact:
	case op.Outcome == history.OK:
		h.mayUntil = max(h.mayUntil, optime.After(op.Return, h.most))
	case op.Outcome == history.Unknown:
		h.pending = append(h.pending, pendingLease{op, h.most})
	}
}

// mayDelay notes that release op may have begun its delay, as late as the lease
// ends.
func (h *hold) mayDelay(op *history.Op) {
	if op.Delay > 0 && op.Outcome != history.Failed {
		h.pending = append(h.pending, pendingLease{op, op.Delay})
	}
}

// freed is when the server may at most still have held it: with the place among
// what happened at that instant, where its owner's release was answered there.
func (h *hold) freed(slack int64) optime.Stamp {
	if h.exact {
		return optime.Return(h.releasedBy)
	}
	return optime.Stamp{T: h.latest(slack), Seq: math.MaxUint64}
}

// latest is when the server may at most still have held it, in ns.
func (h *hold) latest(slack int64) int64 {
	switch {
	case h.exact:
		return h.mayUntil
	case h.unseen && !h.dead && (!h.released || h.levels && h.doubt): // what is left of it may be renewed
		return math.MaxInt64
	}
	at, slacks := optime.After(h.mayUntil, h.added), int64(h.additions)+int64(h.relets)
	for range h.relets {
		at = optime.After(at, h.most)
	}
	for _, l := range h.pending {
		at = optime.After(at, l.ttl)
		slacks++
	}
	return optime.After(at, slack*(1+min(slacks, 1000)))
}
