package pending

import (
	"math/bits"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// Faults are the faults in a history so far. Flush is the newest script flush, Restart the newest loss
// of grants, nil if there is none.
type Faults struct {
	Flush, Restart *history.Op
	// forgot has the newest loss of grants by each forgetful condition, by its bit.
	forgot [16]*history.Op

	// windows counts the open windows, in which the server keeps forgetting keys. The windows of a
	// watcher overlap: each begins at the look before the look that ended the last window. forgetting
	// are the conditions of the windows since the first open one began, inWindow the striking conditions
	// since then: a watcher records a fault at both ends.
	windows              int
	forgetting, inWindow lockbench.Conditions
	Stepping             bool // set while the server's clock is stepped ahead, which forgets keys as a window does
	Delayed              bool // answers came late, or not at all, for a time
	// ServerDelayed is the newest such time of the server, nil if there is none.
	ServerDelayed *history.Op

	FlushMet bool  // a lock was held, or an operation under way, at a flush
	Skew     int64 // the largest offset of a clock, in ns
	Offset   int64 // how far the server's clock was stepped ahead, in ns
	// Occurred are the conditions so far, apart from Outlived and standstills.
	Occurred lockbench.Conditions

	strikes [16]int64 // numbers of faults that brought each striking condition, by its bit
}

// Forgetful are the conditions under which the server forgets grants.
const Forgetful = lockbench.StateLoss | lockbench.Failover | lockbench.SessionKilled

// Striking are the conditions that one fault of a server brings on all keys at once.
const Striking = lockbench.ScriptFlush | Forgetful

// OpenWindow applies that the server begins to forget keys, under cause.
func (f *Faults) OpenWindow(cause lockbench.Conditions) {
	f.windows++
	f.forgetting |= cause
}

// CloseWindow applies that one window is over. The server goes on forgetting keys if another is
// open.
func (f *Faults) CloseWindow() {
	if f.windows = max(0, f.windows-1); f.windows == 0 {
		f.forgetting, f.inWindow = 0, 0
	}
}

// Struck counts a fault that brings these conditions, each once within a window.
func (f *Faults) Struck(brings lockbench.Conditions) {
	if f.windows > 0 {
		brings &^= f.inWindow
		f.inWindow |= brings
	}
	for rest := brings & Striking; rest != 0; rest &= rest - 1 {
		f.strikes[bits.TrailingZeros16(uint16(rest))]++
	}
}

// Strikes returns the number of faults that can have brought all striking conditions of under, and
// false if under has none. It is at least 1: a record may lack the event that began a fault.
func (f *Faults) Strikes(under lockbench.Conditions) (n int64, found bool) {
	for rest := under & Striking; rest != 0; rest &= rest - 1 {
		if of := f.strikes[bits.TrailingZeros16(uint16(rest))]; !found || of < n {
			n, found = of, true
		}
	}
	return max(1, n), found
}

// Flushed applies script flush op. met is set if a lock was held, or an operation under way.
func (f *Faults) Flushed(op *history.Op, met bool) {
	f.Occurred |= lockbench.ScriptFlush
	f.Flush, f.FlushMet = op, f.FlushMet || met
}

// Forgot applies event op: the server forgot grants, under cause, a set of one.
func (f *Faults) Forgot(op *history.Op, cause lockbench.Conditions) {
	f.Occurred |= cause
	f.Restart = op
	f.forgot[bits.TrailingZeros16(uint16(cause))] = op
}

// SetOff applies that a clock is ahead by offset ns.
func (f *Faults) SetOff(offset int64) {
	f.Occurred |= lockbench.Skew
	f.Skew = max(f.Skew, offset, -offset)
}

// Forgetting reports whether the server goes on forgetting keys.
func (f *Faults) Forgetting() bool { return f.windows > 0 || f.Stepping }

// ForgotSince returns the conditions under which the server forgot grants since s.
func (f *Faults) ForgotSince(s interval.Stamp) (under lockbench.Conditions) {
	under = f.forgetting
	if f.Stepping {
		under |= lockbench.StateLoss
	}
	for bit, op := range f.forgot {
		if op != nil && s.Before(interval.Call(op)) {
			under |= 1 << bit
		}
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
