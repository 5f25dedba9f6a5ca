package checker

import (
	"math"

	"github.com/lockbench/lockbench/history"
)

// A stamp is a point in the order of a history: time in ns since its start, then
// sequence number. Equal stamps are concurrent. The end of a lease carries no
// sequence number, so it comes before whatever happened at that instant: from
// then on the lock may be gone.
type stamp struct {
	t   int64
	seq uint64
}

// forever is later than every stamp of a history.
var forever = stamp{math.MaxInt64, math.MaxUint64}

func (a stamp) before(b stamp) bool { return a.t < b.t || a.t == b.t && a.seq < b.seq }

func earlier(a, b stamp) stamp {
	if b.before(a) {
		return b
	}
	return a
}

func later(a, b stamp) stamp {
	if a.before(b) {
		return b
	}
	return a
}

func callOf(op *history.Op) stamp { return stamp{op.Call, op.CallSeq} }

func returnOf(op *history.Op) stamp { return stamp{op.Return, op.ReturnSeq} }

// after is t+d, or the end of time where that does not fit.
func after(t, d int64) int64 {
	if d > math.MaxInt64-max(t, 0) {
		return math.MaxInt64
	}
	return t + d
}
