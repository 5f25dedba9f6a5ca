package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/checker/internal/crosscheck"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// A key is the state of one lock at the instant that the timeline has reached.
type key struct {
	name string
	part *part // shared with the other keys of its partition
	now  interval.Stamp
	holdings
	pastCallState
	joinState
	faultState
	monitorState
	// operations are the key's operations, while they are few: for porcupine.
	operations crosscheck.SmallHistory
}

// holdings are the holds of a key.
type holdings struct {
	holds []*hold // not released, or released at this very instant
	// deferred are the acquires of unknown outcome under which no operation was called yet.
	deferred []deferred
	begun    int64          // holds begun so far, deferred ones too
	released []releasedHold // the last few that were released: their owners may act late
	// renamed: one of them gave its id to a later one. chained: one may refer to others.
	renamed, chained bool
	// forgetsHolds: some released holds have been forgotten.
	forgetsHolds bool
	// reach is the last instant, in ns, at which released holds may have kept others out.
	reach int64
	// starts are the grants and reopened must-hold intervals of the instant now. They are
	// compared with the rest when time has moved on, since operations that share
	// a stamp are concurrent.
	starts []start
	// lastEnd is the latest end of a must-hold interval among released holds, lastUnder the
	// conditions that touched that hold.
	lastEnd   interval.Stamp
	lastUnder lockbench.Conditions
}

// pastCallState are calls of past owners that may act on the holds of others.
type pastCallState struct {
	// stale are the releases and extends that may have taken effect past their owners' leases.
	stale pending.Calls
	// admittedByStale has, by client, the last instant at which its newest release may take effect, of a
	// hold that shared the key, or may have, because of a past owner's call.
	sharedReleases pending.Values
	// expected are the operations under way whose answer should be "lost".
	expected []expectedLoss
}

// joinState are operations that may act on a later hold of the same client, for locks whose
// acquires join levels that the client left on the server.
type joinState struct {
	early pending.Renewals
	// caps has, by client, the shortest lease of its acquires of unknown outcome: each may act
	// as a refresh of any later hold of the client.
	caps pending.Values
	// unsureReleases counts, by client, the releases of unknown outcome that may begin the lease
	// of a later hold anew, where acquires are counted.
	unsureReleases pending.Values
	// unknownAcquires has, by client, the call of its newest acquire of unknown outcome, and deceived the
	// call of its newest acquire that a fault affected, whatever the answer.
	unknownAcquires, faultedAcquires pending.Values
}

// faultState are the effects that faults may have left on a key.
type faultState struct {
	// asked are the longest leases and delays asked for, by client, where faults may
	// befall the history.
	asked pending.Values
	// affected are the operations and holds that faults affected, while an effect may be left.
	affected     pending.Effects
	everAffected bool // there was one
	// revived has, by client, the instant, in ns, until which it may join a hold that a failover
	// brought back.
	revived pending.Values
	// unknown are the conditions of effects that were too many to be kept one by one: left for
	// effects that may explain the state of the key, acts for effects that may still act on it,
	// deaths for dead clients whose stale calls may act at any time.
	unknown struct{ left, acts, deaths lockbench.Conditions }
}

// monitorState is the state that monitors keep of a key.
type monitorState struct {
	refusal   refusals
	queue     count.Queue
	waits     pending.Waits
	fences    fences
	writes    pending.Record[*hold]
	delayed   *history.Op // the last release that asked to keep others out
	conflicts int64       // overlapping must-hold intervals
	cuts      int64       // must-hold intervals whose end the occupancy monitor cannot see
}

// A start is the beginning of a segment of a must-hold interval, or a grant without one.
type start struct {
	h     *hold
	at    interval.Stamp
	grant bool // the first segment, or a grant without any
}

// maxReleased is how many released holds a key remembers. An owner that releases
// twice does so soon.
const maxReleased = 8

// A releasedHold hold is a released one, with its id and its place in the ring beside it: most
// look-ups need only these, and the hold itself is no longer in the processor's cache.
type releasedHold struct {
	id        int64
	ringIndex int
	*hold
}

// find returns the hold with this id that is not deferred, nil when it is not known (any
// more).
func (k *key) find(id int64) *hold {
	if id == 0 {
		return nil
	}
	for _, h := range k.holds {
		if h.id == id {
			return h
		}
	}
	for _, r := range k.released {
		if r.id == id {
			return r.hold
		}
	}
	return nil
}

// forget frees the id of a released hold for a new hold.
func (k *key) forget(id int64) {
	for i := range k.released {
		if r := &k.released[i]; r.id == id {
			r.id, r.hold.id, r.previousID, k.renamed = 0, 0, id, true
		}
	}
}

// inherited returns the shortest lease, in ns, that an operation on an earlier hold with the same
// id may still set in the hold of acquire op.
func (k *key) inherited(op *history.Op) int64 {
	for i := len(k.released) - 1; i >= 0 && k.renamed; i-- {
		if old := k.released[i]; old.previousID == op.Hold {
			return old.Shortest(math.MaxInt64)
		}
	}
	return math.MaxInt64
}

// catchUp applies to h, just granted, the renewals that were called before its
// acquire returned.
func (k *key) catchUp(h *hold, rules interval.Rules) {
	k.early.Take(h.id, func(op *history.Op) {
		h.Early(op)
		if rules.Joins() && op.Outcome == history.Unknown {
			k.caps.Lower(h.client, h.LeaseOf(op))
		}
	})
}

// others yields the open holds of all other clients.
func (k *key) others(client int32) func(yield func(*hold) bool) {
	return func(yield func(*hold) bool) {
		for _, h := range k.holds {
			if h.client != client && !yield(h) {
				return
			}
		}
	}
}

// allHolds yields the open holds and the last few released ones.
func (k *key) allHolds() func(yield func(*hold) bool) {
	return func(yield func(*hold) bool) {
		for _, h := range k.holds {
			if !yield(h) {
				return
			}
		}
		for _, r := range k.released {
			if !yield(r.hold) {
				return
			}
		}
	}
}

// retire moves the holds of k that were released before s out of the way.
func (c *Checker) retire(k *key, s interval.Stamp) {
	for i := len(k.holds) - 1; i >= 0; i-- {
		h := k.holds[i]
		over := h.Dead && interval.Stamp{T: h.Until}.Before(s)
		if over || h.Released && !h.ReleaseUnanswered() && h.End.Before(s) {
			c.drop(k, i)
		}
	}
}

// drop removes the i-th hold of k from the open ones.
func (c *Checker) drop(k *key, i int) {
	h := k.holds[i]
	k.holds = slices.Delete(k.holds, i, i+1)
	if h.HasMust && k.lastEnd.Before(h.MustEnd()) {
		k.lastEnd, k.lastUnder = h.MustEnd(), c.resolved(h.under, h.client)
	}
	h.retired = true
	for _, r := range h.rivals {
		c.result.noteOverlap(interval.Shared(&h.Grant, &r.Grant, c.last))
		r.rivals = slices.DeleteFunc(r.rivals, func(o *hold) bool { return o == h })
	}
	clear(h.rivals)
	h.rivals = h.rivals[:0]
	k.refusal.ended(h)
	c.publish(factGone, fact{at: c.last, key: k, hold: h})
	if h.Released { // or each would keep its successor in memory
		h.supersededBy, h.intruder = nil, nil
	}
	k.chained = k.chained || h.supersededBy != nil || h.intruder != nil
	if len(k.released) == maxReleased {
		k.part.released.Forget(k.released[0].ringIndex)
		k.forgetOldest()
	}
	place, full := k.part.released.Push(k)
	if full != nil {
		full.forgetOldest()
	}
	k.released = append(k.released, releasedHold{h.id, place, h})
	k.reach = max(k.reach, h.Reach())
}

// A part is the state that the keys of one partition share.
type part struct {
	released count.Ring[key] // the remembered released holds, by key
	// smallKeys counts the keys that still keep their operations for the cross-check.
	smallKeys int
}

// partOf returns the part of a key, made when first needed.
func (c *Checker) partOf(name string) *part {
	n := count.PartitionOf(name)
	if c.parts[n] == nil {
		c.parts[n] = &part{}
	}
	return c.parts[n]
}

// forgetOldest drops the oldest released hold and its references to others: through them each
// would keep an older or younger hold in memory, without end.
func (k *key) forgetOldest() {
	if k.chained {
		h := k.released[0].hold
		h.supersededBy, h.intruder, h.pastOwner = nil, nil, nil
	}
	k.released = slices.Delete(k.released, 0, 1)
	k.forgetsHolds = true
}
