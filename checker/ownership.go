package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// staleCall judges the call of a release or extend by an owner that no longer
// has the lock: what it may do to the next holder, and whether it is told.
func (c *Checker) staleCall(k *key, h *hold, op *history.Op) {
	k.sent(h, op)
	if !h.released && !h.supersededAt.before(callOf(op)) {
		return
	}
	if op.Outcome != history.Failed {
		c.strayInto(k, h, op)
	}
	if !h.released && !h.told {
		c.owedLoss(k, h, op)
	}
}

// strayInto marks the holds of others into whose cores op falls.
func (c *Checker) strayInto(k *key, h *hold, op *history.Op) {
	at := callOf(op)
	for next := range k.others(h.client) {
		if !next.known || !next.coreAt(at) || !h.granted.before(next.granted) || !next.granted.before(at) {
			continue
		}
		c.expose(lockbench.OwnerRelease)
		if op.Outcome != history.LossReported && next.foreign == nil {
			next.foreign, next.foreigner = op, h
		}
	}
}

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
		if !slices.Contains(k.lurking, op.Client) {
			k.lurking = append(k.lurking, op.Client)
		}
		return
	}
	if len(k.strays) == keptStrays {
		k.strays = append(k.strays[:0], k.strays[1:]...)
	}
	k.strays = append(k.strays, op)
}

// metStray tells whether a stray of another client was under way at some time of
// the attempt by which h was granted: which of the two took effect first is not
// known.
func (k *key) metStray(h *hold) bool {
	another := func(client int32) bool { return client != h.client }
	return slices.ContainsFunc(k.lurking, another) || slices.ContainsFunc(k.strays, func(op *history.Op) bool {
		return another(op.Client) && op.Return >= h.from
	})
}

// owedLoss judges an answer that should have been "lost", since another owner
// was granted the key before the question.
func (c *Checker) owedLoss(k *key, h *hold, op *history.Op) {
	switch op.Outcome {
	case history.LossReported:
		c.expose(lockbench.LossReported)
		c.measure(&c.lossDelays, op.Return-h.supersededAt.t)
	case history.OK:
		if h.regrant {
			return
		}
		c.expose(lockbench.LossReported)
		c.violate(lockbench.LossReported, k, notTold, h, h.supersededBy)
	}
}

// answered judges the return of a release, extend or renewal that was answered
// "lost".
func (c *Checker) answered(k *key, op *history.Op) {
	h := k.find(op.Hold)
	if h == nil || op.Outcome != history.LossReported || op.Kind == history.Renew {
		return
	}
	if h.releasedBy == nil || h.releasedBy == op {
		c.toldLost(k, h, op, returnOf(op))
	}
}

// toldLost judges what the owner of h learnt at s: a loss that somebody else's
// operation caused, or one that never was.
func (c *Checker) toldLost(k *key, h *hold, op *history.Op, s stamp) {
	if h.told {
		return
	}
	h.told = true
	if op.Kind == history.Lost && h.supersededAt.before(s) {
		c.expose(lockbench.LossReported)
		c.measure(&c.lossDelays, s.t-h.supersededAt.t)
	}
	_, replaced := k.caps.get(h.client) // by its own acquire of unknown outcome, maybe
	valid := h.known && !replaced && h.from != history.NoStamp && s.before(stamp{t: h.until})
	switch {
	case !valid || h.supersededAt != forever || c.partial:
	case h.foreign != nil:
		c.violate(lockbench.OwnerRelease, k, lostToStranger, h.foreigner, h)
	case h.inner > 0 && c.nested:
		c.violate(lockbench.Reentrancy, k, innerLost, h)
	case !k.refusal.tainted && k.refusal.granting == 0 && !h.stray:
		c.expose(lockbench.LossReported)
		c.violate(lockbench.LossReported, k, falselyTold, h)
	}
}
