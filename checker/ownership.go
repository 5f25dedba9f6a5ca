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

// strayInto marks the holds of others into whose cores op falls. Where it falls
// into a lease whose owner died or was told of a loss, it breaks nothing of the
// owner's, but it may explain why the lease ended early.
func (c *Checker) strayInto(k *key, h *hold, op *history.Op) {
	at := callOf(op)
	for next := range k.others(h.client) {
		if !next.known || !h.granted.before(next.granted) || !next.granted.before(at) {
			continue
		}
		if !next.coreAt(at) {
			next.stray = next.stray || next.ended && op.Outcome != history.LossReported
			continue
		}
		c.expose(ownerRelease, c.touching(next, h)|h.outlivedAt(at))
		if op.Outcome != history.LossReported && next.foreign == nil {
			next.foreign, next.foreigner, k.chained = op, h, true
		}
	}
}

// blameStranger counts what a stale owner sent into the core of h, once however many
// it has let in since.
func (c *Checker) blameStranger(k *key, how kind, h *hold, others ...*hold) {
	if h.blamed {
		return
	}
	h.blamed = true
	under := c.touching(h.foreigner, h) | c.touching(others...) | h.foreigner.outlivedAt(callOf(h.foreign))
	c.violate(candidate{kind: how, key: k, holds: append([]*hold{h.foreigner, h}, others...), under: under})
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
		h.under |= lockbench.Crash
	}
	lurks := func(l clientTime) bool { return l.client != h.client && l.t > 0 }
	return slices.ContainsFunc(k.lurking, lurks) || slices.ContainsFunc(k.strays, func(s stray) bool {
		return s.client != h.client && !s.until.before(h.began())
	})
}

// follower is another that was granted the key since h was, maybe while the owner
// of h was being told of the loss; nil when there is none.
func (k *key) follower(h *hold) *hold {
	for other := range k.known() {
		if other.known && other.client != h.client && other.follows(h) {
			return other
		}
	}
	return nil
}

// metOthers tells whether another was granted the key since h was, or may have been:
// clocks that are off leave unknown who came first.
func (k *key) metOthers(h *hold) bool {
	for other := range k.known() {
		if other.known && other.client != h.client && !other.newest.before(h.began()) {
			return true
		}
	}
	return false
}

// owedLoss judges an answer that should have been "lost", since another owner
// was granted the key before the question.
func (c *Checker) owedLoss(k *key, h *hold, op *history.Op) {
	switch op.Outcome {
	case history.LossReported:
		c.expose(lossReported, c.lossUnder(h, callOf(op)))
		c.measure(&c.lossDelays, op.Return-h.supersededAt.t)
	case history.OK:
		_, deceived := k.deceived.get(h.client)
		anew := h.regrant || deceived && c.joins() // it may have been granted once more
		if anew || c.faults.skew > 0 {             // clocks that are off leave unknown who came first
			return
		}
		under := c.lossUnder(h, callOf(op))
		if x := k.strikeOn(op); x != nil {
			under |= x.cause
		}
		c.expose(lossReported, under)
		c.violate(candidate{kind: notTold, key: k, holds: []*hold{h, h.supersededBy}, under: under})
	}
}

// lossUnder returns the conditions under which the owner of h, who lost the key, asked at s.
func (c *Checker) lossUnder(h *hold, s stamp) lockbench.Conditions {
	return c.touching(h, h.supersededBy) | h.outlivedAt(s)
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
		c.expose(lossReported, c.lossUnder(h, s))
		c.measure(&c.lossDelays, s.t-h.supersededAt.t)
	}
	_, replaced := k.caps.get(h.client) // by its own acquire of unknown outcome, maybe
	valid := h.known && !replaced && h.from != history.NoStamp && s.before(stamp{t: h.until})
	if !valid || h.supersededAt != forever || c.partial || h.under&forgetful != 0 || k.toldByItself(h, op) {
		return
	}
	if h.foreign != nil {
		c.blameStranger(k, lostToStranger, h)
		return
	}
	c.unfounded(k, h, op, s)
}

// unfounded judges what the owner of h was told at s, and would not have been had
// the lock kept it for him as long as it had to.
func (c *Checker) unfounded(k *key, h *hold, op *history.Op, s stamp) {
	working := op.Kind == history.Lost && len(h.flying) > 0 // what is to prolong the lease was not answered yet
	certain := !working && k.refusal.nobodySince(h.began()) && (c.faults.skew == 0 || !k.metOthers(h))
	x := c.behind(k, lockbench.LostReply, h, s)
	if x == nil {
		x = c.behind(k, lockbench.Cancel, h, s)
	}
	under := c.touching(h)
	switch follower := k.follower(h); {
	case x != nil:
		c.violate(candidate{kind: lostReplyTook, key: k, ops: []*history.Op{x.op, h.ops[0], op, x.fault}, under: under | x.cause})
	case h.inner > 0 && c.nested:
		c.violate(candidate{kind: innerLost, key: k, holds: []*hold{h}, under: under})
	case !certain:
	case follower != nil:
		c.violate(candidate{kind: grantedEarly, key: k, holds: []*hold{h, follower}, under: c.touching(h, follower)})
	case h.stray:
		c.violate(candidate{kind: lostToStray, key: k, holds: []*hold{h}, under: under})
	case c.faults.flush != nil:
		c.violate(candidate{kind: falselyToldFlushed, key: k, ops: []*history.Op{op, c.faults.flush}, under: under | lockbench.ScriptFlush})
	default:
		c.expose(lossReported, under)
		c.violate(candidate{kind: falselyTold, key: k, holds: []*hold{h}, under: under})
	}
}
