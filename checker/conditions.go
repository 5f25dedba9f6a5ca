package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// Which conditions touch what.
//
// A condition that affects leaves its bit on the holds that it may have an effect on, and the
// holds that are granted while it may still act get it, too. What is found about holds, or is
// an occasion for it, carries the bits of all of them. In doubt a condition touches: a set too
// wide costs power, one too narrow accuses. docs/design/guarantees.md says why each is wide
// enough. Below are the rows of its table of windows:
//
//	outlived      outlivedAt, and workedPast: what an owner does past its validity
//	pause         stoodStill, grantedUnder: the client's holds, from the pause to their end;
//	              stoodInstead: renewals that a standstill of everybody kept back
//	crash         crashed: the client's holds; leftBy: keys that it may have left as they are
//	lost-reply    unanswered, grantedUnder, ranLate: holds valid while what was affected may act
//	cancel        grantedUnder, ranLate: the grant of the call itself; holds valid when it ran late
//	script-flush  flushed: holds open then; answering: every answer after it
//	state-loss    forgetsHolds, grantedUnder: holds whose acquire was called before it
//	failover      the same
//	skew          occurred.Faults.Lasting: everything after it

// forgetful are the conditions under which the server forgets what it granted.
const forgetful = lockbench.StateLoss | lockbench.Failover

// touching returns the conditions that touched what was done under these holds.
func (c *Checker) touching(holds ...*hold) lockbench.Conditions {
	var all lockbench.Conditions
	for _, h := range holds {
		if h != nil {
			all |= c.resolved(h.under, h.client)
		}
	}
	return all | c.faults.Lasting()
}

// resolved returns under with the death of client by its name.
func (c *Checker) resolved(under lockbench.Conditions, client int32) lockbench.Conditions {
	if under&pending.Died == 0 {
		return under
	}
	return under&^pending.Died | c.deathOf(client)
}

// deathOf returns whether client died with its process or alone.
func (c *Checker) deathOf(client int32) lockbench.Conditions {
	if c.faults.clients.LivesOn(client) {
		return lockbench.ThreadDeath
	}
	return lockbench.Crash
}

// mayHaveDied returns how client, which just died, may have: with its process, or alone as long
// as others live in it, which may die at this very moment.
func (c *Checker) mayHaveDied(client int32) lockbench.Conditions {
	return lockbench.Crash | c.deathOf(client)
}

// answering returns the conditions that touch the answer to op: a flush before now, a connection
// that a restart broke before the first call since, and what the server forgot since the call.
func (c *Checker) answering(op *history.Op) (under lockbench.Conditions) {
	f := &c.faults
	if f.Flush != nil {
		under |= lockbench.ScriptFlush
	}
	if r := f.Restart; r != nil { // the first call since meets a connection that broke
		if cl := f.clients.Get(op.Client); cl.Last == nil || cl.Last.Return <= r.Call {
			under |= lockbench.LostReply
		}
	}
	return under | f.ForgotSince(optime.Call(op))
}

// grantedUnder returns the conditions that touch what acquire op was granted, or would have
// been, from then on: what befell its owner during the call, and what may still act on it of
// what was affected before.
func (c *Checker) grantedUnder(k *key, op *history.Op) lockbench.Conditions {
	if c.faults.Occurred == 0 {
		return 0
	}
	under := k.unknown.acts | c.faults.ForgotSince(optime.Call(op))
	if k.mayJoinRevived(op) {
		under |= lockbench.Failover
	}
	if !c.faults.clients.Get(op.Client).Paused.Before(optime.Call(op)) {
		under |= lockbench.Pause
	}
	for i := range k.affected {
		x := &k.affected[i]
		own := x.Op == op
		joined := c.rules.Joins() && x.Cause == lockbench.LostReply && x.Op.Client == op.Client
		late := x.Until != (optime.Stamp{}) // a command of it ran after its call
		acts := (x.Touches() || late) && !x.Acted().Before(optime.LastTry(op))
		if own || joined || acts {
			under |= x.Cause
		}
	}
	return under
}

// mayJoinRevived reports whether acquire op may join what a failover has brought back.
func (k *key) mayJoinRevived(op *history.Op) bool {
	until, _ := k.revived.Get(op.Client)
	return until > op.Call
}

// unanswered leaves the bit of x on the holds that are open, if what was affected may act on
// them.
func (k *key) unanswered(x *pending.Effect) {
	if !x.Touches() {
		return
	}
	for _, h := range k.holds {
		h.under |= x.Cause
	}
}

// outlivedAt returns Outlived where the owner of h is past its validity at s, or nobody
// knows when that ends.
func (h *hold) outlivedAt(s optime.Stamp) lockbench.Conditions {
	if h.From == history.NoStamp || s.T >= h.Until {
		return lockbench.Outlived
	}
	return 0
}

// stoodStill leaves the bit of a pause of client on what it holds.
func (c *Checker) stoodStill(client int32) {
	c.faults.Occurred |= lockbench.Pause
	c.touchHeld(client, lockbench.Pause)
}

// touchHeld leaves the bit of cause on what client holds, and on what it is releasing.
func (c *Checker) touchHeld(client int32, cause lockbench.Conditions) {
	flying, by := c.faults.clients.Get(client).Flying, cause
	if cause == pending.Died {
		by = c.mayHaveDied(client)
	}
	for _, k := range c.keys {
		k.stale.Touch(client, by, c.last)
		for h := range k.known() {
			if h.client == client && (!h.Released || slices.Contains(flying, h.ReleasedBy)) {
				h.under |= cause
			}
		}
	}
}

// flushed leaves the bit of a script flush on what is held: a renewal of it may fail.
func (c *Checker) flushed() {
	c.eachOpen(func(_ *key, h *hold) { h.renewing |= lockbench.ScriptFlush })
}

// renewing returns what has touched the renewals of h by t, in ns, where the lock has any.
func (c *Checker) renewing(h *hold, t int64) lockbench.Conditions {
	if c.ability&prolongs != 0 || c.header.Renews || c.rules.Unseen || c.rules.Joins() {
		return h.renewing | c.stoodInstead(h, t)
	}
	return 0
}

// stoodInstead returns Pause where the owner of h worked past its validity, until t, for no longer than nobody could do
// anything since the lease began that was over. In a time without standstills, the owner would
// have renewed h, or learnt that it cannot, that much earlier: that excuses no more than it takes.
func (c *Checker) stoodInstead(h *hold, t int64) lockbench.Conditions {
	end := min(h.Until, h.intrusion.T)
	if past := t - end; past > 0 && past <= c.faults.still.Within(end-h.Most, t) {
		return lockbench.Pause
	}
	return 0
}

// forgetsHolds leaves the bit of cause, under which the server forgot, on all that was granted
// by then and is remembered.
func (c *Checker) forgetsHolds(cause lockbench.Conditions) {
	for _, k := range c.keys {
		for h := range k.known() {
			h.under |= cause
			h.forgotten = true
		}
		if cause != lockbench.Failover {
			continue
		}
		until := optime.After(optime.After(c.last.T, k.asked.Highest()), k.refusal.Slack)
		for a := range k.asked.Each {
			if c.rules.Joins() { // it may join what it had released, and so prolong it
				k.revived.Raise(a.Client, until)
			}
		}
		if k.everAffected { // what a fault had left may be there again
			k.unknown.left |= cause
		}
	}
}

// ranLate leaves the bits of causes, by which a client's call had ended before its command
// ran, on what is held then, the client's own holds too.
func (c *Checker) ranLate(client int32, causes lockbench.Conditions) {
	for _, k := range c.keys {
		for _, h := range k.holds {
			h.staleBeside = h.staleBeside || h.client != client
			h.under |= causes
		}
	}
}
