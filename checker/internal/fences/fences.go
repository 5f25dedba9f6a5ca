// Package fences follows the numbers of one key's grants: which are higher than those that were certainly
// there before. What it means that one is not is the checker's.
package fences

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// A Grant is one by hold H, with its fence. The zero Grant is none.
type Grant[H comparable] struct {
	Hold  H
	Fence uint64
}

// A Key is what is known of one key. The zero Key has no grants.
type Key[H comparable] struct {
	Returned Grant[H] // the highest of those that returned
	ended    Grant[H] // the highest of those whose must-hold interval is over
	underWay []underWay[H]
}

// underWay is an acquire, and the highest grant that returned before it.
type underWay[H comparable] struct {
	op    *history.Op
	floor Grant[H]
}

// Called applies the call of an acquire.
func (k *Key[H]) Called(op *history.Op) {
	if op.Fence > 0 && op.Outcome == history.OK {
		k.underWay = append(k.underWay, underWay[H]{op, k.Returned})
	}
}

// Pop ends the wait for the return of op, and returns the highest grant that returned before it. It is not ok
// where nothing is known of op.
func (k *Key[H]) Pop(op *history.Op) (floor Grant[H], ok bool) {
	i := slices.IndexFunc(k.underWay, func(w underWay[H]) bool { return w.op == op })
	if i < 0 {
		return floor, false
	}
	floor = k.underWay[i].floor
	k.underWay = slices.Delete(k.underWay, i, i+1)
	return floor, true
}

// Above is the higher of floor and what ended.
func (k *Key[H]) Above(floor Grant[H]) Grant[H] {
	if k.ended.Fence > floor.Fence {
		return k.ended
	}
	return floor
}

// Return notes that g returned.
func (k *Key[H]) Return(g Grant[H]) {
	if g.Fence > k.Returned.Fence {
		k.Returned = g
	}
}

// End notes that the must-hold interval of g is over.
func (k *Key[H]) End(g Grant[H]) { k.ended = k.Above(g) }

// Forget applies that the server goes on counting anywhere: what is under way has no floor.
func (k *Key[H]) Forget() { *k = Key[H]{} }

// Empty is a Key without grants, in the memory of k.
func (k *Key[H]) Empty() Key[H] { return Key[H]{underWay: k.underWay[:0]} }
