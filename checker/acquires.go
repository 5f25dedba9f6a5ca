package checker

import (
	"math"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// acquireCalled applies the call of acquire op. Its outcome is known already, since the record is
// complete.
func (c *Checker) acquireCalled(k *key, op *history.Op) {
	k.queue.Called(op)
	c.publish(factAcquireCalled, fact{at: interval.Call(op), key: k, op: op})
	c.capAcquire(k, op)
	switch {
	case c.rules.Refreshed && (op.Outcome == history.Refused || op.Outcome == history.LossReported):
		c.refreshRefused(k, op)
		return
	case op.Outcome != history.OK && op.Outcome != history.Unknown:
		return
	}
	c.applyToHolds(k, op)
	if op.Outcome == history.Unknown && c.lookup(k, op.Hold) == nil {
		c.addPossibleHold(k, op)
	}
	if c.rules.HiddenRenewals && c.rules.Joins() { // a renewal under way may set this lease later
		k.caps.Lower(op.Client, interval.Lease(op))
	}
	if op.Outcome != history.Unknown {
		return
	}
	c.acquireUnknown(k, op)
	if c.rules.Nested { // at any later time it may add a level to a hold of its client
		k.refusal.LeftLevels.Raise(op.Client, math.MaxInt64)
	} else {
		k.caps.Lower(op.Client, c.rules.UnknownLease(op))
	}
}

// acquireUnknown applies the call of op, an acquire of unknown outcome. If acquires join levels
// that their client left on the server, op may grant an earlier hold of the client once more.
func (c *Checker) acquireUnknown(k *key, op *history.Op) {
	if !c.rules.Joins() {
		return
	}
	k.unknownAcquires.Raise(op.Client, op.Call)
	for h := range k.allHolds() {
		h.Regrant = h.Regrant || h.client == op.Client && h.ops[0] != op
	}
}

// addPossibleHold adds the hold that begins if op, an acquire of unknown outcome, was granted.
func (c *Checker) addPossibleHold(k *key, op *history.Op) {
	if c.materialized || c.rules.Joins() || c.rules.HiddenRenewals || c.faulty() || k.renamed { // it may affect other holds
		c.hold(k, op)
		return
	}
	k.begun++
	k.deferred = append(k.deferred, deferred{op, k.begun})
}

// hold adds the hold that acquire op begins.
func (c *Checker) hold(k *key, op *history.Op) *hold {
	h := c.newHold(op)
	k.begun++
	h.number = k.begun
	h.Cap(k.caps.Of(op.Client))
	h.Cap(k.inherited(op))
	h.Cap(c.faults.clients.Get(op.Client).LeaseCap)
	if c.rules.Nested && (k.refusal.MayJoinLevels(op) || k.mayJoinRevived(op)) {
		k.applyJoin(h)
	}
	_, h.Regrant = k.unknownAcquires.Get(op.Client)
	k.holds = append(k.holds, h)
	return h
}

// applyJoin applies that h may have joined levels that its client left on the server. The server
// then keeps the key for the longest lease of that client.
func (k *key) applyJoin(h *hold) {
	longest, _ := k.asked.Get(h.client)
	for before := range k.allHolds() {
		if before.client == h.client {
			longest = max(longest, before.MaxLease)
		}
	}
	restarts, _ := k.unsureReleases.Get(h.client)
	h.Joined(longest, restarts)
}

// applyToHolds applies acquire op, just called, which is or may be granted, to the holds of its
// client.
func (c *Checker) applyToHolds(k *key, op *history.Op) {
	k.forget(op.Hold)
	if len(k.deferred) > 0 {
		c.materialize(k, func(l *deferred) bool { return l.op.Client == op.Client })
	}
	for i := len(k.holds) - 1; i >= 0; i-- {
		h := k.holds[i]
		switch {
		case h.client != op.Client:
		case h.id == op.Hold && !h.Ended:
			c.judgeRefresh(k, h, op)
			c.reacquire(h, op)
		case h.id == op.Hold: // the must-hold interval is over, so op begins a new hold with the same id
			c.judgeRefresh(k, h, op)
			h.id, h.previousID, k.renamed = 0, h.id, true
			c.drop(k, i)
		case h.Released:
		default: // the owner acquired anew, which ends its earlier hold
			h.Close(interval.Call(op), interval.ByReacquire, true)
			c.drop(k, i)
		}
	}
}

// judgeRefresh judges op, an acquire answered ok that refreshes the lease of its owner. If the
// owner had lost the key before the call, the answer had to be "lost".
func (c *Checker) judgeRefresh(k *key, h *hold, op *history.Op) {
	knows := h.knowsLoss || h.Released || h.EndedBy == interval.ByRefusal
	if c.rules.Refreshed && op.Outcome == history.OK && !knows && h.supersededAt.Before(interval.Call(op)) {
		k.expectLoss(h, op)
	}
}

// refreshRefused applies the call of a refresh that is refused: another client has the key, so the
// owner has lost its hold.
func (c *Checker) refreshRefused(k *key, op *history.Op) {
	for _, h := range k.holds {
		if h.client == op.Client && !h.Released {
			h.Close(interval.Call(op), interval.ByRefusal, true)
			k.cuts++
		}
	}
}

// reacquire applies the call of another acquire by the owner of h.
func (c *Checker) reacquire(h *hold, op *history.Op) {
	h.note(op)
	h.Reacquire(op)
	c.noteAbility(sessions, interval.MayLackLease(op))
	if op.Outcome != history.OK {
		h.anew(interval.Forever)
	}
}

// acquireReturned applies the return of acquire op.
func (c *Checker) acquireReturned(k *key, op *history.Op) {
	k.queue.Returned(op, &c.fair)
	c.countMeetings(k, op)
	f := fact{at: interval.Return(op), key: k, op: op}
	c.publish(factAcquireReturned, f)
	switch op.Outcome {
	case history.OK:
		if len(k.affected) > 0 {
			c.publish(factGrantedAfterFault, f)
		}
		c.acquireGranted(k, op)
	case history.Unknown:
		if h := k.find(op.Hold); h != nil { // op may have added a level to it
			h.SettlePending(op, op.Return, false)
		}
	case history.Refused:
		c.fair.Requested(op.Client)
		k.noteRefusal(op)
		c.publish(factRefused, f)
	}
}

// noteRefusal notes on the only hold of k that acquire op was certainly refused because of it.
func (k *key) noteRefusal(op *history.Op) {
	if len(k.holds) != 1 || k.holds[0].client == op.Client {
		return
	}
	if h, at := k.holds[0], interval.LastTry(op); h.MustHoldAt(at) && k.refusal.OnlyKnownGrantsSince(h.Began()) {
		h.lastRefusal = max(h.lastRefusal, at.T)
	}
}

// acquireGranted applies the return of an acquire answered ok.
func (c *Checker) acquireGranted(k *key, op *history.Op) {
	h := c.lookup(k, op.Hold)
	if h == nil {
		h = c.hold(k, op)
		k.catchUp(h, c.rules)
		c.granted(k, h, op)
		return
	}
	k.fences.Pop(op)
	h.ExtendMayHold(op)
	k.extendReach(h)
	if h.retired {
		k.refusal.ended(h)
	}
	if !h.Confirmed && !k.affected.ActedBefore(h.First, op) { // the first acquire may act later, and grant the key once more
		h.Regrant = true
	}
	h.anew(interval.Return(op))
	h.under |= c.meetings.own
	if h.Returned(op) {
		c.addStart(k, h, op, !h.Confirmed)
	}
	h.Confirmed = true
}

// addStart notes that a segment of the must-hold interval of h begins at the return of op. With
// grant, it is the first segment.
func (c *Checker) addStart(k *key, h *hold, op *history.Op, grant bool) {
	if h.forgotten && !c.faults.Forgetting() && op.Kind == history.Acquire && !interval.Call(op).Before(interval.Call(c.faults.Restart)) {
		h.forgotten = false
		h.under &^= pending.Forgetful &^ k.unknown.acts
	}
	k.starts = append(k.starts, start{h: h, at: interval.Return(op), grant: grant})
}

// granted applies that the return of op granted h for the first time.
func (c *Checker) granted(k *key, h *hold, op *history.Op) {
	c.result.Grants++
	c.fair.Granted(op.Client)
	if !h.Anchored && !h.HasMust && interval.TellsLease(op) {
		c.result.Unjudged++
	}
	h.staleConcurrent, h.concurrentSharedRelease = k.metStaleCall(h), k.metSharedRelease(h)
	h.under |= c.meetings.own
	h.forgotten = c.faults.ForgotSince(interval.Call(op)) != 0
	h.forgottenInAcquire = h.forgotten
	c.noteAbility(hasFence, op.Fence > 0)
	c.noteAbility(hasLease, op.Granted != 0 || op.Asked != 0)
	c.publish(factGranted, fact{at: interval.Return(op), key: k, op: op, hold: h})
	k.starts = append(k.starts, start{h: h, at: interval.Return(op), grant: true})
}
