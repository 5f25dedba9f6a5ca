package pending

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// A FencedGrant is a grant, of hold type H, with its fence. The zero FencedGrant is none.
type FencedGrant[H comparable] struct {
	Hold  H
	Fence uint64
}

// Fences are the fences of the grants of one key. They find the highest fence that was certainly
// granted before another grant. The zero Fences has no grants.
type Fences[H comparable] struct {
	Returned FencedGrant[H] // the highest fence of an acquire that returned
	ended    FencedGrant[H] // the highest fence of a grant with a past must-hold interval
	underWay []underWay[H]
}

// underWay is an acquire under way, and the highest fence that had returned when it was called.
type underWay[H comparable] struct {
	op    *history.Op
	floor FencedGrant[H]
}

// Called applies the call of an acquire.
func (k *Fences[H]) Called(op *history.Op) {
	if op.Fence > 0 && op.Outcome == history.OK {
		k.underWay = append(k.underWay, underWay[H]{op, k.Returned})
	}
}

// Pop removes op, which returned, and returns the highest fence that had returned when it was
// called. ok is false if op is unknown.
func (k *Fences[H]) Pop(op *history.Op) (floor FencedGrant[H], ok bool) {
	i := slices.IndexFunc(k.underWay, func(w underWay[H]) bool { return w.op == op })
	if i < 0 {
		return floor, false
	}
	floor = k.underWay[i].floor
	k.underWay = slices.Delete(k.underWay, i, i+1)
	return floor, true
}

// Above returns the higher of floor and the grants that have ended.
func (k *Fences[H]) Above(floor FencedGrant[H]) FencedGrant[H] {
	if k.ended.Fence > floor.Fence {
		return k.ended
	}
	return floor
}

// Return notes that g returned.
func (k *Fences[H]) Return(g FencedGrant[H]) {
	if g.Fence > k.Returned.Fence {
		k.Returned = g
	}
}

// End notes that the must-hold interval of g is over.
func (k *Fences[H]) End(g FencedGrant[H]) { k.ended = k.Above(g) }

// Forget applies that the server may count from anywhere: acquires under way have no floor.
func (k *Fences[H]) Forget() { *k = Fences[H]{} }

// Empty returns Fences without grants, which use the memory of k.
func (k *Fences[H]) Empty() Fences[H] { return Fences[H]{underWay: k.underWay[:0]} }
