package checker

import (
	"slices"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// The timeline derives facts about holds from events, and publishes them. This file has the events
// of clients and keys; acquires.go has acquires, releases.go has releases, extends and renewals,
// and faults.go has faults.

// called applies the call of op. The record is complete, so its outcome is known
// already.
func (c *Checker) called(op *history.Op) {
	if op.Key == "" {
		c.happened(op)
		return
	}
	k := c.key(op.Key)
	if !c.verdictsOnly {
		k.operations.Keep(op, &k.part.smallKeys)
	}
	switch op.Kind {
	case history.Acquire:
		c.acquireCalled(k, op)
	case history.Release:
		c.releaseCalled(k, op)
	case history.Extend, history.Renew:
		c.extendCalled(k, op)
	case history.Read, history.Write:
		c.ability |= hasStore
		c.publish(factStoreCalled, fact{at: interval.Call(op), key: k, op: op})
	default:
		c.happened(op)
	}
}

// returned applies the return of op.
func (c *Checker) returned(op *history.Op) {
	if op.Key == "" {
		return
	}
	k := c.key(op.Key)
	if len(k.affected) > 0 && k.affected.Has(op) {
		c.bound(k, op, interval.Return(op))
	}
	if len(k.expected) > 0 {
		c.answerExpected(k, op)
	}
	if op.Note != "" || c.faults.Flush != nil {
		c.publish(factAnswered, fact{at: interval.Return(op), key: k, op: op})
	}
	switch op.Kind {
	case history.Acquire:
		c.acquireReturned(k, op)
	case history.Release:
		c.releaseReturned(k, op)
	case history.Extend, history.Renew:
		c.extendReturned(k, op)
	case history.Read, history.Write:
		c.publish(factStoreReturned, fact{at: interval.Return(op), key: k, op: op})
	}
}

// settle brings k to stamp s: it compares the holds that began before s, and reports the refusals
// that nothing can explain any more.
func (c *Checker) settle(k *key, s interval.Stamp) {
	if !k.now.Before(s) {
		return
	}
	if len(k.starts) > 0 {
		for i := range k.starts {
			c.compareStart(k, i)
		}
		k.starts = k.starts[:0]
	}
	if len(k.refusal.denials) > 0 && !c.partial && (len(k.refusal.refusing) == 0 || !c.faulty()) {
		c.refusedFree(k)
	}
	c.retire(k, s)
	k.now = s
}

// compareStart compares the hold that began at k.starts[i] with the other open holds. All events of
// that instant have been applied.
func (c *Checker) compareStart(k *key, i int) {
	s := k.starts[i]
	if s.grant {
		c.publish(factInEffect, fact{at: s.at, key: k, hold: s.h})
	}
	for a := range k.others(s.h.client) {
		if begins := func(s start) bool { return s.h == a }; slices.ContainsFunc(k.starts[i+1:], begins) {
			continue // compared when it is the other's turn
		}
		if interval.Conflict(&a.Grant, &s.h.Grant) {
			c.publish(factOverlap, fact{at: s.at, key: k, hold: a, other: s.h})
		}
		if s.grant && a.Confirmed && a.Granted.Before(s.at) && !a.Released && s.h.follows(a) {
			c.superseded(k, a, s)
		}
	}
}

// superseded applies that s was granted while the owner of a had not given the key up.
func (c *Checker) superseded(k *key, a *hold, s start) {
	f := fact{at: s.at, key: k, hold: a, other: s.h}
	if a.supersededBy == nil {
		a.supersededBy, a.supersededAt = s.h, s.at
		c.publish(factSuperseded, f)
	}
	switch {
	case a.From == history.NoStamp || a.Dead && c.partial:
	case a.ValidAt(s.at):
		c.publish(factGrantedEarly, f)
	default:
		c.publish(factIntruded, f)
	}
}

// happened applies an event of a client or a hold that is no call.
func (c *Checker) happened(op *history.Op) {
	if act := fault.EventOf(op.Note).Act; op.Kind != history.Lost && act != fault.StandsStill && act != fault.Passes {
		c.materializeAll()
	}
	switch op.Kind {
	case history.Lost:
		c.lostClosed(op)
	case history.Death:
		c.keepClientEnd(op)
		c.died(op)
	case history.Pause:
		cl := c.faults.clients.Get(op.Client)
		cl.LastPause, cl.Paused = interval.Call(op), true
		c.stoodStill(op.Client)
	case history.Resume:
		c.faults.clients.Get(op.Client).Paused = false
		c.each(op.Client, func(_ *key, h *hold) { h.awake(interval.Call(op)) })
	case history.Fault:
		c.faulted(op)
	}
}

// lostClosed applies that the channel Lost() of a lease closed.
func (c *Checker) lostClosed(op *history.Op) {
	k := c.key(op.Key)
	h := c.lookup(k, op.Hold)
	if h == nil {
		return
	}
	h.CloseUnknown(interval.Call(op), interval.ByLoss, false)
	if h.lossUnread = c.faults.clients.Get(op.Client).Paused; !h.lossUnread {
		h.LastWork = interval.Earlier(h.LastWork, interval.Call(op))
	}
	if h.Released {
		return
	}
	h.note(op)
	k.cuts++
	c.toldOfLoss(k, h, op, interval.Call(op))
}

// cut ends the record of a client. From here on, a missing operation proves nothing.
func (c *Checker) cut(op *history.Op) {
	c.partial = true
	c.materializeAll()
	if c.last.T == op.Call { // a cut has no sequence number, and comes after all other events of its instant
		numbered := *op
		numbered.CallSeq = c.last.Seq
		op = &numbered
	}
	c.keepClientEnd(op)
	for _, k := range c.sorted() { // compare before the cut ends holds
		if slices.ContainsFunc(k.holds, func(h *hold) bool { return h.client == op.Client }) {
			c.settle(k, interval.Call(op))
		}
	}
	c.each(op.Client, func(k *key, h *hold) {
		h.Close(interval.Call(op), interval.ByCut, true)
		h.Dead = true
		k.cuts++
	})
}

// each applies f to every hold that client has not released.
func (c *Checker) each(client int32, f func(*key, *hold)) {
	c.eachOpen(func(k *key, h *hold) {
		if h.client == client {
			f(k, h)
		}
	})
}

// eachOpen applies f to every hold that was not released.
func (c *Checker) eachOpen(f func(*key, *hold)) {
	for _, k := range c.keys {
		for _, h := range k.holds {
			if !h.Released {
				f(k, h)
			}
		}
	}
}
