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

// InConflict is the definition itself: it compares every two segments.
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

// Linearizable asks porcupine whether the segments can be put in one order that the
// specification allows. Its search is exponential in what is under way at one time: unless
// it ends within the timeout nothing is known. A timeout of zero is none.
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

// lockOp is an operation of the specification: a take of the lock, or the chance
// that it is freed.
type lockOp struct {
	segment int
	client  int32
	take    bool
}

// lockState is which client has the lock, and by which take.
type lockState struct {
	held    bool
	client  int32
	segment int
}

// lockModel is the specification: the lock is free or with one owner; taking it
// needs it free or one's own; from its must-hold interval's end on it may be freed at any time,
// and need not be. Refusals are legal in every state and do not appear.
var lockModel = porcupine.Model{
	Init: func() any { return lockState{} },
	Step: func(state, input, _ any) (bool, any) {
		s, op := state.(lockState), input.(lockOp)
		switch {
		case op.take:
			own := s.client == op.client && s.segment < op.segment // in the client's order, also where stamps tie
			return !s.held || own, lockState{true, op.client, op.segment}
		case s.held && s.segment == op.segment:
			return true, lockState{}
		}
		return true, s
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
}

// ranks numbers the stamps of segments densely, equal ones alike.
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
