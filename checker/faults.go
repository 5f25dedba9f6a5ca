package checker

import (
	"cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// faults has the state of the faults in the history, and the operations under way of each client.
type faults struct {
	clients     pending.Clients
	standstills interval.Standstills // of all clients
	idleTime    interval.Standstills // spans in which an exploration let time pass although clients could have gone on
	pending.Faults
}

// faulty reports whether the history has faults, or may have by its header.
func (c *Checker) faulty() bool { return len(c.header.Faults) > 0 || c.faults.Occurred != 0 }

// faulted applies a fault event. The table of faults gives the meaning of its note. A fault with a
// client affects the operations that this client has under way. An affected operation acts before
// its return, or before the death of its client, unless a later event says that it acted late.
func (c *Checker) faulted(op *history.Op) {
	f, event := &c.faults, fault.EventOf(op.Note)
	if event.Phase != fault.Ends {
		f.Struck(event.Brings)
	}
	switch event.Act {
	case fault.AffectsCall, fault.CutsCall:
		f.Occurred |= event.Brings
		c.affectClient(event.Brings, op)
	case fault.ActsLate:
		f.Occurred |= event.Brings
		c.late(op)
	case fault.Takes:
		c.takenAway(op)
	case fault.Flushes:
		f.Flushed(op, c.anythingOpen())
		c.flushed()
	case fault.Forgets:
		c.forgot(op, event.Brings)
		switch event.Phase {
		case fault.Begins:
			f.OpenWindow(event.Brings)
		case fault.Ends:
			f.CloseWindow()
		}
	case fault.Revives:
		c.forgot(op, event.Brings)
		c.heldFor(anew, op)
	case fault.Steps:
		c.stepped(op, event.Phase)
	case fault.SetsClock:
		c.setOff(op.Value)
	case fault.Delays:
		c.delayed(op)
	case fault.Prolongs:
		c.heldFor(op.Value, op)
	case fault.Passes:
		f.idleTime.Add(op.Call, interval.After(op.Call, op.Value))
	case fault.StandsStill:
		f.standstills.Add(op.Call, interval.After(op.Call, op.Value))
	}
}

// happened returns the conditions that have occurred so far.
func (f *faults) happened() lockbench.Conditions {
	if f.standstills.Times > 0 || f.Delayed {
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

// affectClient applies fault to the call that its client has under way or, if there is none, to the
// renewals of the client. A fault in the background of a process names no client; it affects all
// renewals of the process. If the history does not show renewals, the fault may have struck one of any
// hold of the client, or of the process.
func (c *Checker) affectClient(cause lockbench.Conditions, fault *history.Op) {
	strike := func(cl *pending.Client, ops []*history.Op) {
		for _, op := range ops {
			c.affect(cause, fault, op)
		}
		if c.rules.HiddenRenewals {
			c.touchHeld(cl.ID(), cause)
			c.struckAgain(cl, fault)
		}
	}
	if fault.Client >= 0 {
		cl := c.faults.clients.Get(fault.Client)
		strike(cl, cl.Affected())
		return
	}
	for cl := range c.faults.clients.Each {
		if cl.Process == fault.Process {
			strike(cl, cl.Renewals())
		}
	}
}

// died applies the death of a client to its holds and to its operations under way.
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
				h.Died(op.Call) // also if its release was never answered
				c.keepEffect(k, pending.Effect{Cause: pending.Died, Fault: op, Op: h.ops[0], Under: &h.under, Bounded: true})
			}
		}
	}
	c.faults.Occurred |= c.deathCondition(op.Client)
	c.retireClient(op.Client)
}

// leftBehind reports whether the server may still keep h for its owner, which died at t: the owner
// had neither lost the key nor certainly freed it.
func (h *hold) leftBehind(t, slack int64) bool {
	lost := h.supersededAt != interval.Forever || h.knowsLoss || h.CertainlyFree
	if h.under&lockbench.Failover != 0 { // the failover may have brought it back
		return h.Confirmed
	}
	return h.Confirmed && !lost && (!h.Released || h.Latest(slack) >= t)
}

// late applies that a command of a client ran after the call that had sent it was over. The command
// belongs to an operation that a fault affected before or, if there is none, to the last call of
// the client, which had then timed out.
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
		if longest, ok := c.longestAsked(k, fault.Client); ok { // the command may belong to any of its calls
			k.refusal.BusyFor(fault.Call, longest)
			k.refusal.PossibleGrants++
		}
	}
	if op == nil { // of an operation that has been forgotten, on any key of the client
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
	c.ranLate(fault.Client, causes|lockbench.Cancel) // the event says that the client had stopped waiting
}

// lateEffects applies a late fault to the affected operations of its client on k. It returns the
// causes of their effects, and the last of the operations.
func (c *Checker) lateEffects(k *key, fault *history.Op) (causes lockbench.Conditions, last *history.Op) {
	for i := range k.affected {
		x := &k.affected[i]
		theirs := x.Op.Client == fault.Client || fault.Client < 0 && x.Op.Process == fault.Process
		if !theirs || x.Cut && x.Op.Outcome == history.Unknown { // a command that was cut did not run
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

// forgot applies that the server forgot some or all of the grants given by then.
func (c *Checker) forgot(op *history.Op, cause lockbench.Conditions) {
	for _, k := range c.sorted() { // compare the holds that began before without this condition
		c.settle(k, interval.Call(op))
	}
	c.faults.Forgot(op, cause)
	for _, k := range c.keys {
		c.publish(factForgotten, fact{at: interval.Call(op), key: k, op: op, under: cause})
	}
	c.forgetsHolds(cause)
}

// anew is the lease of heldFor that is the longest that a client asked for.
const anew = 0

// heldFor applies that the server may hold each key for a lease from op on: it may have forgotten releases, or
// prolonged the leases of dead owners.
func (c *Checker) heldFor(lease int64, op *history.Op) {
	for _, k := range c.keys {
		k.refusal.BusyFor(op.Call, cmp.Or(lease, k.asked.Highest()))
	}
}

// stepped applies that the clock of the server was stepped, or will be. A step ahead may end leases
// early, so the server counts as forgetting grants until the step is over. A step back may prolong
// them. While that clock is off, so are the clocks of all clients, if the lock compares them.
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
		for _, k := range c.keys { // fences taken from the clock may repeat
			k.fences.forget(interval.Call(op), lockbench.StateLoss)
		}
		c.heldFor(anew, op)
	}
}

// takenAway applies what the server was seen to do: a command of one client took the key from
// another.
func (c *Checker) takenAway(fault *history.Op) {
	k := c.key(fault.Key)
	victim := k.find(fault.Hold)
	if victim == nil || !victim.Confirmed {
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

// slack returns the time, in ns, that is added to the end of a lease before the key counts as free.
func (c *Checker) slack() int64 {
	return int64(refusalSlack) + c.header.ToleranceNS + 2*c.faults.Skew
}
