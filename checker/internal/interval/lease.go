package interval

import (
	"math"

	"github.com/lockbench/lockbench/history"
)

// Rules say how the operations of a design act.
type Rules struct {
	Nested         bool // a second acquire by the owner adds a level
	Refreshed      bool // a second acquire by the owner begins the lease anew
	HiddenRenewals bool // holds may be renewed in the background, and the history does not show it
}

// RulesOf returns the rules in the header of a history.
func RulesOf(h history.Header) Rules {
	return Rules{Nested: h.Reacquire == "nested", Refreshed: h.Reacquire == "refreshed", HiddenRenewals: h.RenewsUnseen}
}

// Joins reports whether an acquire of a client may join levels that the client left on the server.
func (r Rules) Joins() bool { return r.Nested || r.Refreshed }

// After returns t+d, or the latest time if that overflows.
func After(t, d int64) int64 {
	if d > math.MaxInt64-max(t, 0) {
		return math.MaxInt64
	}
	return t + d
}

// Start returns the start of the attempt that succeeded, in ns, or the call if that is not known.
func Start(op *history.Op) int64 {
	if op.Attempt != history.NoStamp {
		return op.Attempt
	}
	return op.Call
}

// The bounds of a lease that the record does not tell, in ns. An owner certainly holds the key for
// the shortest, and may hold it for the longest, which no history outlasts. The longest is still a
// lease: the death of its owner does not end it, as it ends a grant without a lease.
const (
	shortest = 1
	longest  = math.MaxInt64 / 2
)

// TellsLease reports whether the record has the lease that op set, or may have set.
func TellsLease(op *history.Op) bool { return op.Granted != history.NotTold }

// Lease returns the shortest lease, in ns, that op may have set: the granted lease or, if the
// outcome of op is unknown, the lease that it asked for. An operation without a lease has the
// longest possible one, since its grant does not end by itself.
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

// MayLackLease reports whether acquire op has, or may have, no lease. Such a grant lasts as long as
// the session of its owner.
func MayLackLease(op *history.Op) bool { return !TellsLease(op) || Lease(op) == math.MaxInt64 }

// Longest returns the longest lease, in ns, that op may have set.
func Longest(op *history.Op) int64 {
	if !TellsLease(op) {
		return longest
	}
	return Lease(op)
}

// LongestAsked returns the longest lease, in ns, that op may have asked for, whatever the answer;
// for a release the delay.
func LongestAsked(op *history.Op) int64 {
	if op.Kind == history.Release {
		return op.Delay
	}
	if op.Granted == 0 && op.Asked > 0 {
		return op.Asked
	}
	return Longest(op)
}

// UnknownLease returns the shortest lease, in ns, that op, an acquire of unknown outcome, may set
// for a key that its client holds, unbounded if it sets none. A nested acquire shortens no lease.
// If the lock refuses acquires of an owner, op sets none.
func (r Rules) UnknownLease(op *history.Op) int64 {
	if r.Nested || !r.Refreshed && !TellsLease(op) {
		return math.MaxInt64
	}
	return Lease(op)
}

// InheritsLease reports whether op is a renewal of unknown outcome without a recorded lease. It may
// set the lease of its acquire.
func InheritsLease(op *history.Op) bool {
	return op.Kind == history.Renew && op.Outcome == history.Unknown && op.Granted == 0 && op.Asked == 0
}

// SetsLease reports whether op is an extend or renewal that set, or may have set, a lease.
func SetsLease(op *history.Op) bool {
	extends := op.Kind == history.Extend || op.Kind == history.Renew
	return extends && (op.Outcome == history.OK || op.Outcome == history.Unknown)
}

// UnderWayDuring reports whether op was under way at some time between begin and end, both within
// the call of op and its return. In virtual time most operations take no time, and have one instant
// only.
func UnderWayDuring(op *history.Op, begin, end int64) bool {
	return begin < end || begin == end && op.Call == op.Return
}
