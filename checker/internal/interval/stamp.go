package interval

import (
	"math"

	"github.com/lockbench/lockbench/history"
)

// A Stamp is a point in the order of a history: time in ns since its start, then
// sequence number. Equal stamps are concurrent. The end of a lease carries no
// sequence number, so it comes before whatever happened at that instant: from
// then on the lock may be gone.
type Stamp struct {
	T   int64
	Seq uint64
}

// Forever is later than every stamp of a history.
var Forever = Stamp{math.MaxInt64, math.MaxUint64}

// Before reports whether a comes before b, for certain.
func (a Stamp) Before(b Stamp) bool { return a.T < b.T || a.T == b.T && a.Seq < b.Seq }

// Earlier is a, or b if that comes before it.
func Earlier(a, b Stamp) Stamp {
	if b.Before(a) {
		return b
	}
	return a
}

// Later is a, or b if that comes after it.
func Later(a, b Stamp) Stamp {
	if a.Before(b) {
		return b
	}
	return a
}

// Call is the stamp of the call of op.
func Call(op *history.Op) Stamp { return Stamp{op.Call, op.CallSeq} }

// Return is the stamp of the return of op.
func Return(op *history.Op) Stamp { return Stamp{op.Return, op.ReturnSeq} }

// LastTry is the start of the last attempt of acquire op, or its call where both
// are at one instant: attempts have no sequence numbers.
func LastTry(op *history.Op) Stamp {
	if at := Start(op); at != op.Call {
		return Stamp{T: at}
	}
	return Call(op)
}
