package pending

import (
	"math"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// A Availability is the state of one key. It covers the holds that have ended; the caller looks at the
// open ones. [Vacancy.Begin] makes it ready for use.
type Availability struct {
	// Slack is added to the end of a lease that was not released, in ns.
	Slack int64
	// UnknownAcquires counts the acquires that may take the key at any time: each of unknown outcome,
	// and one for all owners outside the record.
	UnknownAcquires int
	GrantsUnderWay  int // acquires under way that are granted in the end, or may be
	PossibleGrants  int // acquires so far that can have taken the key
	// LeftLevels has, by client, the last instant at which levels of an earlier hold may be left,
	// since its release was not answered ok.
	LeftLevels Values

	lastEnd     interval.Stamp // the latest possible end of a hold that has ended
	lastFaulted interval.Stamp // the latest instant at which an acquire hit by a fault can have acted
}

// Begin begins the key's history. With others, owners outside the record may take the key at
// any time, so it is never provably free.
func (k *Availability) Begin(slack int64, others bool) {
	never := interval.Stamp{T: -1}
	*k = Availability{Slack: slack, LeftLevels: k.LeftLevels.Empty(), lastEnd: never, lastFaulted: never}
	if others {
		k.UnknownAcquires = 1
	}
}

// HoldEnded applies the end of hold g: no later operation acts on it.
func (k *Availability) HoldEnded(g *interval.Grant) {
	k.lastEnd = interval.Later(k.lastEnd, g.Freed(k.Slack))
}

// BusyUntil marks the key as busy until t, in ns.
func (k *Availability) BusyUntil(t int64) {
	k.lastEnd = interval.Later(k.lastEnd, interval.Stamp{T: t, Seq: math.MaxUint64})
}

// BusyFor marks the key as busy for a lease of ttl ns from t, plus the slack.
func (k *Availability) BusyFor(t, ttl int64) {
	k.BusyUntil(interval.After(interval.After(t, ttl), k.Slack))
}

// FaultedActed applies that an acquire hit by a fault may have acted as late as end.
func (k *Availability) FaultedActed(end interval.Stamp) {
	k.lastFaulted = interval.Later(k.lastFaulted, end)
}

// OnlyKnownGrantsSince reports whether only acquires that were answered ok can have taken the key since s.
func (k *Availability) OnlyKnownGrantsSince(s interval.Stamp) bool {
	return k.UnknownAcquires == 0 && k.GrantsUnderWay == 0 && k.lastFaulted.Before(s)
}

// NoteLevels notes the levels of g that the server may keep for client after its last release, if
// the release is not certain to have freed them.
func (k *Availability) NoteLevels(client int32, g *interval.Grant) {
	if !g.CertainlyFree {
		k.LeftLevels.Raise(client, g.Latest(k.Slack))
	}
}

// MayJoinLevels reports whether acquire op may have added a level to an earlier hold of its client.
// Then its release is not certain to free the key.
func (k *Availability) MayJoinLevels(op *history.Op) bool {
	until, ok := k.LeftLevels.Get(op.Client)
	return ok && until >= op.Call
}

// FreeFrom returns the latest instant at which the key can have become free, by the holds that
// have ended and the acquires hit by faults.
func (k *Availability) FreeFrom() interval.Stamp { return interval.Later(k.lastEnd, k.lastFaulted) }

// FreeBefore reports whether every hold that has ended was over before s, and no acquire can
// have taken the key since.
func (k *Availability) FreeBefore(s interval.Stamp) bool {
	return k.UnknownAcquires == 0 && k.GrantsUnderWay == 0 && k.lastEnd.Before(s)
}

// RenewalReturned applies the return of op. A renewal that is answered ok after its own hold has ended
// kept the key for a later hold of its client.
func (k *Availability) RenewalReturned(op *history.Op) {
	if op.Kind == history.Renew && op.Outcome == history.OK {
		k.BusyFor(op.Return, interval.Longest(op))
	}
}
