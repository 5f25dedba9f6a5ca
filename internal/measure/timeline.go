package measure

import (
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/series"
)

// A Timeline has counts by time over the whole run, warm-up included, by the stamps of
// answers to clients. Its size does not depend on the length of the run.
type Timeline struct {
	// Grants are new holds and Refused acquires that were refused; Troubled are
	// operations on the lock that failed, were answered lost, or are unknown.
	Grants, Refused, Troubled series.Counts
	// Slowest is the longest acquire granted, in ns.
	Slowest series.Peaks
	// Faults has one entry per kind of fault, in the order of their first occurrences.
	Faults []FaultLine

	paused map[int32]bool // clients that are paused
}

func (t *Timeline) add(ev history.Event) {
	op := ev.Op
	switch {
	case ev.Phase == history.Return && isLockOp(op.Kind):
		t.returned(op, op.Return)
	case ev.Phase == history.Call && op.Return == history.Never && isLockOp(op.Kind):
		t.returned(op, op.Call)
	case ev.Phase == history.Call && op.Kind >= history.Death:
		t.event(op)
	}
}

func (t *Timeline) returned(op *history.Op, at int64) {
	switch op.Outcome {
	case history.Refused:
		t.Refused.Add(at, 1)
	case history.LossReported, history.Failed, history.Unknown:
		t.Troubled.Add(at, 1)
	}
}

// granted records a new hold.
func (t *Timeline) granted(op *history.Op) {
	t.Grants.Add(op.Return, 1)
	t.Slowest.Add(op.Return, op.Return-op.Call)
}
