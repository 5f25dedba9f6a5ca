package pending

import (
	"math"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// Availability says since when one key has provably been free: no owner can have held it since. It
// covers the holds that have ended, and the acquires that may take the key; the caller looks at the
// open holds. Two fields bound the past, lastEnd and lastFaulted; two counters say whether an acquire
// may take the key now. [Availability.Begin] makes it ready for use.
type Availability struct {
	// Slack, in ns, is added to the end of every lease that was not released.
	Slack int64
	// UnknownAcquires counts the acquires that may take the key at any time: each of unknown
	// outcome, and one for all owners outside the record.
	UnknownAcquires int
	// GrantsUnderWay counts the acquires that were called and have not returned, and that are, or
	// may be, granted.
	GrantsUnderWay int
	// PossibleGrants counts the acquires so far that can have taken the key. It only rises: two
	// equal readings show that nobody can have taken the key between them.
	PossibleGrants int
	// LeftLevels has, by client, the last instant, in ns, at which the server may keep levels of an
	// earlier hold. No release of that hold was answered ok.
	LeftLevels Values

	lastEnd     interval.Stamp // the latest possible end of a hold that has ended
	lastFaulted interval.Stamp // the latest instant at which an acquire hit by a fault can have acted
}

// Begin begins the history of the key. With others, owners outside the record may take the key at
// any time, so it is never provably free.
func (a *Availability) Begin(slack int64, others bool) {
	never := interval.Stamp{T: -1}
	*a = Availability{Slack: slack, LeftLevels: a.LeftLevels.Empty(), lastEnd: never, lastFaulted: never}
	if others {
		a.UnknownAcquires = 1
	}
}

// FreeBefore reports whether every hold that has ended was over before s, and no acquire can
// have taken the key since.
func (a *Availability) FreeBefore(s interval.Stamp) bool {
	return a.UnknownAcquires == 0 && a.GrantsUnderWay == 0 && a.lastEnd.Before(s)
}

// FreeFrom returns the latest instant at which the key can have become free, by the holds that
// have ended and the acquires hit by faults.
func (a *Availability) FreeFrom() interval.Stamp {
	return interval.Later(a.lastEnd, a.lastFaulted)
}

// OnlyKnownGrantsSince reports whether every acquire that can have taken the key since s was answered
// ok.
func (a *Availability) OnlyKnownGrantsSince(s interval.Stamp) bool {
	return a.UnknownAcquires == 0 && a.GrantsUnderWay == 0 && a.lastFaulted.Before(s)
}

// HoldEnded applies the end of hold g: no later operation acts on it.
func (a *Availability) HoldEnded(g *interval.Grant) {
	a.lastEnd = interval.Later(a.lastEnd, g.Freed(a.Slack))
}

// FaultedActed applies that an acquire hit by a fault may have acted as late as end.
func (a *Availability) FaultedActed(end interval.Stamp) {
	a.lastFaulted = interval.Later(a.lastFaulted, end)
}

// BusyUntil marks the key as busy until t, in ns.
func (a *Availability) BusyUntil(t int64) {
	a.lastEnd = interval.Later(a.lastEnd, interval.Stamp{T: t, Seq: math.MaxUint64})
}

// BusyFor marks the key as busy for a lease of ttl ns that begins at t, plus the slack.
func (a *Availability) BusyFor(t, ttl int64) {
	a.BusyUntil(interval.After(interval.After(t, ttl), a.Slack))
}

// RenewalReturned applies the return of op, called under a hold that has ended. If op is a renewal
// that was answered ok, it prolonged the lease of a later hold of its client.
func (a *Availability) RenewalReturned(op *history.Op) {
	if op.Kind == history.Renew && op.Outcome == history.OK {
		a.BusyFor(op.Return, interval.Longest(op))
	}
}

// NoteLevels notes the levels of g that the server may keep for client after its last release. A
// release that certainly freed the key leaves none.
func (a *Availability) NoteLevels(client int32, g *interval.Grant) {
	if !g.CertainlyFree {
		a.LeftLevels.Raise(client, g.Latest(a.Slack))
	}
}

// MayJoinLevels reports whether acquire op may have added a level to an earlier hold of its client.
// The release of such a grant does not certainly free the key.
func (a *Availability) MayJoinLevels(op *history.Op) bool {
	until, ok := a.LeftLevels.Get(op.Client)
	return ok && until >= op.Call
}
