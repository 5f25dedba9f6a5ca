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
	// operations has the operations on the key, if they are few enough for porcupine.
	operations crosscheck.SmallHistory
}

// holdings are the holds of a key.
type holdings struct {
	holds []*hold // not released, or released at this very instant
	// deferred has the acquires of unknown outcome under which no operation was called yet.
	deferred []deferred
	begun    int64          // counts the holds so far, deferred ones included
	released []releasedHold // the last few that were released: their owners may act late
	// renamed: a hold of the key gave its id to a later one. chained: a hold may refer to other
	// holds.
	renamed, chained bool
	// forgetsHolds: released holds of the key have been forgotten.
	forgetsHolds bool
	// reach is the last instant, in ns, at which released holds may have kept other clients out.
	reach int64
	// starts are the segments of must-hold intervals that begin at the instant now, and grants
	// without one. They are compared with the open holds when time has moved on, since operations
	// with the same stamp are concurrent.
	starts []start
	// lastEnd is the latest end of a must-hold interval among released holds, lastUnder the
	// conditions that touched that hold.
	lastEnd   interval.Stamp
	lastUnder lockbench.Conditions
}

// pastCallState has the calls of past owners that may act on the holds of other clients.
type pastCallState struct {
	// stale has the releases and extends that may take effect after the lease of their owner.
	stale pending.Calls
	// sharedReleases has the releases of shared holds: of holds that shared, or may have shared, the
	// key because of a past owner's call.
	sharedReleases pending.Calls
	// expected are the operations under way that should be answered "lost".
	expected []expectedLoss
}

// joinState has operations that may act on later holds of their client, if acquires join levels
// that the client left on the server.
type joinState struct {
	early pending.Renewals
	// caps has, by client, the shortest lease of its acquires of unknown outcome. Each may act as a
	// refresh of any later hold of the client.
	caps pending.Values
	// unsureReleases counts, by client, the releases of unknown outcome. If acquires are counted,
	// each may begin the lease of a later hold anew.
	unsureReleases pending.Values
	// unknownAcquires has, by client, the call of its newest acquire of unknown outcome, and
	// faultedAcquires the call of its newest acquire that a fault affected, whatever the answer.
	unknownAcquires, faultedAcquires pending.Values
}

// faultState has the effects that faults may have left on a key.
type faultState struct {
	// asked has, by client, the longest lease or delay that it asked for, if the history may have
	// faults.
	asked pending.Values
	// affected are the operations and holds that faults affected, as long as an effect may remain.
	affected     pending.Effects
	everAffected bool // there was an effect
	// revived has, by client, the instant, in ns, until which it may join a hold that a failover
	// brought back.
	revived pending.Values
	// unknown has the conditions of effects that were too many to be kept one by one: left for
	// effects that may explain the state of the key, acts for effects that may still act on it, and
	// deaths for stale calls of dead clients, which may act at any time.
	unknown struct{ left, acts, deaths lockbench.Conditions }
}

// monitorState is the state that monitors keep of a key.
type monitorState struct {
	refusal   refusals
	queue     count.Queue
	waits     pending.Waits
	fences    fences
	writes    pending.Record[*hold]
	delayed   *history.Op // the last release with a delay
	conflicts int64       // pairs of overlapping must-hold intervals
	cuts      int64       // must-hold intervals with an end that the occupancy monitor cannot see
}

// A start is the beginning of a segment of a must-hold interval, or a grant without one.
type start struct {
	h     *hold
	at    interval.Stamp
	grant bool // whether this is the first segment, or a grant without any
}

// maxReleased is how many released holds a key remembers. If an owner releases twice, the second
// release follows soon.
const maxReleased = 8

// A releasedHold is a hold with its id, and its index in the ring of its part. Most look-ups need
// no more than these, and the hold itself is no longer in the cache of the processor.
type releasedHold struct {
	id        int64
	ringIndex int
	*hold
}

// find returns the hold with this id. It returns nil if the hold is deferred, unknown or forgotten.
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

// forget takes the id from a released hold, since a new hold has it.
func (k *key) forget(id int64) {
	for i := range k.released {
		if r := &k.released[i]; r.id == id {
			r.id, r.hold.id, r.previousID, k.renamed = 0, 0, id, true
		}
	}
}

// inherited returns the shortest lease, in ns, that an operation on an earlier hold with the same
// id may still set for the hold of acquire op.
func (k *key) inherited(op *history.Op) int64 {
	for i := len(k.released) - 1; i >= 0 && k.renamed; i-- {
		if old := k.released[i]; old.previousID == op.Hold {
			return old.Shortest(math.MaxInt64)
		}
	}
	return math.MaxInt64
}

// catchUp applies to h, just granted, the renewals that were called before its acquire returned.
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

// allHolds yields the open holds and the newest released ones.
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

// retire drops the holds of k that were released before s.
func (c *Checker) retire(k *key, s interval.Stamp) {
	for i := len(k.holds) - 1; i >= 0; i-- {
		h := k.holds[i]
		over := h.Dead && interval.Stamp{T: h.Until}.Before(s)
		if over || h.Released && !h.ReleaseUnanswered() && h.End.Before(s) {
			c.drop(k, i)
		}
	}
}

// drop moves the i-th hold of k from the open ones to the released ones.
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
	if h.Released { // or each hold would keep its successor in memory
		h.supersededBy, h.intruder = nil, nil
	}
	k.chained = k.chained || h.supersededBy != nil || h.intruder != nil
	if len(k.released) == maxReleased {
		k.part.released.Forget(k.released[0].ringIndex)
		c.forgetOldest(k)
	}
	place, full := k.part.released.Push(k)
	if full != nil {
		c.forgetOldest(full)
	}
	k.released = append(k.released, releasedHold{h.id, place, h})
	k.reach = max(k.reach, h.Reach())
}

// A part is the state that the keys of one partition share, so that the bounds of memory are the
// same whether one Checker or several shards judge the history.
type part struct {
	released count.Ring[key] // the remembered released holds, by key
	// smallKeys counts the keys that still keep their operations for the cross-check.
	smallKeys int
}

// partOf returns the part of a key, and makes it if needed.
func (c *Checker) partOf(name string) *part {
	n := count.PartitionOf(name)
	if c.parts[n] == nil {
		c.parts[n] = &part{}
	}
	return c.parts[n]
}

// forgetOldest drops the oldest released hold of k and its references to others. Otherwise each hold
// would keep an older or younger one in memory, without end.
func (c *Checker) forgetOldest(k *key) {
	if c.gone != nil {
		c.gone(k, k.released[0].hold)
	}
	if k.chained {
		h := k.released[0].hold
		h.supersededBy, h.intruder, h.pastOwner = nil, nil, nil
	}
	k.released = slices.Delete(k.released, 0, 1)
	k.forgetsHolds = true
}
