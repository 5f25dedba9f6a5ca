package pending

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// Faults are those that have befallen a history so far. Flush, StateLost and FailedOver are the
// newest events of their kind, nil while there is none, and Restart the newer of the last two.
type Faults struct {
	Flush, Restart, StateLost, FailedOver *history.Op

	Evicting, Stepping bool // the server goes on forgetting keys
	Delayed            bool // answers came late, or not at all, for a time

	FlushMet bool  // the flush met a held lock or an operation under way
	Errors   bool  // an operation ended in an error of no known class before any flush
	Skew     int64 // the largest offset of a clock, in ns
	Offset   int64 // how far the server's clock was stepped ahead, in ns
	// Occurred are the conditions that have occurred, but for Outlived and standstills.
	Occurred lockbench.Conditions
}

// Flushed applies script flush op, at which a lock was held or an operation under way, or none.
func (f *Faults) Flushed(op *history.Op, met bool) {
	f.Occurred |= lockbench.ScriptFlush
	f.Flush, f.FlushMet = op, f.FlushMet || met
}

// Forgot applies event op: the server forgot grants for this cause.
func (f *Faults) Forgot(op *history.Op, cause lockbench.Conditions) {
	f.Occurred |= cause
	f.Restart = op
	if cause == lockbench.Failover {
		f.FailedOver = op
	} else {
		f.StateLost = op
	}
}

// SetOff applies that a clock is ahead by offset ns.
func (f *Faults) SetOff(offset int64) {
	f.Occurred |= lockbench.Skew
	f.Skew = max(f.Skew, offset, -offset)
}

// Forgetting reports whether the server goes on forgetting keys.
func (f *Faults) Forgetting() bool { return f.Evicting || f.Stepping }

// ForgotSince returns the conditions under which the server forgot something since s.
func (f *Faults) ForgotSince(s interval.Stamp) (under lockbench.Conditions) {
	if f.Forgetting() || f.StateLost != nil && s.Before(interval.Call(f.StateLost)) {
		under |= lockbench.StateLoss
	}
	if f.FailedOver != nil && s.Before(interval.Call(f.FailedOver)) {
		under |= lockbench.Failover
	}
	return under
}

// Lasting are the conditions that touch everything from their first time on.
func (f *Faults) Lasting() lockbench.Conditions {
	if f.Skew != 0 {
		return lockbench.Skew
	}
	return 0
}
