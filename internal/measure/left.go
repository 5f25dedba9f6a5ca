package measure

import "github.com/lockbench/lockbench/history"

// A left is the state that acquires without an answer left on a key that nobody held.
type left struct {
	begun bool
	asked bool  // a client that was then granted the key has called: it may be the cause of refusals
	since int64 // return of the first of these acquires
	taken int64 // return of the latest refusal of a try made after it; zero before
}

// gaveUp handles an acquire without an answer. Only on a free key can its leftover be told from an
// owner's hold.
func (c *Collector) gaveUp(k *handing, op *history.Op) {
	if free := k.released != history.NoStamp; free && !k.left.begun {
		k.left = left{begun: true, since: op.Return}
		c.lefts++
	}
}

// refused handles a refusal, if the key was left taken during all of the call.
func (l *left) refused(op *history.Op) {
	if l.begun && !l.asked && op.Call >= l.since {
		l.taken = max(l.taken, op.Return)
	}
}

// met handles a grant: it measures how long the leftover was met, if it was, and clears it.
// Refusals during an acquire that was under way before may be due to that acquire. An acquire that
// needed several tries met the leftover up to its last try.
func (c *Collector) met(p *Phase, k *handing, op *history.Op) {
	l := k.left
	if !l.begun {
		return
	}
	taken := int64(0)
	if op.Call >= l.since {
		taken = l.taken
	}
	if op.Attempts > 1 {
		taken = max(taken, op.Attempt)
	}
	if taken > l.since {
		c.record(p, LeftTaken, taken-l.since)
	}
	k.left = left{}
	c.lefts--
}
