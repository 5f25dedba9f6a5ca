package checker

import (
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/history"
)

// porcupine is asked about keys with few operations only: its search is
// exponential in what is under way at one time.
const (
	smallOps     = 24
	smallKeys    = 512 / partitions // of each partition: bounds what is kept for it, and with smallTimeout how long it takes
	smallTimeout = 100 * time.Millisecond
)

// small keeps the operations of a key as long as they are few.
type small struct {
	ops  []*history.Op
	many bool
}

// keep keeps op for the cross-check of k, unless k has many operations or many
// other keys are kept already.
func (c *Checker) keep(k *key, op *history.Op) {
	s := &k.few
	switch {
	case c.brief || s.many || op.Kind == history.Read || op.Kind == history.Write:
	case len(s.ops) == smallOps:
		s.ops, s.many = nil, true
		k.partition.small--
	case len(s.ops) == 0 && k.partition.small == smallKeys:
		s.many = true
	default:
		if len(s.ops) == 0 {
			k.partition.small++
		}
		s.ops = append(s.ops, op)
	}
}

// lockOp is an operation of the specification: a take of the lock, or the chance
// that it is freed.
type lockOp struct {
	segment int
	client  int32
	take    bool
}

// lockState is who has the lock, and by which take.
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

// linearizable asks porcupine whether the segments can be put in one order that
// the specification allows.
func linearizable(all []segment, timeout time.Duration) porcupine.CheckResult {
	rank := ranks(all)
	var ops []porcupine.Operation
	for i, s := range all {
		ops = append(ops,
			porcupine.Operation{
				ClientId: 2 * i, Input: lockOp{i, s.client, true},
				Call: rank(s.attempt), Return: rank(s.start),
			},
			porcupine.Operation{
				ClientId: 2*i + 1, Input: lockOp{i, s.client, false},
				Call: rank(s.end), Return: math.MaxInt64,
			})
	}
	return porcupine.CheckOperationsTimeout(lockModel, ops, timeout)
}

// crossCheck holds the sweep's verdict on exclusion against porcupine's, on keys
// that are small enough, and against the occupancy monitor's.
func (c *Checker) crossCheck(t history.Trailer) {
	for _, k := range c.sorted() {
		// The monitor counts entries, the sweep pairs of must-hold intervals: one pair may be
		// entered many times, so that only none against some is a contradiction.
		if n := t.MonitorOverlaps[k.name]; n > 0 && k.conflicts+k.cuts == 0 && !c.partial {
			c.defect("the occupancy monitor saw %d overlaps on key %q, the sweep none", n, k.name)
		}
		if k.few.many || len(k.few.ops) < 2 {
			continue
		}
		verdict := linearizable(segmentsOf(k.few.ops, c.departed, c.rules), smallTimeout)
		if verdict == porcupine.Unknown {
			continue
		}
		c.result.CrossChecked++
		if sound := verdict == porcupine.Ok; sound != (k.conflicts == 0) {
			c.defect("porcupine finds key %q sound: %t, yet the sweep found %d conflicts", k.name, sound, k.conflicts)
		}
	}
}

func (c *Checker) defect(format string, args ...any) {
	c.result.Defects = append(c.result.Defects, fmt.Sprintf(format, args...))
}
