package checker

import (
	"cmp"
	"math"
	"slices"

	"github.com/lockbench/lockbench/history"
)

// A segment is one stretch of a hold's must-hold interval. Unlike the sweep, what computes it
// here sees the whole history of the key at once and shares no state with it: it
// is the second opinion on what the must-hold intervals are.
type segment struct {
	client     int32
	attempt    stamp // the grant took effect here at the earliest
	start, end stamp
}

// segmentsOf returns the must-hold intervals of every hold in ops, the operations on one key in
// the order of their calls. departed are deaths and cuts of clients.
func segmentsOf(ops, departed []*history.Op, rules rules) []segment {
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
	var all []segment
	var replays []*replay
	for _, id := range holds {
		acquireFirst(byHold[id])
		inherited := int64(math.MaxInt64)
		for rest := byHold[id]; len(rest) > 0 && rest[0].Kind == history.Acquire; {
			r := &replay{ops: rest, rules: rules, end: endFromOutside(rest[0], ops, departed), cap: inherited, unsure: math.MaxInt64}
			if !rules.nested || rules.unseen {
				r.cap = min(r.cap, capFromOutside(rest[0], ops, rules))
			}
			if rules.joins() {
				r.besides(ops, replays)
			}
			replays = append(replays, r)
			rest = r.run()
			all = append(all, r.done...)
			inherited = r.left(rest)
		}
	}
	return all
}

// acquireFirst puts an acquire before the renewals that have its stamp.
func acquireFirst(ops []*history.Op) {
	i := slices.IndexFunc(ops, func(op *history.Op) bool { return op.Kind == history.Acquire })
	if i > 0 && ops[0].Kind == history.Renew && callOf(ops[0]) == callOf(ops[i]) {
		acquire := ops[i]
		copy(ops[1:], ops[:i])
		ops[0] = acquire
	}
}

// inTurn tells whether one of two operations was called after the other returned,
// whatever their stamps: they are calls of one client.
func inTurn(a, b *history.Op) bool {
	return a.Stream == b.Stream && a.Kind != history.Renew && b.Kind != history.Renew
}

// left is the shortest lease that an operation of r may still set once the first
// of rest, which begins the hold anew, is under way.
func (r *replay) left(rest []*history.Op) int64 {
	ttl := r.cap
	if len(rest) == 0 {
		return ttl
	}
	for _, op := range r.ops[:len(r.ops)-len(rest)] {
		sets := op.Kind == history.Extend || op.Kind == history.Renew
		flying := !inTurn(op, rest[0]) && !returnOf(op).before(callOf(rest[0]))
		if sets && (op.Outcome == history.Unknown || op.Outcome == history.OK && (flying || r.early(op))) {
			ttl = min(ttl, r.lease(op))
		}
	}
	return ttl
}

// endFromOutside is where something other than the hold's own calls ends it: its
// client's death, the end of its record, or its turning to a new grant.
func endFromOutside(first *history.Op, ops, departed []*history.Op) stamp {
	end := forever
	for _, op := range departed {
		if op.Client == first.Client && !callOf(op).before(callOf(first)) {
			end = earlier(end, callOf(op))
		}
	}
	for _, op := range ops[slices.Index(ops, first):] {
		granted := op.Outcome == history.OK || op.Outcome == history.Unknown
		if op.Kind == history.Acquire && granted && op.Client == first.Client && op.Hold != first.Hold {
			end = earlier(end, callOf(op))
		}
	}
	return end
}

// capFromOutside is the shortest lease that an acquire of the same client whose
// outcome is unknown, called before first, may still set, or a renewal for any of
// its acquires.
func capFromOutside(first *history.Op, ops []*history.Op, rules rules) int64 {
	ttl := int64(math.MaxInt64)
	for _, op := range ops[:slices.Index(ops, first)] {
		unknown := op.Outcome == history.Unknown && !rules.nested
		renewed := op.Outcome == history.Unknown || op.Outcome == history.OK
		renewed = renewed && rules.unseen && rules.joins()
		if op.Kind == history.Acquire && (unknown || renewed) && op.Client == first.Client {
			ttl = min(ttl, lease(op))
		}
	}
	return ttl
}

// A replay goes through the operations of one hold in order.
type replay struct {
	ops    []*history.Op
	mine   []*history.Op // those before the hold began anew
	all    []*history.Op // of all holds, in order
	asides []aside
	rules  rules
	end    stamp
	ended  bool  // by an operation of its own
	cap    int64 // no lease is sure to be longer
	unsure int64 // nor than this, from now on

	done []segment
	open bool
	cur  segment
	// renewed: cur was opened by a renewal, concurrent with its client's calls.
	renewed bool
	until   int64
	levels  int
	late    []*history.Op // to begin a segment at their return
}

// run returns the operations left when an acquire begins the ended hold anew.
func (r *replay) run() (rest []*history.Op) {
	r.mine = r.ops
	r.first(r.ops[0])
	for i, op := range r.ops[1:] {
		r.asidesBefore(op)
		r.land(func(l *history.Op) bool { return inTurn(l, op) || returnOf(l).before(callOf(op)) })
		granted := op.Outcome == history.OK || op.Outcome == history.Unknown
		if r.ended && op.Kind == history.Acquire && granted {
			rest = r.ops[i+1:]
			break
		}
		if r.over(op) {
			continue
		}
		r.apply(op)
	}
	if rest == nil {
		r.asidesBefore(nil)
	}
	r.land(func(*history.Op) bool { return true })
	r.mine = r.ops[:len(r.ops)-len(rest)]
	if r.open {
		r.finish()
	}
	return rest
}

// over tells whether the hold had ended when op was called. At the very instant
// of its client's death, the client's own calls came first.
func (r *replay) over(op *history.Op) bool {
	if r.ended || op.Kind == history.Renew {
		return !callOf(op).before(r.end)
	}
	return r.end.before(callOf(op))
}

func (r *replay) apply(op *history.Op) {
	switch {
	case op.Kind == history.Acquire:
		r.again(op)
	case op.Kind == history.Release:
		if r.levels--; r.levels <= 0 || op.Outcome == history.LossReported {
			r.end, r.ended = callOf(op), true
		}
	case op.Kind == history.Lost, op.Outcome == history.LossReported:
		r.end, r.ended = callOf(op), true
	case op.Kind == history.Extend || op.Kind == history.Renew:
		r.extend(op)
	}
}

func (r *replay) first(op *history.Op) {
	r.levels = 1
	from := op.Attempt
	if from == history.NoStamp {
		from = op.Call
	}
	if r.rules.unseen && op.Outcome == history.OK {
		r.unsure = min(r.unsure, lease(op))
	}
	if op.Outcome == history.OK && from != history.NoStamp {
		r.begin(op, from, after(from, min(lease(op), r.cap)))
	}
}

// land begins the segments of the late operations that have returned, by when.
func (r *replay) land(returned func(*history.Op) bool) {
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
		r.levels, from = 1, startOf(op)
	} else if r.maybeAnew(op) {
		r.levels = 1
	}
	r.begin(op, from, after(from, r.surely(op, returnOf(op))))
}

// maybeAnew tells whether an acquire of unknown outcome may have granted the key
// anew before op returned.
func (r *replay) maybeAnew(op *history.Op) bool {
	return slices.ContainsFunc(r.all, func(a *history.Op) bool {
		silent := a.Client == op.Client && a.Kind == history.Acquire && a.Outcome == history.Unknown && a != r.ops[0]
		return silent && (callOf(a).before(returnOf(op)) || callOf(a) == returnOf(op) && !inTurn(a, op))
	})
}

// silentBefore tells whether an acquire of unknown outcome was called before op.
func (r *replay) silentBefore(op *history.Op) bool {
	before := r.all[:max(0, slices.Index(r.all, op))]
	return slices.ContainsFunc(before, func(a *history.Op) bool {
		return a.Client == op.Client && a.Kind == history.Acquire && a.Outcome == history.Unknown && a != r.ops[0]
	})
}

// begin opens a segment at the return of op unless it would be over by then.
func (r *replay) begin(op *history.Op, from, until int64) {
	if op.Return >= until || r.end.before(returnOf(op)) {
		return
	}
	if r.open && op.Return < r.until { // the must-hold interval goes on
		r.until = max(r.until, until)
		r.renewed = r.renewed && (op.Kind == history.Renew || r.cur.start.before(returnOf(op)))
		return
	}
	if r.open {
		r.finish()
	}
	r.open, r.until = true, until
	r.renewed = op.Kind == history.Renew
	r.cur = segment{client: op.Client, attempt: stamp{t: from}, start: returnOf(op)}
}

func (r *replay) finish() {
	r.cur.end = earlier(r.end, stamp{t: r.until})
	point := r.cur.end == r.cur.start && !r.renewed && !r.unasked()
	if (point || r.cur.start.before(r.cur.end)) && r.cur.start.before(stamp{t: r.until}) {
		r.done = append(r.done, r.cur)
	}
}

// unasked tells whether something in the background ended the hold at the
// instant of its end.
func (r *replay) unasked() bool {
	return slices.ContainsFunc(r.mine, func(op *history.Op) bool {
		told := op.Kind == history.Lost || op.Kind == history.Renew && op.Outcome == history.LossReported
		return told && callOf(op) == r.end
	})
}

func (r *replay) again(op *history.Op) {
	if r.rules.unseen && (op.Outcome == history.OK || op.Outcome == history.Unknown) {
		r.unsure = min(r.unsure, lease(op))
		r.until = min(r.until, after(op.Call, lease(op)))
	}
	if op.Outcome != history.OK {
		if op.Outcome == history.Unknown && !r.rules.nested {
			r.until = min(r.until, after(op.Call, lease(op)))
		}
		return
	}
	until := after(startOf(op), r.surely(op, callOf(op)))
	retried := !r.rules.nested && op.Attempts > 1
	if retried {
		until = after(op.Call, r.surely(op, callOf(op)))
	}
	switch {
	case r.open && op.Return < r.until && r.rules.nested:
		r.levels++
		r.until = max(r.until, until)
	case r.open && op.Return < r.until && !retried:
		r.until = until
	default:
		if !r.rules.nested {
			r.until = min(r.until, until)
		}
		r.late = append(r.late, op)
	}
}

func (r *replay) extend(op *history.Op) {
	switch {
	case op.Outcome == history.Unknown || op.Outcome == history.OK && r.early(op):
		r.until = min(r.until, after(op.Call, r.lease(op)))
	case op.Outcome != history.OK:
	case r.open && op.Call < r.until && r.rules.joins() && (op.Kind == history.Renew || r.silentBefore(op)) && op.Return >= r.until:
		r.until = min(r.until, after(op.Call, r.surely(op, callOf(op))))
		r.late = append(r.late, op)
	case r.open && op.Call < r.until:
		r.until = after(op.Call, r.surely(op, callOf(op)))
	default:
		r.late = append(r.late, op)
	}
}

// early tells whether op, a renewal, was called before the acquire had returned,
// so that the acquire may have taken effect after it.
func (r *replay) early(op *history.Op) bool {
	first := r.ops[0]
	return op.Kind == history.Renew && first.Outcome == history.OK && !returnOf(first).before(callOf(op))
}

// surely is the shortest lease among op's and those that may be applied after
// it: of the operations asked for by at, those that are not over before op's call.
func (r *replay) surely(op *history.Op, at stamp) int64 {
	ttl := min(lease(op), r.cap, r.unsure)
	place := slices.Index(r.ops, op)
	for i, other := range r.ops {
		sets := other.Kind == history.Extend || other.Kind == history.Renew || other.Kind == history.Acquire && !r.rules.nested
		later := i > place && inTurn(other, op)
		if other == op || !sets || later || at.before(callOf(other)) {
			continue
		}
		maybe := other.Outcome == history.Unknown || other.Outcome == history.OK && r.early(other)
		overlaps := other.Outcome == history.OK && other != r.ops[0] && !inTurn(other, op) && !returnOf(other).before(callOf(op))
		if maybe || overlaps {
			ttl = min(ttl, r.lease(other))
		}
	}
	return ttl
}

// lease is the shortest lease that op may have set: where a renewal does not tell,
// that of an acquire before it.
func (r *replay) lease(op *history.Op) int64 {
	if !untold(op) {
		return lease(op)
	}
	ttl := r.cap
	for _, other := range r.ops[:slices.Index(r.ops, op)] {
		if other.Kind == history.Acquire {
			ttl = min(ttl, lease(other))
		}
	}
	return ttl
}

// inConflict is the definition itself: it compares every two segments.
func inConflict(all []segment) bool {
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.client != b.client && a.start.before(b.end) && b.start.before(a.end) {
				return true
			}
		}
	}
	return false
}

// ranks numbers the stamps of segments densely, equal ones alike.
func ranks(all []segment) func(stamp) int64 {
	var stamps []stamp
	for _, s := range all {
		stamps = append(stamps, s.attempt, s.start, s.end)
	}
	order := func(a, b stamp) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.seq, b.seq))
	}
	slices.SortFunc(stamps, order)
	stamps = slices.Compact(stamps)
	return func(s stamp) int64 {
		i, _ := slices.BinarySearchFunc(stamps, s, order)
		return int64(i)
	}
}
