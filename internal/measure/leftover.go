package measure

import "github.com/lockbench/lockbench/history"

// A leftover is the state that acquires without an answer left on a key that nobody held.
type leftover struct {
	exists      bool
	overwritten bool  // a client that was then granted the key has called: it may be the cause of refusals
	since       int64 // return of the first of these acquires
	lastRefusal int64 // return of the latest refusal of a try made after it; zero before
}

// acquireUnknown handles an acquire without an answer. Only on a free key can its leftover be told from an
// owner's hold.
func (c *Collector) acquireUnknown(k *keyState, op *history.Op) {
	if free := k.released != history.NoStamp; free && !k.leftover.exists {
		k.leftover = leftover{exists: true, since: op.Return}
		c.leftovers++
	}
}

// refused handles a refusal, if the key was left taken during all of the call.
func (l *leftover) refused(op *history.Op) {
	if l.exists && !l.overwritten && op.Call >= l.since {
		l.lastRefusal = max(l.lastRefusal, op.Return)
	}
}

// leftoverCleared handles a grant: it measures how long the leftover was met, if it was, and clears it.
// Refusals during an acquire that was under way before may be due to that acquire. An acquire that
// needed several tries met the leftover up to its last try.
func (c *Collector) leftoverCleared(p *Phase, k *keyState, op *history.Op) {
	l := k.leftover
	if !l.exists {
		return
	}
	taken := int64(0)
	if op.Call >= l.since {
		taken = l.lastRefusal
	}
	if op.Attempts > 1 {
		taken = max(taken, op.Attempt)
	}
	if taken > l.since {
		c.record(p, LeftTaken, taken-l.since)
	}
	k.leftover = leftover{}
	c.leftovers--
}
