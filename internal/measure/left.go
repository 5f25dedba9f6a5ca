package measure

import "github.com/lockbench/lockbench/history"

// A left is what acquires without an answer left behind on a key that nobody held.
type left struct {
	begun bool
	asked bool  // somebody who is granted the key has called: refusals may be for its sake
	since int64 // return of the first of these acquires
	taken int64 // return of the latest refusal of a try made after it; zero before
}

// gaveUp takes an acquire without an answer. What it left is told from what an owner holds only where the key was free.
func (c *Collector) gaveUp(k *handing, op *history.Op) {
	if free := k.released != history.NoStamp; free && !k.left.begun {
		k.left = left{begun: true, since: op.Return}
		c.lefts++
	}
}

// refused takes a refusal, if the key was left taken for all of it.
func (l *left) refused(op *history.Op) {
	if l.begun && !l.asked && op.Call >= l.since {
		l.taken = max(l.taken, op.Return)
	}
}

// met takes a grant: it measures for how long what was left was met, if it was, and forgets it. Refusals beside an acquire that
// was under way before it may be for that one's sake. An acquire met it itself up to its last try, if it needed more than one.
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
