package measure

import "github.com/lockbench/lockbench/history"

// A leftover is the lock that acquires without an answer may have left on a key that no client
// held.
type leftover struct {
	exists      bool  // there was such an acquire
	overwritten bool  // an acquire that is granted the key was called since: later refusals may be due to it
	since       int64 // return of the first of these acquires
	lastRefusal int64 // return of the latest refused acquire that began after since; zero before
}

// acquireUnknown handles an acquire without an answer. Only if the key was free can its leftover be
// told apart from the hold of another owner.
func (c *Collector) acquireUnknown(k *keyState, op *history.Op) {
	if free := k.released != history.NoStamp; free && !k.leftover.exists {
		k.leftover = leftover{exists: true, since: op.Return}
		c.leftovers++
	}
}

// refused handles a refusal of the key, if only the leftover can have caused it.
func (l *leftover) refused(op *history.Op) {
	if l.exists && !l.overwritten && op.Call >= l.since {
		l.lastRefusal = max(l.lastRefusal, op.Return)
	}
}

// clearLeftover handles a grant of the key: it records how long the leftover kept clients out,
// and clears it. Refusals during an acquire that was called before the leftover may be due to that
// acquire. An acquire with several attempts was kept out up to its last one.
func (c *Collector) clearLeftover(p *Phase, k *keyState, op *history.Op) {
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
