package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/optime"
)

// A faultEffect is a fault that affected an operation, or the owner of a hold.
type faultEffect struct {
	cause lockbench.Conditions // LostReply, Cancel, or that its owner died
	fault *history.Op
	op    *history.Op  // affected while under way, or the acquire of h
	h     *hold        // nil when op made none
	until optime.Stamp // a command of it ran as late as this
	// bounded: it is over, and with it what it may have left on the server.
	bounded bool
	// over: somebody else was granted the key since, so nothing is left of it.
	over bool
	// free: op, an acquire that is to be refused, met a key that was provably free;
	// stirred is how many others might have taken it until then.
	free    bool
	stirred int
}

// acted is when what was affected took effect at the latest.
func (x *faultEffect) acted() optime.Stamp {
	if x.cause == died {
		return optime.Call(x.fault)
	}
	return optime.Later(optime.Return(x.op), x.until)
}

// unanswered tells whether what was affected may have run without its owner's knowing.
func (x *faultEffect) unanswered() bool {
	switch x.cause {
	case lockbench.LostReply:
		return !x.cut()
	case lockbench.Cancel:
		return x.op.Kind != history.Acquire && x.until != (optime.Stamp{})
	}
	return false
}

// cut tells whether the command never ran, since its connection broke first.
func (x *faultEffect) cut() bool { return x.fault.Note == cutOff }

// touches tells whether what was affected may have acted otherwise than its owner knows, once
// or, where it was cut and tried again, later than its call says.
func (x *faultEffect) touches() bool {
	return x.unanswered() || x.cut() && x.op.Outcome != history.Unknown
}

// keptEffects bounds how many fault effects a key remembers.
const keptEffects = 32

// keepEffect keeps x. Where there are too many, one that has no effect any more makes way, and
// else the oldest, of which it is noted what it may still do.
func (c *Checker) keepEffect(k *key, x faultEffect) {
	if len(k.affected) == keptEffects {
		spent := func(x faultEffect) bool { return x.over && !x.touches() }
		i := max(0, slices.IndexFunc(k.affected, spent))
		if old := &k.affected[i]; !spent(*old) {
			k.unknown.left |= c.resolved(old.cause, old.op.Client)
			if old.touches() {
				k.unknown.acts |= old.cause
			}
		}
		k.affected = slices.Delete(k.affected, i, i+1)
	}
	k.everAffected = true
	k.affected = append(k.affected, x)
}

// effectOn is the first effect of a fault on op, nil when there was none.
func (k *key) effectOn(op *history.Op) *faultEffect {
	for i := range k.affected {
		if k.affected[i].op == op {
			return &k.affected[i]
		}
	}
	return nil
}

// actedBefore tells whether what a fault affected of op has had its effect before other was called.
func (k *key) actedBefore(op, other *history.Op) bool {
	x := k.effectOn(op)
	return x != nil && x.bounded && x.acted().Before(optime.Call(other))
}

// wasAffected tells whether a fault affected op.
func (k *key) wasAffected(op *history.Op) bool { return k.effectOn(op) != nil }

// unbounded tells whether an acquire was affected that is still under way, whatever
// it will be told.
func (k *key) unbounded() bool {
	return slices.ContainsFunc(k.affected, func(x faultEffect) bool { return !x.bounded && x.op.Kind == history.Acquire })
}

// affect notes that fault affected op.
func (c *Checker) affect(cause lockbench.Conditions, fault, op *history.Op) {
	if op.Kind == history.Read || op.Kind == history.Write {
		return
	}
	k := c.key(op.Key)
	x := faultEffect{cause: cause, fault: fault, op: op, h: k.find(op.Hold)}
	if fault.Note == runLate {
		x.until = optime.Call(fault)
	}
	x.free = cause == lockbench.LostReply && op.Outcome == history.Refused && !k.wedged() && c.freeBefore(k, optime.Call(op))
	if op.Outcome == history.Refused || op.Outcome == history.LossReported {
		c.triedBefore(k, op)
	}
	x.stirred = k.refusal.stirred
	c.keepEffect(k, x)
	k.unanswered(&x)
	if cause == died || fault.Note == runLate { // else its return is to come
		c.bound(k, op, x.acted())
	}
}

// wedged tells whether a fault may have left the key as it is.
func (k *key) wedged() bool {
	return slices.ContainsFunc(k.affected, func(x faultEffect) bool { return !x.over })
}

// triedBefore applies that op, answered refused or lost, may have been tried more
// than once within: a first try that lost its reply may have done what the last one
// says it did not. It may have taken the key, or cut a lease short.
func (c *Checker) triedBefore(k *key, op *history.Op) {
	if op.Kind == history.Acquire {
		k.refusal.excuse(op)
		k.refusal.stirred++
		k.deceived.Raise(op.Client, op.Call)
	}
	if h := k.find(op.Hold); h != nil && (op.Kind == history.Extend || op.Kind == history.Renew) { // it may have extended the lease
		ttl := optime.Wanted(op)
		if ttl == math.MaxInt64 {
			ttl = h.Most
		}
		k.refusal.keep(optime.After(optime.After(op.Return, ttl), k.refusal.slack))
	}
	for _, h := range k.holds {
		ttl := optime.Wanted(op)
		if op.Kind == history.Renew && ttl == math.MaxInt64 { // it does not tell
			ttl = h.Least
		}
		acquires := op.Kind == history.Acquire
		switch {
		case h.client != op.Client:
		case acquires && c.rules.Nested: // a level more, maybe
			h.Doubt = true
		case acquires && c.rules.Refreshed, h.id == op.Hold && op.Kind != history.Release: // its must-hold interval ended at the call
			h.Bound(optime.After(op.Call, ttl))
		}
	}
}

// affectedReturned applies the return of op if a fault affected it.
func (c *Checker) affectedReturned(k *key, op *history.Op) {
	if k.wasAffected(op) {
		c.bound(k, op, optime.Return(op))
	}
}

// bound applies that op, which a fault affected, has had what effect it had by end:
// what it may have left on the server lasts a lease from then on.
func (c *Checker) bound(k *key, op *history.Op, end optime.Stamp) {
	first := true
	for i := range k.affected {
		if x := &k.affected[i]; x.op == op {
			first = first && !x.bounded
			x.bounded = true
		}
	}
	h, r := k.find(op.Hold), &k.refusal
	if first {
		c.staleActed(k, op, end)
	}
	if op.Kind == history.Acquire {
		r.acted = optime.Later(r.acted, end)
	}
	if first && op.Kind == history.Acquire && op.Outcome == history.Unknown {
		r.tainted--
		if op.Return == history.Never { // its client died
			r.granting--
		}
	}
	until := optime.After(end.T, optime.Wanted(op))
	switch {
	case h != nil && !h.Known && h.ops[0] == op:
		h.MayEnd(until)
		if h.kept {
			r.gone(h)
		}
	case h != nil && h.Fold(op, end.T, true):
	case end.T > op.Return, op.Kind == history.Acquire && op.Outcome != history.OK:
		r.keep(optime.After(until, r.slack))
		if c.rules.Nested && op.Kind == history.Acquire && !c.faults.clients.Gone(op.Client) { // it may have made a level
			r.residues.Raise(op.Client, optime.After(until, r.slack))
		}
	}
}

// clearEffects forgets the fault effects on the owner of h before it was granted h, which it
// gave up for certain: nothing that it does later goes back to them. That it was
// granted h shows nothing where it may have joined what the fault had left.
func (c *Checker) clearEffects(k *key, h *hold) {
	joins := c.header.Reacquire != "refused" // also where it is not known
	k.affected = slices.DeleteFunc(k.affected, func(x faultEffect) bool {
		return x.op.Client == h.client && x.bounded && x.acted().T < h.ops[0].Call && (x.over || !joins)
	})
}

// leftOver tells whether a fault may have left client something that its next
// acquire joins.
func (k *key) leftOver(client int32) bool {
	return slices.ContainsFunc(k.affected, func(x faultEffect) bool { return x.op.Client == client && !x.over })
}
