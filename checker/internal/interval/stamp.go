package interval

import (
	"math"

	"github.com/lockbench/lockbench/history"
)

// A Stamp is a point in the order of a history: time in ns since its start, then sequence number.
// Equal stamps are concurrent. The end of a lease has sequence number 0 and so comes before every
// event of that instant: from then on the lock may be free.
type Stamp struct {
	T   int64
	Seq uint64
}

// Forever is later than every stamp of a history.
var Forever = Stamp{math.MaxInt64, math.MaxUint64}

// Before reports whether a certainly comes before b.
func (a Stamp) Before(b Stamp) bool { return a.T < b.T || a.T == b.T && a.Seq < b.Seq }

// Earlier returns the earlier of a and b.
func Earlier(a, b Stamp) Stamp {
	if b.Before(a) {
		return b
	}
	return a
}

// Later returns the later of a and b.
func Later(a, b Stamp) Stamp {
	if a.Before(b) {
		return b
	}
	return a
}

// Call returns the stamp of the call of op.
func Call(op *history.Op) Stamp { return Stamp{op.Call, op.CallSeq} }

// Return returns the stamp of the return of op.
func Return(op *history.Op) Stamp { return Stamp{op.Return, op.ReturnSeq} }

// LastTry returns the start of the last attempt of acquire op. Attempts have no sequence number; if
// the attempt began at the instant of the call, LastTry returns the stamp of the call.
func LastTry(op *history.Op) Stamp {
	if at := Start(op); at != op.Call {
		return Stamp{T: at}
	}
	return Call(op)
}
