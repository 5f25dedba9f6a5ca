package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/history"
)

// A deferred hold is an acquire of unknown outcome under which no operation was called yet. There
// may be one for every client and key, so it becomes a hold only when needed: when its client calls
// an operation under it or acquires anew, or when an event concerns more than one key. Until then
// it has no must-hold interval, and only keeps the key from being provably free, which
// pending.Availability.UnknownAcquires counts. If acquires may join earlier levels, or faults may
// occur, it may be needed sooner, and becomes a hold at once.
type deferred struct {
	op     *history.Op
	number int64 // its place among the holds of the key
}

// lookup returns the hold of k with this id; a deferred hold becomes a hold first. It returns nil
// if the id is unknown or forgotten.
func (c *Checker) lookup(k *key, id int64) *hold {
	if id == 0 {
		return nil
	}
	open := func(h *hold) bool { return h.id == id }
	if len(k.deferred) > 0 && !slices.ContainsFunc(k.holds, open) {
		c.materialize(k, func(l *deferred) bool { return l.op.Hold == id })
	}
	return k.find(id)
}

// materialize turns the deferred holds of k that match into holds.
func (c *Checker) materialize(k *key, match func(*deferred) bool) {
	for i := 0; i < len(k.deferred); i++ {
		if !match(&k.deferred[i]) {
			continue
		}
		l := k.deferred[i]
		k.deferred = slices.Delete(k.deferred, i, i+1)
		i--
		h := c.newHold(l.op)
		h.Cap(k.caps.Of(l.op.Client))
		h.number = l.number
		at := len(k.holds)
		for at > 0 && k.holds[at-1].number > l.number {
			at--
		}
		k.holds = slices.Insert(k.holds, at, h)
	}
}

// materializeAll turns all deferred holds into holds, and stops deferring, since an event concerns
// more than one key.
func (c *Checker) materializeAll() {
	if c.materialized {
		return
	}
	c.materialized = true
	for _, k := range c.keys {
		c.materialize(k, func(*deferred) bool { return true })
	}
}

// extendReach applies that an operation on the retired hold h may keep others out for longer.
func (k *key) extendReach(h *hold) {
	if h.retired {
		k.reach = math.MaxInt64
	}
}
