package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// A strike is a fault that struck an operation, or the owner of a hold.
type strike struct {
	kind  lockbench.Guarantee // Recovery, LostReply or Cancel: what answers for it
	fault *history.Op
	op    *history.Op // struck while under way, or the acquire of h
	h     *hold       // nil when op made none
	until stamp       // a command of it ran as late as this
	// bounded: it is over, and with it what it may have left on the server.
	bounded bool
	// over: somebody else was granted the key since, so nothing is left of it.
	over bool
	// free: op, an acquire that is to be refused, met a key that was provably free;
	// stirred is how many others might have taken it until then.
	free    bool
	stirred int
}

// acted is when what was struck took effect at the latest.
func (x *strike) acted() stamp {
	if x.kind == lockbench.Recovery {
		return callOf(x.fault)
	}
	return later(returnOf(x.op), x.until)
}

// unanswered tells whether what was struck may have run without its owner's knowing.
func (x *strike) unanswered() bool {
	switch x.kind {
	case lockbench.LostReply:
		return x.fault.Note != cutOff
	case lockbench.Cancel:
		return x.op.Kind != history.Acquire && x.until != (stamp{})
	}
	return false
}

// keptStrikes bounds how many strikes a key remembers.
const keptStrikes = 32

func (k *key) struckBy(x strike) {
	if len(k.struck) == keptStrikes {
		k.struck = slices.Delete(k.struck, 0, 1)
	}
	k.struck = append(k.struck, x)
}

// strikeOn is the first strike of a fault on op, nil when there was none.
func (k *key) strikeOn(op *history.Op) *strike {
	for i := range k.struck {
		if k.struck[i].op == op {
			return &k.struck[i]
		}
	}
	return nil
}

// wasStruck tells whether a fault struck op.
func (k *key) wasStruck(op *history.Op) bool { return k.strikeOn(op) != nil }

// unbounded tells whether an acquire was struck that is still under way, whatever
// it will be told.
func (k *key) unbounded() bool {
	return slices.ContainsFunc(k.struck, func(x strike) bool { return !x.bounded && x.op.Kind == history.Acquire })
}

// strike notes that fault struck op.
func (c *Checker) strike(kind lockbench.Guarantee, fault, op *history.Op) {
	if op.Kind == history.Read || op.Kind == history.Write {
		return
	}
	k := c.key(op.Key)
	x := strike{kind: kind, fault: fault, op: op, h: k.find(op.Hold)}
	if fault.Note == ranLate {
		x.until = callOf(fault)
	}
	x.free = kind == lockbench.LostReply && op.Outcome == history.Refused && !k.wedged() && c.freeBefore(k, callOf(op))
	if op.Outcome == history.Refused || op.Outcome == history.LossReported {
		c.triedBefore(k, op)
	}
	x.stirred = k.refusal.stirred
	k.struckBy(x)
	if kind == lockbench.Recovery || fault.Note == ranLate { // else its return is to come
		c.bound(k, op, x.acted())
	}
}

// wedged tells whether a fault may have left the key as it is.
func (k *key) wedged() bool {
	return slices.ContainsFunc(k.struck, func(x strike) bool { return !x.over })
}

// triedBefore applies that op, answered refused or lost, may have been tried more
// than once within: a first try that lost its reply may have done what the last one
// says it did not. It may have taken the key, or cut a lease short.
func (c *Checker) triedBefore(k *key, op *history.Op) {
	if op.Kind == history.Acquire {
		k.refusal.excuse(op)
		k.refusal.stirred++
		k.deceived.raise(op.Client, op.Call)
	}
	for _, h := range k.holds {
		ttl := wanted(op)
		if op.Kind == history.Renew && ttl == math.MaxInt64 { // it does not tell
			ttl = h.least
		}
		acquires := op.Kind == history.Acquire
		switch {
		case h.client != op.Client:
		case acquires && c.nested: // a level more, maybe
			h.doubt = true
		case acquires && c.refreshed, h.id == op.Hold && op.Kind != history.Release: // its core ended at the call
			h.until = min(h.until, after(op.Call, ttl))
		}
	}
}

// returnedStruck applies the return of op if a fault struck it.
func (c *Checker) returnedStruck(k *key, op *history.Op) {
	if k.wasStruck(op) {
		c.bound(k, op, returnOf(op))
	}
}

// bound applies that op, which a fault struck, has had what effect it had by end:
// what it may have left on the server lasts a lease from then on.
func (c *Checker) bound(k *key, op *history.Op, end stamp) {
	first := true
	for i := range k.struck {
		if x := &k.struck[i]; x.op == op {
			first = first && !x.bounded
			x.bounded = true
		}
	}
	h, r := k.find(op.Hold), &k.refusal
	if first {
		c.unlurk(k, op, end)
	}
	if op.Kind == history.Acquire {
		r.acted = later(r.acted, end)
	}
	if first && op.Kind == history.Acquire && op.Outcome == history.Unknown {
		r.tainted--
		if op.Return == history.Never { // its client died
			r.granting--
		}
	}
	until := after(end.t, wanted(op))
	switch {
	case h != nil && !h.known && h.ops[0] == op:
		h.widest = until
		if h.dropped {
			r.gone(h)
		}
	case h != nil && h.fold(op, end.t, true):
	case end.t > op.Return, op.Kind == history.Acquire && op.Outcome != history.OK:
		r.keep(after(until, r.slack))
		if c.nested && op.Kind == history.Acquire && !c.faults.gone(op.Client) { // it may have made a level
			r.residues.raise(op.Client, after(until, r.slack))
		}
	}
}

// wanted is the lease in ns that op asked for, or the delay, whatever it was told.
func wanted(op *history.Op) int64 {
	if op.Kind == history.Release {
		return op.Delay
	}
	if op.Granted == 0 && op.Asked > 0 {
		return op.Asked
	}
	return lease(op)
}

// recovered applies that acquire op was granted the key: nothing is left of what
// faults did to others before, and each guarantee that answers for it was put to the
// test. A grant whose lease may have been over by then may have come before.
func (c *Checker) recovered(k *key, op *history.Op) {
	var shown []lockbench.Guarantee
	for i := range k.struck {
		x := &k.struck[i]
		if x.op == op && x.kind == lockbench.Cancel { // an ordinary grant, to be kept like any
			c.expose(lockbench.Cancel)
		}
		if x.over || x.op.Client == op.Client || x.bounded && after(startOf(op), lease(op)) <= x.acted().t {
			continue
		}
		x.over = x.bounded // else what was struck goes on, and may do harm yet
		if !slices.Contains(shown, x.kind) {
			shown = append(shown, x.kind)
			c.expose(x.kind)
		}
	}
}

// forgive forgets the strikes on the owner of h before it was granted h, which it
// gave up for certain: nothing that it does later goes back to them. That it was
// granted h shows nothing where it may have joined what the fault had left.
func (c *Checker) forgive(k *key, h *hold) {
	joins := c.header.Reacquire != "refused" // also where it is not known
	k.struck = slices.DeleteFunc(k.struck, func(x strike) bool {
		return x.op.Client == h.client && x.bounded && x.acted().t < h.ops[0].Call && (x.over || !joins)
	})
}

// leftOver tells whether a fault may have left client something that its next
// acquire joins.
func (k *key) leftOver(client int32) bool {
	return slices.ContainsFunc(k.struck, func(x strike) bool { return x.op.Client == client && !x.over })
}

// wedgedBy is what a refusal of the free key k is to be blamed on: the fault that
// may have left the key so, and its guarantee; without any, on the lock as it is.
func (c *Checker) wedgedBy(k *key) (lockbench.Guarantee, *strike) {
	blamed := -1
	for i, x := range k.struck {
		if !x.over && (blamed < 0 || c.claims(k.struck[blamed].kind)) {
			blamed = i
		}
	}
	if blamed < 0 {
		return c.unlessFlushed(lockbench.NoSpuriousRefusal), nil
	}
	x := k.struck[blamed]
	if c.faults.flush != nil && c.claims(x.kind) && !c.claims(lockbench.ScriptFlush) {
		return lockbench.ScriptFlush, nil
	}
	return x.kind, &x
}

// unlessFlushed is what is blamed for a breach of g by an answer: when the server
// had forgotten its scripts, the answer may be owed to that.
func (c *Checker) unlessFlushed(g lockbench.Guarantee) lockbench.Guarantee {
	if c.faults.flush == nil {
		return g
	}
	return c.either(lockbench.ScriptFlush, g)
}

func (c *Checker) claims(g lockbench.Guarantee) bool { return slices.Contains(c.header.Claims, g) }

// either is which of two guarantees that one violation may be owed to is blamed: in
// doubt the one that the design does not claim to keep.
func (c *Checker) either(likelier, other lockbench.Guarantee) lockbench.Guarantee {
	if c.claims(likelier) && !c.claims(other) {
		return other
	}
	return likelier
}

// denied reports the refusal of a free key.
func (c *Checker) denied(k *key, d denial) {
	c.expose(d.blame)
	if d.by == nil {
		kind := refusedFree
		if d.blame == lockbench.ScriptFlush {
			kind = refusedFlushed
		}
		c.violateOps(d.blame, k, kind, d.op)
		return
	}
	kind := refusedLost
	switch {
	case d.blame == lockbench.NoSpuriousRefusal:
		c.violateOps(d.blame, k, toldRefused, d.op, d.by.fault)
		return
	case d.blame == lockbench.Cancel:
		kind = refusedCancelled
	case d.blame == lockbench.Recovery && c.faults.livesOn(d.by.op.Client):
		kind = refusedThread
	case d.blame == lockbench.Recovery:
		kind = refusedDead
	}
	c.violateOps(d.blame, k, kind, d.by.op, d.op, d.by.fault)
}

// toldByItself tells whether the owner of h may have let go of it itself before op,
// which told it of the loss: by a try that lost its reply.
func (k *key) toldByItself(h *hold, op *history.Op) bool {
	return slices.ContainsFunc(k.struck, func(x strike) bool {
		return x.op.Client == h.client && (x.op == op || x.op.Hold == h.id || !x.acted().before(h.began()))
	})
}

// behind is the lost reply, or the cancelling, that may explain why victim had lost the key by at: of
// an operation that may have acted, once or once more, since the victim was granted
// it, or of one that left something which the victim joined. What was cut did not
// run; a release or extend that was given up ran late.
func (c *Checker) behind(k *key, kind lockbench.Guarantee, victim *hold, at stamp) *strike {
	for i := range k.struck {
		x := &k.struck[i]
		if x.kind != kind || !x.unanswered() || !callOf(x.op).before(at) {
			continue
		}
		joined := c.joins() && kind == lockbench.LostReply && x.op.Client == victim.client
		if joined || !x.acted().before(victim.began()) {
			return x
		}
	}
	return nil
}
