package pending

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// Faults are the faults in a history so far. Flush, StateLost and FailedOver are the newest events
// of their kind, nil if there is none; Restart is the newer of the last two.
type Faults struct {
	Flush, Restart, StateLost, FailedOver *history.Op

	// Windows counts the open spans in which the server keeps forgetting keys: those of a watcher
	// overlap, since each begins at the look before the one that ended the last.
	Windows  int
	Stepping bool // as a window, while its clock is stepped ahead
	Delayed  bool // answers came late, or not at all, for a time

	FlushMet bool  // a lock was held, or an operation under way, at a flush
	Skew     int64 // the largest offset of a clock, in ns
	Offset   int64 // how far the server's clock was stepped ahead, in ns
	// Occurred are the conditions so far, apart from Outlived and standstills.
	Occurred lockbench.Conditions

	strikes [len(striking)]int64 // numbers of faults that brought each striking condition
}

// striking are the conditions that one fault of a server brings on all keys at once.
var striking = [...]lockbench.Conditions{lockbench.ScriptFlush, lockbench.StateLoss, lockbench.Failover}

// Struck counts a fault that brings these conditions.
func (f *Faults) Struck(brings lockbench.Conditions) {
	for i, one := range striking {
		if brings.Has(one) {
			f.strikes[i]++
		}
	}
}

// Strikes returns the number of faults that can have brought all striking conditions of under, and
// false if under has none. It is at least 1: a record may lack the event that began a fault.
func (f *Faults) Strikes(under lockbench.Conditions) (n int64, found bool) {
	for i, one := range striking {
		if under.Has(one) && (!found || f.strikes[i] < n) {
			n, found = f.strikes[i], true
		}
	}
	return max(1, n), found
}

// Flushed applies script flush op. met is set if a lock was held, or an operation under way.
func (f *Faults) Flushed(op *history.Op, met bool) {
	f.Occurred |= lockbench.ScriptFlush
	f.Flush, f.FlushMet = op, f.FlushMet || met
}

// Forgot applies event op, by which the server forgot grants.
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
func (f *Faults) Forgetting() bool { return f.Windows > 0 || f.Stepping }

// ForgotSince returns the conditions under which the server forgot grants since s.
func (f *Faults) ForgotSince(s interval.Stamp) (under lockbench.Conditions) {
	if f.Forgetting() || f.StateLost != nil && s.Before(interval.Call(f.StateLost)) {
		under |= lockbench.StateLoss
	}
	if f.FailedOver != nil && s.Before(interval.Call(f.FailedOver)) {
		under |= lockbench.Failover
	}
	return under
}

// Lasting returns the conditions that touch everything after they first occurred.
func (f *Faults) Lasting() lockbench.Conditions {
	if f.Skew != 0 {
		return lockbench.Skew
	}
	return 0
}
