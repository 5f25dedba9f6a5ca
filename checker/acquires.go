package checker

import (
	"math"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

func (c *Checker) acquireCalled(k *key, op *history.Op) {
	k.queue.Called(op)
	c.tell(factAcquireCalled, fact{at: interval.Call(op), key: k, op: op})
	c.besideAcquire(k, op)
	switch {
	case c.rules.Refreshed && (op.Outcome == history.Refused || op.Outcome == history.LossReported):
		c.refreshRefused(k, op)
		return
	case op.Outcome != history.OK && op.Outcome != history.Unknown:
		return
	}
	c.turnTo(k, op)
	if op.Outcome == history.Unknown && c.lookup(k, op.Hold) == nil {
		c.mayHold(k, op)
	}
	if c.rules.Unseen && c.rules.Joins() { // a renewal under way may go by this lease later
		k.caps.Lower(op.Client, interval.Lease(op))
	}
	if op.Outcome != history.Unknown {
		return
	}
	c.silence(k, op)
	if c.rules.Nested { // it may add a level to any hold that its client has later
		k.refusal.Residues.Raise(op.Client, math.MaxInt64)
	} else {
		k.caps.Lower(op.Client, c.rules.Leaves(op))
	}
}

// silence applies the call of acquire op, whose outcome is unknown: if acquires join levels that
// their client left, it may grant an earlier hold of the client anew.
func (c *Checker) silence(k *key, op *history.Op) {
	if !c.rules.Joins() {
		return
	}
	k.silent.Raise(op.Client, op.Call)
	for h := range k.known() {
		h.Regrant = h.Regrant || h.client == op.Client && h.ops[0] != op
	}
}

// mayHold adds the hold that op, whose outcome is unknown, may begin.
func (c *Checker) mayHold(k *key, op *history.Op) {
	if c.materialized || c.rules.Joins() || c.rules.Unseen || c.faulty() || k.renamed { // it may matter to other holds
		c.hold(k, op)
		return
	}
	k.made++
	k.deferred = append(k.deferred, deferred{op, k.made})
}

// hold adds the hold of acquire op.
func (c *Checker) hold(k *key, op *history.Op) *hold {
	h := c.newHold(op)
	k.made++
	h.number = k.made
	h.Cap(k.caps.Of(op.Client))
	h.Cap(k.inherited(op))
	h.Cap(c.faults.clients.Get(op.Client).Beside)
	if c.rules.Nested && (k.refusal.Residual(op) || k.mayJoinRevived(op)) {
		k.joined(h)
	}
	_, h.Regrant = k.silent.Get(op.Client)
	k.holds = append(k.holds, h)
	return h
}

// joined applies to h that it may have joined levels that its client left, which keep the longest
// of the client's leases.
func (k *key) joined(h *hold) {
	longest, _ := k.asked.Get(h.client)
	for before := range k.known() {
		if before.client == h.client {
			longest = max(longest, before.Most)
		}
	}
	relets, _ := k.unsureReleases.Get(h.client)
	h.Joined(longest, relets)
}

// turnTo applies acquire op, just called, which is or may be granted, to its client's holds.
func (c *Checker) turnTo(k *key, op *history.Op) {
	k.forget(op.Hold)
	if len(k.deferred) > 0 {
		c.materialize(k, func(l *deferred) bool { return l.op.Client == op.Client })
	}
	for i := len(k.holds) - 1; i >= 0; i-- {
		h := k.holds[i]
		switch {
		case h.client != op.Client:
		case h.id == op.Hold && !h.Ended:
			c.lockedAnew(k, h, op)
			c.acquiredAgain(h, op)
		case h.id == op.Hold: // the owner goes on, but the must-hold interval is over: begin a new hold
			c.lockedAnew(k, h, op)
			h.id, h.was, k.renamed = 0, h.id, true
			c.drop(k, i)
		case h.Released:
		default: // its owner turned to a new grant: the old one is over
			h.Close(interval.Call(op), interval.ByReacquire, true)
			c.drop(k, i)
		}
	}
}

// lockedAnew judges acquire op, answered ok, by an owner which only refreshes its lease: if it had
// lost the key, it was to be told.
func (c *Checker) lockedAnew(k *key, h *hold, op *history.Op) {
	knows := h.told || h.Released || h.EndedBy == interval.ByRefusal
	if c.rules.Refreshed && op.Outcome == history.OK && !knows && h.supersededAt.Before(interval.Call(op)) {
		k.expectLoss(h, op)
	}
}

// refreshRefused applies the call of a refresh by the owner that is refused: another has the key,
// so its own hold is lost.
func (c *Checker) refreshRefused(k *key, op *history.Op) {
	for _, h := range k.holds {
		if h.client == op.Client && !h.Released {
			h.Close(interval.Call(op), interval.ByRefusal, true)
			k.cuts++
		}
	}
}

// acquiredAgain applies the call of another acquire by the owner of h.
func (c *Checker) acquiredAgain(h *hold, op *history.Op) {
	h.note(op)
	h.Again(op)
	c.shows(sessions, interval.MayLackLease(op))
	if op.Outcome != history.OK {
		h.anew(interval.Forever)
	}
}

func (c *Checker) acquireReturned(k *key, op *history.Op) {
	k.queue.Returned(op, &c.fair)
	c.meetings(k, op)
	f := fact{at: interval.Return(op), key: k, op: op}
	c.tell(factAcquireReturned, f)
	switch op.Outcome {
	case history.OK:
		if len(k.affected) > 0 {
			c.tell(factObtained, f)
		}
		c.obtained(k, op)
	case history.Unknown:
		if h := k.find(op.Hold); h != nil { // it may have joined
			h.Fold(op, op.Return, false)
		}
	case history.Refused:
		c.fair.Asked(op.Client)
		k.keepsOut(op)
		c.tell(factRefused, f)
	}
}

// keepsOut notes on the hold of k that it is the certain reason why acquire op was refused.
func (k *key) keepsOut(op *history.Op) {
	if len(k.holds) != 1 || k.holds[0].client == op.Client {
		return
	}
	if h, at := k.holds[0], interval.LastTry(op); h.MustHoldAt(at) && k.refusal.NobodySince(h.Began()) {
		h.keptOut = max(h.keptOut, at.T)
	}
}

// obtained applies the return of an acquire answered ok.
func (c *Checker) obtained(k *key, op *history.Op) {
	h := c.lookup(k, op.Hold)
	if h == nil {
		h = c.hold(k, op)
		k.catchUp(h, c.rules)
		c.granted(k, h, op)
		return
	}
	k.fences.Pop(op)
	h.Widen(op)
	k.stretched(h)
	if h.kept {
		k.refusal.gone(h)
	}
	if !h.Known && !k.affected.ActedBefore(h.First, op) { // it may act later, and grant the key anew
		h.Regrant = true
	}
	h.anew(interval.Return(op))
	h.under |= c.met.own
	if h.Landed(op) {
		c.reopened(k, h, op, !h.Known)
	}
	h.Known = true
}

// reopened notes that a new segment of the must-hold interval of h begins at the return of op.
func (c *Checker) reopened(k *key, h *hold, op *history.Op, grant bool) {
	if h.forgotten && !c.faults.Forgetting() && op.Kind == history.Acquire && !interval.Call(op).Before(interval.Call(c.faults.Restart)) {
		h.forgotten = false
		h.under &^= forgetful &^ k.unknown.acts
	}
	k.starts = append(k.starts, start{h: h, at: interval.Return(op), grant: grant})
}

func (c *Checker) granted(k *key, h *hold, op *history.Op) {
	c.result.Grants++
	c.fair.Granted(op.Client)
	if !h.Anchored && !h.Must && interval.TellsLease(op) {
		c.result.Unjudged++
	}
	h.staleBeside, h.besideLetIn = k.grantedBesideStale(h), k.grantedBesideLetIn(h)
	h.under |= c.met.own
	h.forgotten = c.faults.ForgotSince(interval.Call(op)) != 0
	h.straddles = h.forgotten
	c.shows(hasFence, op.Fence > 0)
	c.shows(hasLease, op.Granted != 0 || op.Asked != 0)
	c.tell(factGranted, fact{at: interval.Return(op), key: k, op: op, hold: h})
	k.starts = append(k.starts, start{h: h, at: interval.Return(op), grant: true})
}
