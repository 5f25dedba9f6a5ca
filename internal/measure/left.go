package measure

import "github.com/lockbench/lockbench/history"

// A left is what acquires without an answer left behind on a key that nobody held.
type left struct {
	begun bool
	since int64 // return of the first of these acquires
	taken int64 // return of the latest refusal of a try made after it; zero before
}

// gaveUp takes an acquire without an answer. What it left is told from what an owner holds only where the key was free.
func (c *Collector) gaveUp(k *handing, op *history.Op) {
	free := k.holder == 0 || k.released != history.NoStamp
	if free && !k.left.begun {
		k.left = left{begun: true, since: op.Return}
		c.lefts++
	}
}

// refused takes a refusal.
func (l *left) refused(op *history.Op) {
	if l.begun && op.Call >= l.since {
		l.taken = max(l.taken, op.Return)
	}
}

// asked takes the call of an acquire that is granted: who is refused from now on may be so for its sake.
func (c *Collector) asked(k *handing, op *history.Op) {
	if l := &k.left; l.begun && op.Call >= l.since {
		c.leftTaken(l, op.Call)
	}
}

// waited takes the grant of an acquire that was called before anything was left: it met the key taken up to now.
func (c *Collector) waited(k *handing, op *history.Op) {
	if l := &k.left; l.begun && op.Call < l.since {
		l.taken = op.Return
		c.leftTaken(l, op.Return)
	}
}

// leftTaken measures what was left, if somebody met it, and forgets it.
func (c *Collector) leftTaken(l *left, at int64) {
	if l.taken > 0 {
		c.record(c.phase(at), LeftTaken, l.taken-l.since)
	}
	*l = left{}
	c.lefts--
}
