package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// faults is the state of the faults in the history, and of each client's operations under way.
type faults struct {
	clients     pending.Clients
	standstills interval.Standstills // standstills of everybody
	idleTime    interval.Standstills // time that an exploration let pass although clients could have gone on
	pending.Faults
}

// faulty reports whether faults may befall the history.
func (c *Checker) faulty() bool { return len(c.header.Faults) > 0 || c.faults.Occurred != 0 }

// faulted applies a fault event; the table of faults gives the meaning of its note. A fault with a
// client affects that client's operations under way. An affected operation acts by its return, or
// by its client's death, unless a late event follows.
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
		f.idleTime.Add(op.Call, interval.After(op.Call, op.Value))
	case fault.StandsStill:
		f.standstills.Add(op.Call, interval.After(op.Call, op.Value))
	}
}

// happened returns the conditions that have occurred.
func (f *faults) happened() lockbench.Conditions {
	if f.standstills.Times > 0 {
		return f.Occurred | lockbench.Pause
	}
	return f.Occurred
}

// setOff applies that a clock runs ahead by offset ns.
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

// affectClient applies fault to its client's call under way or, without one, to the client's
// renewals. A fault in the background of a process has no client: it affects renewals.
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

// died applies the death of a client to its holds and its operations under way.
func (c *Checker) died(op *history.Op) {
	cl := c.faults.clients.Get(op.Client)
	cl.Dead = true
	c.touchHeld(op.Client, pending.Died)
	for _, under := range cl.UnderWay {
		c.affect(pending.Died, op, under)
	}
	c.each(op.Client, func(k *key, h *hold) {
		h.Close(interval.Call(op), interval.ByDeath, true)
		h.Died(op.Call)
		k.cuts++
		if c.ability&sessions != 0 { // a grant with a lease may have joined one without
			h.SessionEnds(op.Call)
		}
	})
	for _, k := range c.keys {
		for h := range k.allHolds() {
			if h.client == op.Client && h.leftBehind(op.Call, k.refusal.Slack) {
				h.Died(op.Call) // also where its release was never answered
				c.keepEffect(k, pending.Effect{Cause: pending.Died, Fault: op, Op: h.ops[0], Under: &h.under, Bounded: true})
			}
		}
	}
	c.faults.Occurred |= c.deathCondition(op.Client)
	c.retireClient(op.Client)
}

// leftBehind reports whether h may be left on the server by its owner, which died at t: the owner
// had neither lost it nor certainly given it up.
func (h *hold) leftBehind(t, slack int64) bool {
	lost := h.supersededAt != interval.Forever || h.knowsLoss || h.CertainlyFree
	if h.under&lockbench.Failover != 0 { // it may be there again
		return h.Known
	}
	return h.Known && !lost && (!h.Released || h.Latest(slack) >= t)
}

// late applies that a command of a client ran after the call that sent it had ended. The command
// belongs to an operation that a fault affected before or, if there is none, to the client's last
// call, which had then timed out.
func (c *Checker) late(fault *history.Op) {
	causes := lockbench.Conditions(0)
	var op *history.Op // the affected operation that was called last
	for _, k := range c.keys {
		if of, last := c.lateEffects(k, fault); last != nil {
			causes |= of
			if op == nil || interval.Call(op).Before(interval.Call(last)) {
				op = last
			}
		}
		if longest, ok := c.longestAsked(k, fault.Client); ok { // whichever of its calls it came from
			k.refusal.BusyFor(fault.Call, longest)
			k.refusal.PossibleGrants++
		}
	}
	if op == nil { // an operation that has been forgotten, on any of the client's keys
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

// lateEffects applies a late fault to its client's affected operations on k, and returns their
// causes and the last operation.
func (c *Checker) lateEffects(k *key, fault *history.Op) (causes lockbench.Conditions, last *history.Op) {
	for i := range k.affected {
		x := &k.affected[i]
		theirs := x.Op.Client == fault.Client || fault.Client < 0 && x.Op.Process == fault.Process
		if !theirs || x.Cut && x.Op.Outcome == history.Unknown { // a request that was cut did not run
			continue
		}
		causes |= c.resolved(x.Cause, x.Op.Client)
		last = x.Op
		x.Until, x.Superseded = interval.Later(x.Until, interval.Call(fault)), false
		if x.Bounded {
			c.bound(k, x.Op, interval.Call(fault))
		}
	}
	return causes, last
}

// forgot applies that the server forgot some of the grants given by then, or all of them.
func (c *Checker) forgot(op *history.Op, cause lockbench.Conditions) {
	for _, k := range c.sorted() { // holds that began before are compared without this condition
		c.settle(k, interval.Call(op))
	}
	c.faults.Forgot(op, cause)
	for _, k := range c.keys {
		c.publish(factForgotten, fact{at: interval.Call(op), key: k, op: op, under: cause})
	}
	c.forgetsHolds(cause)
}

// revived applies that the server may have forgotten releases, too: a hold given up by then may be
// back for as long as the longest lease asked for.
func (c *Checker) revived(op *history.Op) {
	for _, k := range c.keys {
		k.refusal.BusyFor(op.Call, k.asked.Highest())
	}
}

// stepped applies that the server's clock was stepped, or is about to be. A step ahead may end
// leases early: the server forgets grants at any later time. A step back may make them last
// longer. While the clock is off, so are all clients' clocks, for a lock that reads them.
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
			k.fences.forget(interval.Call(op), lockbench.StateLoss)
		}
		c.revived(op)
	}
}

// takenAway applies an observation on the server itself: a command of one client took the key from
// another owner.
func (c *Checker) takenAway(fault *history.Op) {
	k := c.key(fault.Key)
	victim := k.find(fault.Hold)
	if victim == nil || !victim.Known || !victim.MustHoldAt(interval.Call(fault)) {
		return
	}
	for _, op := range c.faults.clients.Get(int32(fault.Value)).UnderWay {
		h := k.find(op.Hold)
		acts := op.Kind == history.Release || op.Kind == history.Extend || op.Kind == history.Renew
		if acts && op.Key == fault.Key && h != nil && h.client != victim.client && h.Granted.Before(victim.Granted) {
			c.takeEvent = fault
			c.publish(factTakenAway, fact{at: interval.Call(fault), key: k, op: op, hold: victim, other: h})
			return
		}
	}
}

// slack returns the time, in ns, that is added to a lease before a key counts as free.
func (c *Checker) slack() int64 {
	return int64(refusalSlack) + c.header.ToleranceNS + 2*c.faults.Skew
}
