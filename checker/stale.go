package checker

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// keptStrays bounds how many strays a key remembers. They matter to the grants
// that they overlap.
const keptStrays = 16

// sent remembers a release or extend that may take effect when its owner's lease
// is over: whoever is granted the key while it is under way may lose it to that.
func (k *key) sent(h *hold, op *history.Op) {
	told := op.Outcome == history.LossReported || op.Outcome == history.Failed
	inTime := !h.released && h.supersededBy == nil && op.Outcome == history.OK && op.Return < h.until
	if told || inTime {
		return
	}
	if op.Outcome == history.Unknown {
		n, _ := k.lurking.get(op.Client)
		k.lurking.set(op.Client, n+1)
		return
	}
	k.stray(op, returnOf(op))
}

// A stray is a release or extend that may take effect until then on what others
// hold.
type stray struct {
	client int32
	until  stamp
}

func (k *key) stray(op *history.Op, until stamp) {
	if len(k.strays) == keptStrays {
		k.strays = slices.Delete(k.strays, 0, 1)
	}
	k.strays = append(k.strays, stray{op.Client, until})
}

// unlurk applies that op, which was struck by a fault, has acted by end.
func (c *Checker) unlurk(k *key, op *history.Op, end stamp) {
	if op.Outcome != history.Unknown || op.Kind != history.Release && op.Kind != history.Extend {
		return
	}
	sender, counted := op.Client, k.find(op.Hold) != nil
	if n, _ := k.lurking.get(sender); n == 0 && counted && c.faults.gone(sender) { // see bury
		sender = theDead
	}
	if n, _ := k.lurking.get(sender); n > 0 {
		k.lurking.set(sender, n-1)
		k.stray(op, end)
	}
}

// metStray notes on h, just granted, whether a stray of another client was under way at
// some time of its attempt: which of the two took effect first is not known.
func (k *key) metStray(h *hold) bool {
	if n, _ := k.lurking.get(theDead); n > 0 {
		h.under |= k.unknown.deaths
	}
	lurks := func(l clientTime) bool { return l.client != h.client && l.t > 0 }
	return slices.ContainsFunc(k.lurking, lurks) || slices.ContainsFunc(k.strays, func(s stray) bool {
		return s.client != h.client && !s.until.before(h.began())
	})
}
