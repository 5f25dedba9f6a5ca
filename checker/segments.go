package checker

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench/history"
)

// A segment is one stretch of a hold's core. Unlike the sweep, what computes it
// here sees the whole history of the key at once and shares no state with it: it
// is the second opinion on what the cores are.
type segment struct {
	client     int32
	attempt    stamp // the grant took effect here at the earliest
	start, end stamp
}

// segmentsOf returns the cores of every hold in ops, the operations on one key in
// the order of their calls. departed are deaths and cuts of clients.
func segmentsOf(ops, departed []*history.Op, nested bool) []segment {
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
	for _, id := range holds {
		r := replay{ops: byHold[id], nested: nested, end: forever}
		if r.ops[0].Kind != history.Acquire || r.ops[0].Outcome == history.Unknown && r.ops[0].Return == history.Never {
			continue
		}
		r.end = endFromOutside(r.ops[0], ops, departed)
		all = append(all, r.run()...)
	}
	return all
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
	for _, op := range ops {
		granted := op.Outcome == history.OK || op.Outcome == history.Unknown
		if op.Kind == history.Acquire && granted && op.Client == first.Client && op.Hold != first.Hold && op.Call >= first.Return {
			end = earlier(end, callOf(op))
		}
	}
	return end
}

// A replay goes through the operations of one hold in order.
type replay struct {
	ops    []*history.Op
	nested bool
	end    stamp

	done   []segment
	open   bool
	cur    segment
	until  int64
	levels int
}

func (r *replay) run() []segment {
	for i, op := range r.ops {
		if !callOf(op).before(r.end) && i > 0 {
			break
		}
		switch {
		case i == 0:
			r.first(op)
		case op.Kind == history.Acquire:
			r.again(op)
		case op.Kind == history.Release:
			if r.levels--; r.levels <= 0 || op.Outcome == history.LossReported {
				r.end = callOf(op)
			}
		case op.Kind == history.Lost, op.Outcome == history.LossReported:
			r.end = callOf(op)
		case op.Kind == history.Extend || op.Kind == history.Renew:
			r.extend(op)
		}
	}
	if r.open {
		r.finish()
	}
	return r.done
}

func (r *replay) first(op *history.Op) {
	r.levels = 1
	from := op.Attempt
	if from == history.NoStamp && op.Wait == 0 {
		from = op.Call
	}
	if op.Outcome == history.OK && from != history.NoStamp {
		r.begin(op, from, after(from, lease(op)))
	}
}

// begin opens a segment at the return of op unless it would be over by then.
func (r *replay) begin(op *history.Op, from, until int64) {
	if op.Return >= until || !returnOf(op).before(r.end) {
		return
	}
	if r.open {
		r.finish()
	}
	r.open, r.until = true, until
	r.cur = segment{client: op.Client, attempt: stamp{t: from}, start: returnOf(op)}
}

func (r *replay) finish() {
	r.cur.end = earlier(r.end, stamp{t: r.until})
	r.done = append(r.done, r.cur)
}

func (r *replay) again(op *history.Op) {
	if op.Outcome != history.OK {
		if op.Outcome == history.Unknown && !r.nested {
			r.until = min(r.until, after(op.Call, lease(op)))
		}
		return
	}
	until := after(startOf(op), r.surely(op, callOf(op)))
	switch {
	case r.open && op.Return < r.until && r.nested:
		r.levels++
		r.until = max(r.until, until)
	case r.open && op.Return < r.until:
		r.until = until
	default:
		if !r.nested {
			r.until = min(r.until, until)
		}
		r.levels = 1
		r.begin(op, startOf(op), after(startOf(op), r.surely(op, returnOf(op))))
	}
}

func (r *replay) extend(op *history.Op) {
	switch {
	case op.Outcome == history.Unknown:
		r.until = min(r.until, after(op.Call, lease(op)))
	case op.Outcome != history.OK:
	case r.open && op.Call < r.until:
		r.until = after(op.Call, r.surely(op, callOf(op)))
	default:
		r.begin(op, op.Call, after(op.Call, r.surely(op, returnOf(op))))
	}
}

// surely is the shortest lease among op's and those that may be applied after it:
// asked for before at, and either still under way there or of unknown outcome.
func (r *replay) surely(op *history.Op, at stamp) int64 {
	ttl := lease(op)
	for i, other := range r.ops {
		sets := other.Kind == history.Extend || other.Kind == history.Renew || other.Kind == history.Acquire && i > 0 && !r.nested
		if other == op || !sets || at.before(callOf(other)) {
			continue
		}
		flying := other.Outcome == history.OK && other.Kind != history.Acquire && !returnOf(other).before(at) && other.Stream != op.Stream
		if other.Outcome == history.Unknown || flying {
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
