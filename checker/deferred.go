package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/history"
)

// A deferred hold is an acquire of unknown outcome under which no operation was called yet.
// There may be one for every client and key, so it becomes a hold only when that matters: when
// its client calls an operation under it or turns to another hold, or when an event concerns
// more than one key. Until then it has no must-hold interval; its only effect is that the key is
// not provably free, which pending.Vacancy.Tainted counts. If acquires join levels that their client
// left, or faults may befall the history, it may matter sooner: then it becomes a hold at once.
type deferred struct {
	op     *history.Op
	number int64 // among the holds of the key
}

// lookup returns the hold of k with this id, made of a deferred one if need be; nil when it
// is not known (any more).
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

// materialize makes holds of the deferred ones of k that match.
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

// materializeAll makes holds of all deferred ones, and of each later one at once, since an event
// concerns more than one key.
func (c *Checker) materializeAll() {
	if c.materialized {
		return
	}
	c.materialized = true
	for _, k := range c.keys {
		c.materialize(k, func(*deferred) bool { return true })
	}
}

// extendReach applies that an operation on h may keep others out for longer.
func (k *key) extendReach(h *hold) {
	if h.retired {
		k.reach = math.MaxInt64
	}
}
