package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// This file finds the conditions that touch a hold.
//
// A condition sets its bit on the holds that it may affect, and on holds granted while it may still
// act. A violation or occasion carries the bits of all its holds. In doubt a condition touches a
// hold: a set that is too wide proves less, a set that is too narrow accuses wrongly.
// docs/design/guarantees.md argues that each is wide enough. These are the rows of its table of
// windows:
//
//	outlived      outlivedAt, and workedPast: an owner's work past its validity
//	pause         stoodStill, grantedUnder: the client's holds, from the pause to their end;
//	              stoodInstead: renewals that a standstill of everybody kept back
//	              delayed, grantedDelayed: renewals, where answers come late
//	              struckAgain: unseen renewals, where two replies are lost within a lease
//	crash         crashed: the client's holds; leftBy: keys that it may have left as they are
//	lost-reply    unanswered, grantedUnder, ranLate: holds valid while an affected call may act;
//	              affectClient: holds of the client, if it may renew them unseen
//	cancel        grantedUnder, ranLate: the grant of the call itself; holds valid when it ran late
//	script-flush  flushed: holds open then; answering: every answer after it
//	state-loss    forgetsHolds, grantedUnder: holds whose acquire was called before it
//	failover      the same
//	session-killed the same
//	skew          pending.Faults.Lasting: everything after it

// touching returns the conditions that touched these holds.
func (c *Checker) touching(holds ...*hold) lockbench.Conditions {
	var all lockbench.Conditions
	for _, h := range holds {
		if h != nil {
			all |= c.resolved(h.under, h.client)
		}
	}
	return all | c.faults.Lasting()
}

// resolved replaces the bit of a death in under by the condition of the death of client.
func (c *Checker) resolved(under lockbench.Conditions, client int32) lockbench.Conditions {
	if under&pending.Died == 0 {
		return under
	}
	return under&^pending.Died | c.deathCondition(client)
}

// deathCondition returns the condition of the death of client: ThreadDeath if other clients of its
// process live, else Crash.
func (c *Checker) deathCondition(client int32) lockbench.Conditions {
	if c.faults.clients.LivesOn(client) {
		return lockbench.ThreadDeath
	}
	return lockbench.Crash
}

// mayHaveDied returns the possible conditions of the death of client, which just died. Others in
// its process may yet die at this very moment, so Crash is always possible.
func (c *Checker) mayHaveDied(client int32) lockbench.Conditions {
	return lockbench.Crash | c.deathCondition(client)
}

// answering returns the conditions that touch the answer to op: an earlier script flush, a
// connection that a restart broke, if op is the first call since, and a loss of grants since the
// call.
func (c *Checker) answering(op *history.Op) (under lockbench.Conditions) {
	f := &c.faults
	if f.Flush != nil {
		under |= lockbench.ScriptFlush
	}
	if r := f.Restart; r != nil { // the first call since then finds its connection broken
		if cl := f.clients.Get(op.Client); cl.Last == nil || cl.Last.Return <= r.Call {
			under |= lockbench.LostReply
		}
	}
	return under | f.ForgotSince(interval.Call(op))
}

// grantedUnder returns the conditions that touch, or would touch, the grant of acquire op: faults
// that affected its client during the call, and faults of earlier operations that may still act.
func (c *Checker) grantedUnder(k *key, op *history.Op) lockbench.Conditions {
	if c.faults.Occurred == 0 {
		return 0
	}
	under := k.unknown.acts | c.faults.ForgotSince(interval.Call(op))
	if k.mayJoinRevived(op) {
		under |= lockbench.Failover
	}
	if !c.faults.clients.Get(op.Client).LastPause.Before(interval.Call(op)) {
		under |= lockbench.Pause
	}
	for i := range k.affected {
		x := &k.affected[i]
		own := x.Op == op
		joined := c.rules.Joins() && x.Cause == lockbench.LostReply && x.Op.Client == op.Client
		late := x.Until != (interval.Stamp{}) // a command of it ran after its call
		acts := (x.Touches() || late) && !x.Acted().Before(interval.LastTry(op))
		if own || joined || acts {
			under |= x.Cause
		}
	}
	return under
}

// mayJoinRevived reports whether acquire op may join a hold that a failover brought back.
func (k *key) mayJoinRevived(op *history.Op) bool {
	until, _ := k.revived.Get(op.Client)
	return until > op.Call
}

// unanswered sets the condition of x on the open holds, if the affected operation may act on them.
func (k *key) unanswered(x *pending.Effect) {
	if !x.Touches() {
		return
	}
	for _, h := range k.holds {
		h.under |= x.Cause
	}
}

// outlivedAt returns Outlived if the owner of h is past its validity at s, or may be.
func (h *hold) outlivedAt(s interval.Stamp) lockbench.Conditions {
	if h.From == history.NoStamp || s.T >= h.Until {
		return lockbench.Outlived
	}
	return 0
}

// stoodStill sets the condition of a pause of client on its holds.
func (c *Checker) stoodStill(client int32) {
	c.faults.Occurred |= lockbench.Pause
	c.touchHeld(client, lockbench.Pause)
}

// touchHeld sets cause on the holds of client, including holds with a release under way.
func (c *Checker) touchHeld(client int32, cause lockbench.Conditions) {
	flying, by := c.faults.clients.Get(client).UnderWay, cause
	if cause == pending.Died {
		by = c.mayHaveDied(client)
	}
	for _, k := range c.keys {
		k.stale.Touch(client, by, c.last)
		for h := range k.allHolds() {
			if h.client == client && (!h.Released || slices.Contains(flying, h.ReleasedBy)) {
				h.under |= cause
			}
		}
	}
}

// flushed sets the condition of a script flush on the renewals of the open holds, which may fail.
func (c *Checker) flushed() {
	c.eachOpen(func(_ *key, h *hold) { h.renewing |= lockbench.ScriptFlush })
}

// delayed applies that answers come late, or not at all, for a while: those of a client, or of the server.
// That is a pause to the renewals of holds that are open then, or granted meanwhile.
func (c *Checker) delayed(op *history.Op) {
	c.faults.Delayed = true
	if op.Client < 0 {
		c.faults.ServerDelayed = op
		c.eachOpen(func(_ *key, h *hold) { h.renewing |= lockbench.Pause })
		return
	}
	cl := c.faults.clients.Get(op.Client)
	cl.Delayed = max(cl.Delayed, interval.After(op.Call, op.Value))
	c.each(op.Client, func(_ *key, h *hold) { h.renewing |= lockbench.Pause })
}

// grantedDelayed returns Pause if acquire op was granted while answers came late.
func (c *Checker) grantedDelayed(op *history.Op) lockbench.Conditions {
	late := c.faults.ServerDelayed
	if op.Return < c.faults.clients.Get(op.Client).Delayed || late != nil && op.Call <= late.Call {
		return lockbench.Pause
	}
	return 0
}

// oneLoss is the longest time, in ns, between two events of one lost reply or cut: the fault, and the end of
// its connection.
const oneLoss = int64(20e6)

// struckAgain applies that a fault struck a client. If another one did so before within a lease, that is a
// pause to unseen renewals: a lock that tries again after a loss may lose that request, too.
func (c *Checker) struckAgain(cl *pending.Client, fault *history.Op) {
	last := cl.Struck
	if last != nil && fault.Call-last.Call <= oneLoss {
		return
	}
	cl.Struck = fault
	if last == nil {
		return
	}
	c.each(cl.ID(), func(_ *key, h *hold) {
		if last.Call >= h.Granted.T && fault.Call-last.Call <= h.MaxLease {
			h.renewing |= lockbench.Pause
		}
	})
}

// renewing returns the conditions that touched the renewals of h by t, in ns. There are none if the
// lock does not renew.
func (c *Checker) renewing(h *hold, t int64) lockbench.Conditions {
	if c.ability&prolongs != 0 || c.header.Renews || c.rules.HiddenRenewals || c.rules.Joins() {
		return h.renewing | c.stoodInstead(h, t)
	}
	return 0
}

// stoodInstead returns Pause if the owner of h worked past its validity, until t in ns, only
// because of standstills: for no longer than they lasted since that lease began. Otherwise the
// owner would have renewed h, or learnt that it cannot, that much earlier.
func (c *Checker) stoodInstead(h *hold, t int64) lockbench.Conditions {
	end := min(h.Until, h.intrusion.T)
	if past := t - end; past > 0 && past <= c.faults.standstills.Within(end-h.MaxLease, t) {
		return lockbench.Pause
	}
	return 0
}

// forgetsHolds applies that the server lost grants, and sets cause on all holds that the checker
// remembers.
func (c *Checker) forgetsHolds(cause lockbench.Conditions) {
	for _, k := range c.keys {
		for h := range k.allHolds() {
			h.under |= cause
			h.forgotten = true
		}
		if cause != lockbench.Failover {
			continue
		}
		until := interval.After(interval.After(c.last.T, k.asked.Highest()), k.refusal.Slack)
		for a := range k.asked.Each {
			if c.rules.Joins() { // its client may join the hold that it had released, and so prolong it
				k.revived.Raise(a.Client, until)
			}
		}
		if k.everAffected { // state that a fault had left may be back
			k.unknown.left |= cause
		}
	}
}

// ranLate applies that a command of client ran after its call had ended. It sets causes on all open
// holds, the client's own included.
func (c *Checker) ranLate(client int32, causes lockbench.Conditions) {
	for _, k := range c.keys {
		for _, h := range k.holds {
			h.staleConcurrent = h.staleConcurrent || h.client != client
			h.under |= causes
		}
	}
}
