package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/clients"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/occurred"
	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/checker/internal/standing"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// faults are those that befell the history, and what each client has under way.
type faults struct {
	clients clients.Table
	still   standing.Table // when nobody could do anything
	moved   standing.Table // when clients could have gone on, and an exploration had time pass instead
	occurred.Faults
}

// faulty reports whether faults may befall the history.
func (c *Checker) faulty() bool { return len(c.header.Faults) > 0 || c.faults.Occurred != 0 }

// faulted applies a fault event, as the table of faults says what its note means. A fault with
// a client affects what that client has under way. What was affected has had its effect by its
// return, or by its client's death, unless a late event says otherwise.
func (c *Checker) faulted(op *history.Op) {
	f, event := &c.faults, fault.EventOf(op.Note)
	switch event.Act {
	case fault.AffectsCall, fault.CutsCall:
		f.Occurred |= event.Brings
		c.affectClient(event.Brings, op)
	case fault.ActsLate:
		c.late(op)
	case fault.Takes:
		c.takenAway(op)
	case fault.Flushes:
		f.Flushed(op, c.anythingOpen())
		c.flushed()
	case fault.Forgets:
		c.forgot(op, event.Brings)
		if event.Phase != fault.Once {
			f.Evicting = event.Phase == fault.Begins
		}
	case fault.Revives:
		c.forgot(op, event.Brings)
		c.revived(op)
	case fault.Steps:
		c.stepped(op, event.Phase)
	case fault.SetsClock:
		c.setOff(op.Value)
	case fault.Delays:
		f.Delayed = true
	case fault.Passes:
		f.moved.Add(op.Call, optime.After(op.Call, op.Value))
	case fault.StandsStill:
		f.still.Add(op.Call, optime.After(op.Call, op.Value))
	}
}

// happened are the conditions that have occurred.
func (f *faults) happened() lockbench.Conditions {
	if f.still.Times > 0 {
		return f.Occurred | lockbench.Pause
	}
	return f.Occurred
}

// setOff applies that a clock is ahead by offset ns.
func (c *Checker) setOff(offset int64) {
	c.faults.SetOff(offset)
	for _, k := range c.keys {
		k.refusal.Slack = c.slack()
	}
}

// anythingOpen reports whether a lock is held or an operation under way.
func (c *Checker) anythingOpen() bool {
	open := false
	c.eachOpen(func(*key, *hold) { open = true })
	return open || c.faults.clients.Busy()
}

// affectClient has fault affect the call that its client has under way or, when
// there is none, its renewals. What happens in the background of a process has no
// client: renewals then.
func (c *Checker) affectClient(cause lockbench.Conditions, fault *history.Op) {
	if fault.Client >= 0 {
		for _, op := range c.faults.clients.Get(fault.Client).Affected() {
			c.affect(cause, fault, op)
		}
		return
	}
	for cl := range c.faults.clients.Each {
		if cl.Process == fault.Process {
			for _, op := range cl.Renewals() {
				c.affect(cause, fault, op)
			}
		}
	}
}

// died applies the death of a client: it affects what the client held and what it
// had under way.
func (c *Checker) died(op *history.Op) {
	cl := c.faults.clients.Get(op.Client)
	cl.Dead = true
	c.touchHeld(op.Client, pending.Died)
	for _, under := range cl.Flying {
		c.affect(pending.Died, op, under)
	}
	c.each(op.Client, func(k *key, h *hold) {
		h.Close(optime.Call(op), interval.ByDeath, true)
		h.Died(op.Call)
		k.cuts++
		if c.ability&sessions != 0 { // what has a lease may have joined what has none
			h.SessionEnds(op.Call)
		}
	})
	for _, k := range c.keys {
		for h := range k.known() {
			if h.client == op.Client && h.leftBehind(op.Call, k.refusal.Slack) {
				h.Died(op.Call) // also where its release was never answered
				c.keepEffect(k, pending.Effect{Cause: pending.Died, Fault: op, Op: h.ops[0], Under: &h.under, Bounded: true})
			}
		}
	}
	c.faults.Occurred |= c.deathOf(op.Client)
	c.retireClient(op.Client)
}

// leftBehind reports whether the owner of h, who died at t, may have left it on the
// server: he had neither lost it nor given it up for certain.
func (h *hold) leftBehind(t, slack int64) bool {
	lost := h.supersededAt != optime.Forever || h.told || h.Certain
	if h.under&lockbench.Failover != 0 { // it may be there again
		return h.Known
	}
	return h.Known && !lost && (!h.Released || h.Latest(slack) >= t)
}

// late applies that a command of a client ran although the call that sent it had
// ended: it belongs to what a fault affected before or, when nothing was, to the
// client's last call, which then had timed out.
func (c *Checker) late(fault *history.Op) {
	causes := lockbench.Conditions(0)
	var op *history.Op // the last to be called of those that were affected
	for _, k := range c.keys {
		if of, last := c.lateEffects(k, fault); last != nil {
			causes |= of
			if op == nil || optime.Call(op).Before(optime.Call(last)) {
				op = last
			}
		}
		if longest, ok := c.longestAsked(k, fault.Client); ok { // whichever of its calls it came from
			k.refusal.KeepFor(fault.Call, longest)
			k.refusal.Stirred++
		}
	}
	if op == nil { // what is not remembered any more of any of its keys
		for _, k := range c.keys {
			if _, asked := c.longestAsked(k, fault.Client); asked {
				k.unknown.left |= lockbench.Cancel
			}
		}
	}
	if cl := c.faults.clients.Find(fault.Client); op == nil && cl != nil {
		op = cl.Last
	}
	if op != nil && causes&lockbench.Cancel == 0 {
		c.affect(lockbench.Cancel, fault, op)
	}
	c.ranLate(fault.Client, causes|lockbench.Cancel) // the call was given up, says the event
}

// lateEffects applies a late fault to what was affected of its client, and returns by what,
// and the last of it.
func (c *Checker) lateEffects(k *key, fault *history.Op) (causes lockbench.Conditions, last *history.Op) {
	for i := range k.affected {
		x := &k.affected[i]
		theirs := x.Op.Client == fault.Client || fault.Client < 0 && x.Op.Process == fault.Process
		if !theirs || x.Cut && x.Op.Outcome == history.Unknown { // what was cut did not run
			continue
		}
		causes |= c.resolved(x.Cause, x.Op.Client)
		last = x.Op
		x.Until, x.Over = optime.Later(x.Until, optime.Call(fault)), false
		if x.Bounded {
			c.bound(k, x.Op, optime.Call(fault))
		}
	}
	return causes, last
}

// forgot applies that the server forgot grants given by then, all of them for all that
// is known.
func (c *Checker) forgot(op *history.Op, cause lockbench.Conditions) {
	for _, k := range c.sorted() { // what began before it was not touched by it
		c.settle(k, optime.Call(op))
	}
	c.faults.Forgot(op, cause)
	for _, k := range c.keys {
		c.tell(factForgotten, fact{at: optime.Call(op), key: k, op: op, under: cause})
	}
	c.forgetsHolds(cause)
}

// revived applies that the server may have forgotten releases, too: what was given up
// by then may be there again for as long as the longest lease that was asked for.
func (c *Checker) revived(op *history.Op) {
	for _, k := range c.keys {
		k.refusal.KeepFor(op.Call, k.asked.Highest())
	}
}

// stepped applies that the server's clock was, or is about to be, stepped. What was
// granted by then may end too early, if it went ahead: the server forgets it, at any
// time from now on. If it went back, that may last longer. And as long as the clock is
// off all clients' clocks are, for a lock that asks them.
func (c *Checker) stepped(op *history.Op, phase fault.Phase) {
	f := &c.faults
	if op.Value > 0 {
		c.forgot(op, lockbench.StateLoss)
		f.Stepping = phase == fault.Begins
	}
	ahead := f.Offset + op.Value
	if phase == fault.Ends {
		f.Offset = ahead
	}
	c.setOff(ahead)
	if op.Value < 0 {
		for _, k := range c.keys { // numbers taken from the clock begin anew
			k.fences.forget(optime.Call(op), lockbench.StateLoss)
		}
		c.revived(op)
	}
}

// takenAway applies what was seen on the server itself: a command of a client took away what
// another held.
func (c *Checker) takenAway(fault *history.Op) {
	k := c.key(fault.Key)
	victim := k.find(fault.Hold)
	if victim == nil || !victim.Known || !victim.MustHoldAt(optime.Call(fault)) {
		return
	}
	for _, op := range c.faults.clients.Get(int32(fault.Value)).Flying {
		h := k.find(op.Hold)
		acts := op.Kind == history.Release || op.Kind == history.Extend || op.Kind == history.Renew
		if acts && op.Key == fault.Key && h != nil && h.client != victim.client && h.Granted.Before(victim.Granted) {
			c.taking = fault
			c.tell(factTakenAway, fact{at: optime.Call(fault), key: k, op: op, hold: victim, other: h})
			return
		}
	}
}

// slack is what is added to a lease before a key counts as free, in ns.
func (c *Checker) slack() int64 {
	return int64(refusalSlack) + c.header.ToleranceNS + 2*c.faults.Skew
}
