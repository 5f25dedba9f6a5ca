package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// keepEffect keeps x on k. If an older effect must make room for it, keepEffect keeps the
// conditions of the older effect.
func (c *Checker) keepEffect(k *key, x pending.Effect) {
	if old, lost := k.affected.Keep(x); lost {
		k.unknown.left |= c.resolved(old.Cause, old.Op.Client)
		if old.Touches() {
			k.unknown.acts |= old.Cause
		}
	}
	k.everAffected = true
}

// affect applies a fault, the event by, to op, which was under way.
func (c *Checker) affect(cause lockbench.Conditions, by, op *history.Op) {
	if op.Kind == history.Read || op.Kind == history.Write {
		return
	}
	k := c.key(op.Key)
	if c.affected != nil {
		c.affected(k, op, by.Call, cause)
	}
	act := fault.EventOf(by.Note).Act
	x := pending.Effect{Cause: cause, Fault: by, Op: op, Cut: act == fault.CutsCall}
	if h := k.find(op.Hold); h != nil {
		x.Under = &h.under
	}
	if act == fault.ActsLate {
		x.Until = interval.Call(by)
	}
	x.MetFreeKey = cause == lockbench.LostReply && op.Outcome == history.Refused && !k.affected.AnyLeft() && c.freeBefore(k, interval.Call(op))
	if op.Outcome == history.Refused || op.Outcome == history.LossReported {
		c.triedBefore(k, op)
	}
	x.PossibleGrants = k.refusal.PossibleGrants
	c.keepEffect(k, x)
	k.unanswered(&x)
	if cause == pending.Died || act == fault.ActsLate { // otherwise the return of op is still to come
		c.bound(k, op, x.Acted())
	}
}

// triedBefore applies that op, answered refused or lost, may have made an earlier attempt and lost
// its reply. The attempt may have taken the key, or set a shorter lease.
func (c *Checker) triedBefore(k *key, op *history.Op) {
	if op.Kind == history.Acquire {
		k.refusal.excuse(op)
		k.refusal.PossibleGrants++
		k.faultedAcquires.Raise(op.Client, op.Call)
	}
	if h := k.find(op.Hold); h != nil && (op.Kind == history.Extend || op.Kind == history.Renew) { // the attempt may have extended the lease
		ttl := interval.LongestAsked(op)
		if ttl == math.MaxInt64 {
			ttl = h.MaxLease
		}
		k.refusal.BusyFor(op.Return, ttl)
	}
	for _, h := range k.holds {
		ttl := interval.LongestAsked(op)
		if op.Kind == history.Renew && ttl == math.MaxInt64 { // the record does not tell its lease
			ttl = h.Renewal(op)
		}
		acquires := op.Kind == history.Acquire
		switch {
		case h.client != op.Client:
		case acquires && c.rules.Nested: // the attempt may have added a level
			h.Uncertain = true
		case acquires && c.rules.Refreshed, h.id == op.Hold && op.Kind != history.Release: // its must-hold interval ended at the call
			h.Bound(interval.After(op.Call, ttl))
		}
	}
}

// bound applies that op, which a fault affected, acts no later than end. A grant that it may have
// left on the server lasts for a lease from then on.
func (c *Checker) bound(k *key, op *history.Op, end interval.Stamp) {
	first := k.affected.Bound(op)
	h, r := k.find(op.Hold), &k.refusal
	if first {
		c.staleActed(k, op, end)
	}
	if op.Kind == history.Acquire {
		r.FaultedActed(end)
	}
	if first && op.Kind == history.Acquire && op.Outcome == history.Unknown {
		r.UnknownAcquires--
		if op.Return == history.Never { // its client died
			r.GrantsUnderWay--
		}
	}
	until := interval.After(end.T, interval.LongestAsked(op))
	if until == math.MaxInt64 && c.faults.clients.Gone(op.Client) { // it has no lease, but its session has ended
		until = end.T
	}
	switch {
	case h != nil && !h.Confirmed && h.ops[0] == op:
		h.EndMayHold(until)
		if h.retired {
			r.ended(h)
		}
	case h != nil && h.SettlePending(op, end.T, true):
	case end.T > op.Return, op.Kind == history.Acquire && op.Outcome != history.OK:
		r.BusyFor(until, 0)
		if c.rules.Nested && op.Kind == history.Acquire && !c.faults.clients.Gone(op.Client) { // op may have added a level
			r.LeftLevels.Raise(op.Client, interval.After(until, r.Slack))
		}
	}
}

// clearEffects drops the effects of faults on the owner of h from before the grant of h. The owner
// certainly freed the key, so no later state is due to them. Effects that are not over stay if the
// acquire may have joined levels that a fault had left.
func (c *Checker) clearEffects(k *key, h *hold) {
	if len(k.affected) == 0 {
		return
	}
	joins := c.header.Reacquire != "refused" // true if the header does not say
	k.affected = slices.DeleteFunc(k.affected, func(x pending.Effect) bool {
		return x.Op.Client == h.client && x.Bounded && x.Acted().T < h.ops[0].Call && (x.Superseded || !joins)
	})
}
