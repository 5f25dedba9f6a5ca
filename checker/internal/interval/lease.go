package interval

import (
	"math"

	"github.com/lockbench/lockbench/history"
)

// Rules are how the design's operations are to be read.
type Rules struct {
	Nested         bool // a second acquire by the holder counts
	Refreshed      bool // it begins the lease anew
	HiddenRenewals bool // holds may be renewed in the background, and no event says so
}

// RulesOf are the rules that the header of a history gives.
func RulesOf(h history.Header) Rules {
	return Rules{Nested: h.Reacquire == "nested", Refreshed: h.Reacquire == "refreshed", HiddenRenewals: h.RenewsUnseen}
}

// Joins reports whether a client's acquire may join what it has left on the server.
func (r Rules) Joins() bool { return r.Nested || r.Refreshed }

// After is t+d, or the end of time where that does not fit.
func After(t, d int64) int64 {
	if d > math.MaxInt64-max(t, 0) {
		return math.MaxInt64
	}
	return t + d
}

// Start is the start of the attempt that succeeded, as far as it is known, in ns.
func Start(op *history.Op) int64 {
	if op.Attempt != history.NoStamp {
		return op.Attempt
	}
	return op.Call
}

// The bounds of a lease that the record does not tell, in ns: an owner certainly holds the key
// for the shortest, and may hold it for the longest, which no history outlasts. The longest is
// a lease all the same: the death of its owner does not end it, as it ends a grant without one.
const (
	shortest = 1
	longest  = math.MaxInt64 / 2
)

// TellsLease reports whether the record tells the lease that op granted, or may have granted.
func TellsLease(op *history.Op) bool { return op.Granted != history.NotTold }

// Lease is the shortest lease in ns that op may have granted: the one that it granted or, when
// its outcome is unknown, asked for; unbounded when it has none.
func Lease(op *history.Op) int64 {
	if !TellsLease(op) {
		return shortest
	}
	ttl := op.Granted
	if ttl == 0 && op.Outcome == history.Unknown {
		ttl = op.Asked
	}
	if ttl == 0 {
		return math.MaxInt64
	}
	return max(ttl, 0)
}

// MayLackLease reports whether acquire op, granted or maybe granted, has no lease, or may have
// none since the record does not tell it: then the grant lasts as long as its owner's session.
func MayLackLease(op *history.Op) bool { return !TellsLease(op) || Lease(op) == math.MaxInt64 }

// Longest is the longest lease in ns that op may have granted.
func Longest(op *history.Op) int64 {
	if !TellsLease(op) {
		return longest
	}
	return Lease(op)
}

// LongestAsked is the longest lease in ns that op may have asked for, or the delay, whatever it was
// told.
func LongestAsked(op *history.Op) int64 {
	if op.Kind == history.Release {
		return op.Delay
	}
	if op.Granted == 0 && op.Asked > 0 {
		return op.Asked
	}
	return Longest(op)
}

// UnknownLease is the shortest lease in ns that acquire op, whose outcome is unknown, may leave its
// client, whatever that holds by then; unbounded where it leaves any as it is. One that counts
// shortens none, and one that is refused to a holder does not set a lease that is not told.
func (r Rules) UnknownLease(op *history.Op) int64 {
	if r.Nested || !r.Refreshed && !TellsLease(op) {
		return math.MaxInt64
	}
	return Lease(op)
}

// InheritsLease reports whether op is a renewal of unknown outcome that records no lease: the
// lease that it may set is its acquire's.
func InheritsLease(op *history.Op) bool {
	return op.Kind == history.Renew && op.Outcome == history.Unknown && op.Granted == 0 && op.Asked == 0
}

// SetsLease reports whether op is an extend or renewal that may set a lease.
func SetsLease(op *history.Op) bool {
	extends := op.Kind == history.Extend || op.Kind == history.Renew
	return extends && (op.Outcome == history.OK || op.Outcome == history.Unknown)
}

// UnderWayDuring reports whether op was under way at some time between begin and end, which lie within
// it. One that takes no time, as most do in virtual time, has an instant only.
func UnderWayDuring(op *history.Op, begin, end int64) bool {
	return begin < end || begin == end && op.Call == op.Return
}

// TookTooLong reports whether acquire op took so long that what it was granted meanwhile was
// over, or that its wait was: it fails for that, whatever its scripts do.
func TookTooLong(op *history.Op) bool {
	took := op.Return - op.Call
	return op.Kind == history.Acquire && (op.Asked > 0 && took >= op.Asked || op.Wait > 0 && took >= op.Wait)
}
