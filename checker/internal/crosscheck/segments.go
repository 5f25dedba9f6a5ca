package crosscheck

import (
	"cmp"
	"math"
	"slices"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// A Segment is one contiguous part of the must-hold interval of a hold.
type Segment struct {
	Client     int32
	Attempt    interval.Stamp // the earliest instant at which the grant can have taken effect
	Start, End interval.Stamp
}

// Segments returns the must-hold intervals of all holds in ops, the operations on one key in the
// order of their calls. departed has the deaths and cuts of clients.
func Segments(ops, departed []*history.Op, rules interval.Rules) []Segment {
	byHold := map[int64][]*history.Op{}
	var holds []int64
	for _, op := range ops {
		if op.Hold == 0 {
			continue
		}
		if byHold[op.Hold] == nil {
			holds = append(holds, op.Hold)
		}
		byHold[op.Hold] = append(byHold[op.Hold], op)
	}
	var all []Segment
	var replays []*replay
	for _, id := range holds {
		acquireFirst(byHold[id])
		inherited := int64(math.MaxInt64)
		for rest := byHold[id]; len(rest) > 0 && rest[0].Kind == history.Acquire; {
			r := &replay{ops: rest, rules: rules, end: endFromOutside(rest[0], ops, departed), cap: inherited, minUnknown: math.MaxInt64}
			if !rules.Nested || rules.HiddenRenewals {
				r.cap = min(r.cap, capFromOutside(rest[0], ops, rules))
			}
			if rules.Joins() {
				r.findOthers(ops, replays)
			}
			replays = append(replays, r)
			rest = r.run()
			all = append(all, r.done...)
			inherited = r.leaseLeft(rest)
		}
	}
	return all
}

// acquireFirst moves the acquire before renewals that have the same stamp.
func acquireFirst(ops []*history.Op) {
	i := slices.IndexFunc(ops, func(op *history.Op) bool { return op.Kind == history.Acquire })
	if i > 0 && ops[0].Kind == history.Renew && interval.Call(ops[0]) == interval.Call(ops[i]) {
		acquire := ops[i]
		copy(ops[1:], ops[:i])
		ops[0] = acquire
	}
}

// sequential reports whether a and b are calls of the same client's stream, so that one was called
// after the other had returned, whatever their stamps say.
func sequential(a, b *history.Op) bool {
	return a.Stream == b.Stream && a.Kind != history.Renew && b.Kind != history.Renew
}

// leaseLeft returns the shortest lease that an operation of r may still set, once the first of
// rest, which begins the hold anew, is under way.
func (r *replay) leaseLeft(rest []*history.Op) int64 {
	ttl := r.cap
	if len(rest) == 0 {
		return ttl
	}
	for _, op := range r.ops[:len(r.ops)-len(rest)] {
		sets := op.Kind == history.Extend || op.Kind == history.Renew
		flying := !sequential(op, rest[0]) && !interval.Return(op).Before(interval.Call(rest[0]))
		if sets && (op.Outcome == history.Unknown || op.Outcome == history.OK && (flying || r.early(op))) {
			ttl = min(ttl, r.lease(op))
		}
	}
	return ttl
}

// endFromOutside returns the end of the hold by events other than calls under it: the death of its
// client, the end of the client's record, or a new grant to the client.
func endFromOutside(first *history.Op, ops, departed []*history.Op) interval.Stamp {
	end := interval.Forever
	for _, op := range departed {
		if op.Client == first.Client && !interval.Call(op).Before(interval.Call(first)) {
			end = interval.Earlier(end, interval.Call(op))
		}
	}
	for _, op := range ops[slices.Index(ops, first):] {
		granted := op.Outcome == history.OK || op.Outcome == history.Unknown
		if op.Kind == history.Acquire && granted && op.Client == first.Client && op.Hold != first.Hold {
			end = interval.Earlier(end, interval.Call(op))
		}
	}
	return end
}

// capFromOutside returns the shortest lease that an earlier acquire of the same client may still
// set: an acquire of unknown outcome, or an acquire that a hidden renewal may repeat.
func capFromOutside(first *history.Op, ops []*history.Op, rules interval.Rules) int64 {
	ttl := int64(math.MaxInt64)
	for _, op := range ops[:slices.Index(ops, first)] {
		if op.Kind != history.Acquire || op.Client != first.Client {
			continue
		}
		unknown := op.Outcome == history.Unknown
		if unknown {
			ttl = min(ttl, rules.UnknownLease(op))
		}
		if (unknown || op.Outcome == history.OK) && rules.HiddenRenewals && rules.Joins() {
			ttl = min(ttl, interval.Lease(op))
		}
	}
	return ttl
}

// A replay derives the must-hold interval of one hold: it applies the operations under the hold in
// order. Nothing of its state outlives the hold.
type replay struct {
	ops        []*history.Op
	applied    []*history.Op // those before the hold began anew
	all        []*history.Op // of all holds, in order
	others     []otherOp
	rules      interval.Rules
	end        interval.Stamp
	ended      bool  // an operation under the hold has ended it
	cap        int64 // the longest lease that is certain, in ns
	minUnknown int64 // the same, for leases set from now on

	done    []Segment
	open    bool
	segment Segment
	// renewed: cur was opened by a renewal, concurrent with its client's calls.
	renewed bool
	until   int64
	levels  int
	late    []*history.Op // to begin a segment at their return
	nested  []*history.Op // nested acquires under way that seem to be in time
}

// run applies the operations. If an acquire begins the hold anew, it returns the remaining
// operations.
func (r *replay) run() (rest []*history.Op) {
	r.applied = r.ops
	r.first(r.ops[0])
	for i, op := range r.ops[1:] {
		r.applyOthersBefore(op)
		r.startLate(func(l *history.Op) bool { return sequential(l, op) || interval.Return(l).Before(interval.Call(op)) })
		granted := op.Outcome == history.OK || op.Outcome == history.Unknown
		if r.ended && op.Kind == history.Acquire && granted {
			rest = r.ops[i+1:]
			break
		}
		if r.endedBefore(op) {
			continue
		}
		r.apply(op)
	}
	if rest == nil {
		r.applyOthersBefore(nil)
	}
	r.startLate(func(*history.Op) bool { return true })
	r.applied = r.ops[:len(r.ops)-len(rest)]
	if r.open {
		r.finish()
	}
	return rest
}

// endedBefore reports whether the hold had ended when op was called. If its client died at that
// very instant, the client's calls came first.
func (r *replay) endedBefore(op *history.Op) bool {
	if r.ended || op.Kind == history.Renew {
		return !interval.Call(op).Before(r.end)
	}
	return r.end.Before(interval.Call(op))
}

func (r *replay) apply(op *history.Op) {
	switch {
	case op.Kind == history.Acquire:
		r.again(op)
	case op.Kind == history.Release:
		if r.levels--; r.levels <= 0 || op.Outcome == history.LossReported {
			r.end, r.ended = interval.Call(op), true
		}
	case op.Kind == history.Lost, op.Outcome == history.LossReported:
		r.end, r.ended = interval.Call(op), true
	case op.Kind == history.Extend || op.Kind == history.Renew:
		r.extend(op)
	}
	r.demoteNested(op)
}

// demoteNested applies, after the call of op, that the lease may end now before some nested
// acquires return: each of these may be a new grant.
func (r *replay) demoteNested(op *history.Op) {
	r.nested = slices.DeleteFunc(r.nested, func(n *history.Op) bool {
		over := n != op && (sequential(n, op) || interval.Return(n).Before(interval.Call(op)))
		late := !over && n.Return >= r.until
		if late {
			r.levels--
			r.late = append(r.late, n)
		}
		return over || late
	})
}

func (r *replay) first(op *history.Op) {
	r.levels = 1
	from := op.Attempt
	if from == history.NoStamp {
		from = op.Call
	}
	if r.rules.HiddenRenewals && op.Outcome == history.OK {
		r.minUnknown = min(r.minUnknown, interval.Lease(op))
	}
	if op.Outcome == history.OK && from != history.NoStamp {
		r.begin(op, from, interval.After(from, min(interval.Lease(op), r.cap)))
	}
}

// startLate begins the segments of the late operations that have returned.
func (r *replay) startLate(returned func(*history.Op) bool) {
	slices.SortStableFunc(r.late, func(a, b *history.Op) int {
		return cmp.Or(cmp.Compare(a.Return, b.Return), cmp.Compare(a.ReturnSeq, b.ReturnSeq))
	})
	r.late = slices.DeleteFunc(r.late, func(op *history.Op) bool {
		landed := returned(op)
		if landed {
			r.reopen(op)
		}
		return landed
	})
}

func (r *replay) reopen(op *history.Op) {
	from := op.Call
	if op.Kind == history.Acquire {
		r.levels, from = 1, interval.Start(op)
	} else if r.mayRegrant(op) {
		r.levels = 1
	}
	r.begin(op, from, interval.After(from, r.shortestLease(op, interval.Return(op))))
}

// mayRegrant reports whether an acquire of unknown outcome may have granted the key once more
// before op returned.
func (r *replay) mayRegrant(op *history.Op) bool {
	known := func(o *history.Op) bool { return !interval.Return(op).Before(interval.Return(o)) }
	return slices.ContainsFunc(r.all, func(a *history.Op) bool {
		called := interval.Call(a).Before(interval.Return(op)) || interval.Call(a) == interval.Return(op) && !sequential(a, op)
		return called && r.unknownAcquire(a, op, known)
	})
}

// unknownAcquireBefore reports whether an acquire of unknown outcome that may grant the key once
// more was called before op.
func (r *replay) unknownAcquireBefore(op *history.Op) bool {
	known := func(o *history.Op) bool {
		return interval.Return(o).Before(interval.Call(op)) || sequential(o, op) && !interval.Call(op).Before(interval.Return(o))
	}
	before := r.all[:max(0, slices.Index(r.all, op))]
	return slices.ContainsFunc(before, func(a *history.Op) bool { return r.unknownAcquire(a, op, known) })
}

// unknownAcquire reports whether a is an acquire of unknown outcome by the client of op that may
// have granted the key once more. The first acquire of the hold counts only if another one was
// known to be granted.
func (r *replay) unknownAcquire(a, op *history.Op, known func(*history.Op) bool) bool {
	if a.Client != op.Client || a.Kind != history.Acquire || a.Outcome != history.Unknown {
		return false
	}
	return a != r.ops[0] || slices.ContainsFunc(r.ops[1:], func(o *history.Op) bool {
		return o.Kind == history.Acquire && o.Outcome == history.OK && known(o)
	})
}

// begin opens a segment at the return of op, unless its lease is over by then.
func (r *replay) begin(op *history.Op, from, until int64) {
	if op.Return >= until || r.end.Before(interval.Return(op)) {
		return
	}
	if r.open && op.Return < r.until { // the open segment goes on
		r.until = max(r.until, until)
		r.renewed = r.renewed && (op.Kind == history.Renew || r.segment.Start.Before(interval.Return(op)))
		return
	}
	if r.open {
		r.finish()
	}
	r.open, r.until = true, until
	r.renewed = op.Kind == history.Renew
	r.segment = Segment{Client: op.Client, Attempt: interval.Stamp{T: from}, Start: interval.Return(op)}
}

// finish ends the open segment, and keeps it unless it is empty.
func (r *replay) finish() {
	r.segment.End = interval.Earlier(r.end, interval.Stamp{T: r.until})
	point := r.segment.End == r.segment.Start && !r.renewed && !r.endedInBackground()
	if (point || r.segment.Start.Before(r.segment.End)) && r.segment.Start.Before(interval.Stamp{T: r.until}) {
		r.done = append(r.done, r.segment)
	}
}

// endedInBackground reports whether a renewal or Lost(), and not a call of the client, ended the
// hold at the instant r.end.
func (r *replay) endedInBackground() bool {
	return slices.ContainsFunc(r.applied, func(op *history.Op) bool {
		told := op.Kind == history.Lost || op.Kind == history.Renew && op.Outcome == history.LossReported
		return told && interval.Call(op) == r.end
	})
}

// again applies a second acquire under the hold.
func (r *replay) again(op *history.Op) {
	if r.rules.HiddenRenewals && (op.Outcome == history.OK || op.Outcome == history.Unknown) {
		r.minUnknown = min(r.minUnknown, interval.Lease(op))
		r.until = min(r.until, interval.After(op.Call, interval.Lease(op)))
	}
	if op.Outcome != history.OK {
		if op.Outcome == history.Unknown {
			r.until = min(r.until, interval.After(op.Call, r.rules.UnknownLease(op)))
		}
		return
	}
	until := interval.After(interval.Start(op), r.shortestLease(op, interval.Call(op)))
	retried := !r.rules.Nested && op.Attempts > 1
	if retried {
		until = interval.After(op.Call, r.shortestLease(op, interval.Call(op)))
	}
	switch {
	case r.open && op.Return < r.until && r.rules.Nested:
		r.levels++
		r.until = max(r.until, until)
		r.nested = append(r.nested, op)
	case r.open && op.Return < r.until && !retried:
		r.until = until
	default:
		if !r.rules.Nested {
			r.until = min(r.until, until)
		}
		r.late = append(r.late, op)
	}
}

func (r *replay) extend(op *history.Op) {
	switch {
	case op.Outcome == history.Unknown || op.Outcome == history.OK && r.early(op):
		r.until = min(r.until, interval.After(op.Call, r.lease(op)))
	case op.Outcome != history.OK:
	case r.open && op.Call < r.until && r.rules.Joins() && (op.Kind == history.Renew || r.unknownAcquireBefore(op)) && op.Return >= r.until:
		r.until = min(r.until, interval.After(op.Call, r.shortestLease(op, interval.Call(op))))
		r.late = append(r.late, op)
	case r.open && op.Call < r.until:
		r.until = interval.After(op.Call, r.shortestLease(op, interval.Call(op)))
	default:
		r.late = append(r.late, op)
	}
}

// early reports whether op is a renewal that was called before the first acquire returned, so that
// the acquire may have taken effect after it.
func (r *replay) early(op *history.Op) bool {
	first := r.ops[0]
	return op.Kind == history.Renew && first.Outcome == history.OK && !interval.Return(first).Before(interval.Call(op))
}

// shortestLease returns the shortest lease, in ns, that is in effect after op: its own, or one set
// by an operation that was called by at and may take effect after op.
func (r *replay) shortestLease(op *history.Op, at interval.Stamp) int64 {
	ttl := min(interval.Lease(op), r.cap, r.minUnknown)
	place := slices.Index(r.ops, op)
	for i, other := range r.ops {
		sets := other.Kind == history.Extend || other.Kind == history.Renew || other.Kind == history.Acquire && !r.rules.Nested
		later := i > place && sequential(other, op)
		if other == op || !sets || later || at.Before(interval.Call(other)) {
			continue
		}
		maybe := other.Outcome == history.Unknown || other.Outcome == history.OK && r.early(other)
		overlaps := other.Outcome == history.OK && other != r.ops[0] && !sequential(other, op) && !interval.Return(other).Before(interval.Call(op))
		switch {
		case maybe && other.Kind == history.Acquire:
			ttl = min(ttl, r.rules.UnknownLease(other))
		case maybe || overlaps:
			ttl = min(ttl, r.lease(other))
		}
	}
	return ttl
}

// lease returns the shortest lease, in ns, that op may have set. A renewal without a recorded lease
// has the shortest lease of the acquires before it.
func (r *replay) lease(op *history.Op) int64 {
	if !interval.InheritsLease(op) {
		return interval.Lease(op)
	}
	ttl := r.cap
	for _, other := range r.ops[:slices.Index(r.ops, op)] {
		if other.Kind == history.Acquire {
			ttl = min(ttl, interval.Lease(other))
		}
	}
	return ttl
}
