package crosscheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/checker/internal/interval"
)

// InConflict reports whether two owners held the key at once, by the definition: it compares every
// two segments.
func InConflict(all []Segment) bool {
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.Client != b.Client && a.Start.Before(b.End) && b.Start.Before(a.End) {
				return true
			}
		}
	}
	return false
}

// Linearizable reports whether porcupine finds an order of the segments that the specification
// allows, and whether that is known: the time of its search grows exponentially with the number of
// concurrent segments, and may exceed the timeout. A timeout of zero is none.
func Linearizable(all []Segment, timeout time.Duration) (sound, known bool) {
	rank := ranks(all)
	var ops []porcupine.Operation
	for i, s := range all {
		ops = append(ops,
			porcupine.Operation{
				ClientId: 2 * i, Input: lockOp{i, s.Client, true},
				Call: rank(s.Attempt), Return: rank(s.Start),
			},
			porcupine.Operation{
				ClientId: 2*i + 1, Input: lockOp{i, s.Client, false},
				Call: rank(s.End), Return: math.MaxInt64,
			})
	}
	result := porcupine.CheckOperationsTimeout(lockModel, ops, timeout)
	return result == porcupine.Ok, result != porcupine.Unknown
}

// A lockOp is an operation of the specification: a client takes the lock or, if take is false, the
// lock may become free.
type lockOp struct {
	segment int
	client  int32
	take    bool
}

// A lockState says whether the lock is held, and which client took it in which segment.
type lockState struct {
	held    bool
	client  int32
	segment int
}

// lockModel is the specification. A client may take the lock if it is free or the client's own.
// From the end of a must-hold interval on, the lock may become free at any time, but need not.
// Refusals are legal in every state and are left out.
var lockModel = porcupine.Model{
	Init: func() any { return lockState{} },
	Step: func(state, input, _ any) (bool, any) {
		s, op := state.(lockState), input.(lockOp)
		switch {
		case op.take:
			own := s.client == op.client && s.segment < op.segment // in the order of the client, even if stamps are equal
			return !s.held || own, lockState{true, op.client, op.segment}
		case s.held && s.segment == op.segment:
			return true, lockState{}
		}
		return true, s
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
}

// ranks returns a function that numbers the stamps of the segments densely; equal stamps get equal
// numbers.
func ranks(all []Segment) func(interval.Stamp) int64 {
	var stamps []interval.Stamp
	for _, s := range all {
		stamps = append(stamps, s.Attempt, s.Start, s.End)
	}
	order := func(a, b interval.Stamp) int {
		return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Seq, b.Seq))
	}
	slices.SortFunc(stamps, order)
	stamps = slices.Compact(stamps)
	return func(s interval.Stamp) int64 {
		i, _ := slices.BinarySearchFunc(stamps, s, order)
		return int64(i)
	}
}
