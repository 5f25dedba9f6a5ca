package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// releaseCalled applies the call of release op.
func (c *Checker) releaseCalled(k *key, op *history.Op) {
	c.noteAbility(hasDelay, op.Delay > 0)
	h := c.lookup(k, op.Hold)
	if h == nil {
		k.noteCallOfForgotten(op)
		return
	}
	h.note(op)
	c.staleCall(k, h, op)
	last := h.Release(op)
	if c.rules.Nested && op.Outcome == history.Unknown {
		*k.unsureReleases.At(op.Client, 0)++
	}
	switch {
	case last && !h.Released:
		c.publish(factLettingGo, fact{at: interval.Call(op), key: k, op: op, hold: h})
		h.GiveUp(op)
		k.refusal.noteLevels(h)
		if h.retired { // its owner acquired anew, and still releases this one, maybe with a delay
			k.refusal.ended(h)
		}
		if h.CertainlyFree {
			c.clearEffects(k, h)
		}
	case last && !h.CertainlyFree:
		h.GiveUp(op)
		k.refusal.ended(h)
	}
}

func (c *Checker) releaseReturned(k *key, op *history.Op) {
	if h := k.find(op.Hold); h != nil {
		h.SettlePending(op, op.Return, op.Outcome == history.OK)
	}
	c.answered(k, op)
}

// extendCalled applies the call of op, an extend or renewal.
func (c *Checker) extendCalled(k *key, op *history.Op) {
	c.ability |= prolongs
	h := c.lookup(k, op.Hold)
	if h == nil {
		k.early.Called(op)
		k.noteCallOfForgotten(op)
		return
	}
	k.extendReach(h)
	if c.rules.Joins() {
		c.capOtherHolds(k, h, op)
	}
	if op.Kind == history.Extend {
		h.note(op)
		c.staleCall(k, h, op)
	}
	if op.Outcome == history.LossReported {
		if op.Kind == history.Renew { // a renewal tells its owner nothing: Lost() does
			h.CloseUnknown(interval.Call(op), interval.ByLoss, false)
		} else {
			h.Close(interval.Call(op), interval.ByLoss, true)
		}
		k.cuts++
		return
	}
	h.Extend(op)
	if h.retired { // its owner still uses it, so the server may keep it
		k.refusal.ended(h)
	}
}

func (c *Checker) extendReturned(k *key, op *history.Op) {
	h := k.find(op.Hold)
	if past := h == nil || h.Released; past && slices.ContainsFunc(k.holds, func(o *hold) bool { return o.client == op.Client && o != h && o.Confirmed && !o.Released }) {
		k.refusal.RenewalReturned(op)
	}
	if h == nil {
		return
	}
	if op.Outcome == history.Unknown {
		h.SettlePending(op, op.Return, false)
	}
	if op.Outcome == history.OK {
		h.Newest = interval.Earlier(h.Newest, interval.Return(op))
		k.extendReach(h)
		if h.Returned(op) {
			c.addStart(k, h, op, false)
		}
	}
	c.answered(k, op)
}

// answered applies the return of a release or extend that is answered "lost".
func (c *Checker) answered(k *key, op *history.Op) {
	if h := k.find(op.Hold); h != nil && op.Outcome == history.LossReported && op.Kind != history.Renew && (h.ReleasedBy == nil || h.ReleasedBy == op) {
		c.toldOfLoss(k, h, op, interval.Return(op))
	}
}

// staleCall applies the call of a release or extend by an owner that may have lost the key.
func (c *Checker) staleCall(k *key, h *hold, op *history.Op) {
	k.noteCall(h, op)
	superseded := h.supersededAt.Before(interval.Call(op))
	if !h.Released && !superseded {
		k.lateRelease(h, op)
	}
	if h.Released || superseded || h.EndedBy == interval.ByReacquire { // an owner that acquired anew may have released that grant
		c.publish(factStaleCalled, fact{at: interval.Call(op), key: k, op: op, hold: h})
	}
	if !h.Released && superseded && !h.knowsLoss {
		k.expectLoss(h, op)
	}
}

// An expectedLoss is an operation under way that should be answered "lost": before its call, at
// since, the owner of hold lost the key because by was granted.
type expectedLoss struct {
	op       *history.Op
	hold, by *hold
	since    interval.Stamp
	outlived lockbench.Conditions // Outlived if the call was made past validity, else 0
}

// expectLoss notes that op, just called, should be answered "lost" if it is answered at all.
func (k *key) expectLoss(h *hold, op *history.Op) {
	if op.Outcome == history.OK || op.Outcome == history.LossReported {
		k.expected = append(k.expected, expectedLoss{op, h, h.supersededBy, h.supersededAt, h.outlivedAt(interval.Call(op))})
	}
}

// answerExpected publishes factLossExpected when op returns: the faults of the server during op are
// known by then.
func (c *Checker) answerExpected(k *key, op *history.Op) {
	i := slices.IndexFunc(k.expected, func(o expectedLoss) bool { return o.op == op })
	if i < 0 {
		return
	}
	o := k.expected[i]
	k.expected = slices.Delete(k.expected, i, i+1)
	c.publish(factLossExpected, fact{at: o.since, key: k, op: op, hold: o.hold, other: o.by, under: o.outlived})
}

// toldOfLoss applies that op told the owner of h at s that it had lost the key.
func (c *Checker) toldOfLoss(k *key, h *hold, op *history.Op, s interval.Stamp) {
	if !h.knowsLoss {
		h.knowsLoss = true
		c.publish(factLossTold, fact{at: s, key: k, op: op, hold: h})
	}
}
