package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// A strike is a fault that struck an operation, or the owner of a hold.
type strike struct {
	cause lockbench.Conditions // LostReply, Cancel, or that its owner died
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
	if x.cause == died {
		return callOf(x.fault)
	}
	return later(returnOf(x.op), x.until)
}

// unanswered tells whether what was struck may have run without its owner's knowing.
func (x *strike) unanswered() bool {
	switch x.cause {
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
	if len(k.struck) == keptStrikes { // what it did may be seen later, by nobody knows what
		k.unknownCauses |= k.struck[0].cause
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
func (c *Checker) strike(cause lockbench.Conditions, fault, op *history.Op) {
	if op.Kind == history.Read || op.Kind == history.Write {
		return
	}
	k := c.key(op.Key)
	x := strike{cause: cause, fault: fault, op: op, h: k.find(op.Hold)}
	if fault.Note == ranLate {
		x.until = callOf(fault)
	}
	x.free = cause == lockbench.LostReply && op.Outcome == history.Refused && !k.wedged() && c.freeBefore(k, callOf(op))
	if op.Outcome == history.Refused || op.Outcome == history.LossReported {
		c.triedBefore(k, op)
	}
	x.stirred = k.refusal.stirred
	k.struckBy(x)
	k.touch(&x)
	if cause == died || fault.Note == ranLate { // else its return is to come
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

// recovered applies that acquire op was granted the key: nothing is left of what faults
// did to others before, and recovery was put to the test. A grant whose lease may have been
// over by then may have come before.
func (c *Checker) recovered(k *key, op *history.Op) {
	var under lockbench.Conditions
	for i := range k.struck {
		x := &k.struck[i]
		if x.op == op && x.cause == lockbench.Cancel { // an ordinary grant, to be kept like any
			c.expose(leaseKept, lockbench.Cancel|c.faults.lasting())
		}
		if x.over || x.op.Client == op.Client || x.bounded && after(startOf(op), lease(op)) <= x.acted().t {
			continue
		}
		x.over = x.bounded // else what was struck goes on, and may do harm yet
		under |= c.resolved(x.cause, x.op.Client)
	}
	if under != 0 {
		c.expose(recovery, under|c.answering(op))
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

// denied notes the refusal of a free key.
func (c *Checker) denied(k *key, d denial) {
	v := candidate{key: k, ops: []*history.Op{d.op}, under: d.under}
	switch x := d.by; {
	case x == nil && c.faults.flush != nil:
		v.kind = refusedFlushed
	case x == nil:
		v.kind = refusedFree
	case d.told:
		v.kind, v.ops = toldRefused, []*history.Op{d.op, x.fault}
	default:
		v.kind, v.ops = x.wedged(c), []*history.Op{x.op, d.op, x.fault}
	}
	c.violate(v)
}

// wedged is the kind of violation that a refusal is which x may have caused.
func (x *strike) wedged(c *Checker) kind {
	switch {
	case x.cause == lockbench.Cancel:
		return refusedCancelled
	case x.cause == lockbench.LostReply:
		return refusedLost
	case c.deathOf(x.op.Client) == lockbench.ThreadDeath:
		return refusedThread
	}
	return refusedDead
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
func (c *Checker) behind(k *key, cause lockbench.Conditions, victim *hold, at stamp) *strike {
	for i := range k.struck {
		x := &k.struck[i]
		if x.cause != cause || !x.unanswered() || !callOf(x.op).before(at) {
			continue
		}
		joined := c.joins() && cause == lockbench.LostReply && x.op.Client == victim.client
		if joined || !x.acted().before(victim.began()) {
			return x
		}
	}
	return nil
}
