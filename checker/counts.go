package checker

import "github.com/lockbench/lockbench/history"

// count adds op to the totals of the result.
func (c *Checker) count(op *history.Op) {
	if op.Kind >= history.Lost {
		return
	}
	r := &c.result
	r.Ops++
	switch op.Outcome {
	case history.Refused:
		r.Refused++
	case history.Unknown:
		r.Unknown++
	case history.LossReported:
		r.Lost++
	case history.Failed:
		r.Failed++
	}
}
