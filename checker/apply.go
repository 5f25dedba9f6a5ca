package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

func (c *Checker) acquireCalled(k *key, op *history.Op) {
	k.queue.join(op)
	c.tryBegun(k, op)
	k.fences.called(op)
	c.besideAcquire(k, op)
	switch {
	case c.refreshed && (op.Outcome == history.Refused || op.Outcome == history.LossReported):
		c.refreshRefused(k, op)
		return
	case op.Outcome != history.OK && op.Outcome != history.Unknown:
		return
	}
	c.turnTo(k, op)
	if op.Outcome == history.Unknown && c.lookup(k, op.Hold) == nil {
		c.mayHold(k, op)
	}
	if c.unseen && c.joins() { // a renewal under way may go by this lease later
		k.caps.lower(op.Client, lease(op))
	}
	if op.Outcome == history.Unknown {
		c.silence(k, op)
	}
	switch {
	case op.Outcome != history.Unknown:
	case c.nested: // it may add a level to any hold that its client has later
		k.refusal.residues.raise(op.Client, math.MaxInt64)
	default:
		k.caps.lower(op.Client, lease(op))
	}
}

// silence applies the call of acquire op, whose outcome is unknown: where acquires
// join what their client has left, it may grant anew what that client had before.
func (c *Checker) silence(k *key, op *history.Op) {
	if !c.joins() {
		return
	}
	k.silent.raise(op.Client, op.Call)
	for h := range k.known() {
		h.regrant = h.regrant || h.client == op.Client && h.ops[0] != op
	}
}

// mayHold adds the hold that op, whose outcome is unknown, may begin.
func (c *Checker) mayHold(k *key, op *history.Op) {
	if !c.lies(k) {
		c.hold(k, op)
		return
	}
	k.made++
	k.latent = append(k.latent, latent{op.Hold, op.Client, op, k.made})
}

// hold adds the hold that op begins.
func (c *Checker) hold(k *key, op *history.Op) *hold {
	h := c.newHold(op)
	k.made++
	h.number = k.made
	h.cap(k.caps.of(op.Client))
	h.cap(k.inherited(op))
	h.cap(c.faults.client(op.Client).beside)
	if h.doubt = c.nested && k.refusal.residual(op); h.doubt {
		k.joined(h)
	}
	_, h.regrant = k.silent.get(op.Client)
	k.holds = append(k.holds, h)
	return h
}

// joined applies to h that it may have joined what its client had left, which keeps
// the longest of its leases.
func (k *key) joined(h *hold) {
	if longest, ok := k.asked.get(h.client); ok {
		h.most = max(h.most, longest)
	}
	for before := range k.known() {
		if before.client == h.client {
			h.most = max(h.most, before.most)
		}
	}
}

// turnTo applies to what its client holds that op, just called, is or may be granted.
func (c *Checker) turnTo(k *key, op *history.Op) {
	k.forget(op.Hold)
	if len(k.latent) > 0 {
		c.unveil(k, func(l *latent) bool { return l.client == op.Client })
	}
	for i := len(k.holds) - 1; i >= 0; i-- {
		h := k.holds[i]
		switch {
		case h.client != op.Client:
		case h.id == op.Hold && !h.ended:
			c.lockedAnew(k, h, op)
			c.acquiredAgain(h, op)
		case h.id == op.Hold: // to its owner it goes on, but its core is over: begin anew
			c.lockedAnew(k, h, op)
			h.id, h.was, k.renamed = 0, h.id, true
			c.drop(k, i)
		case h.released:
		default: // its owner turned to a new grant: the old one is over
			h.close(callOf(op), "reacquired", true)
			c.drop(k, i)
		}
	}
}

// lockedAnew judges acquire op, answered ok, by an owner who would only begin his
// lease anew: had he lost the key, he was to be told.
func (c *Checker) lockedAnew(k *key, h *hold, op *history.Op) {
	knows := h.told || h.released || h.endedBy == "refused"
	if c.refreshed && op.Outcome == history.OK && !knows && h.supersededAt.before(callOf(op)) {
		c.owedLoss(k, h, op)
	}
}

// refreshRefused applies the call of an acquire by a holder that would have begun
// its lease anew, and was refused: another has the key, so its own is lost.
func (c *Checker) refreshRefused(k *key, op *history.Op) {
	for _, h := range k.holds {
		if h.client == op.Client && !h.released {
			h.close(callOf(op), "refused", true)
			k.cuts++
		}
	}
}

func (c *Checker) acquiredAgain(h *hold, op *history.Op) {
	h.note(op)
	h.least, h.most = min(h.least, lease(op)), max(h.most, lease(op))
	if c.unseen {
		h.shorten(op)
	}
	if op.Outcome == history.OK {
		h.again(op, c.nested)
		return
	}
	h.doubt, h.regrant = true, true
	h.anew(forever)
	h.widen(op)
	if !c.nested {
		h.shorten(op)
	}
}

func (c *Checker) acquireReturned(k *key, op *history.Op) {
	c.waited(k, op)
	c.tryEnded(k, op)
	c.contended(k, op)
	switch op.Outcome {
	case history.OK:
		c.recovered(k, op)
		c.obtained(k, op)
	case history.Unknown:
		if h := k.find(op.Hold); h != nil { // it may have joined
			h.fold(op, op.Return, false)
		}
	case history.Refused:
		c.fair.asked(op.Client)
		c.nestedRefused(k, op)
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
	c.ability.nest = c.ability.nest || c.nested
	k.fences.pop(op)
	h.widen(op)
	k.stretched(h)
	if h.dropped {
		k.refusal.gone(h)
	}
	h.anew(returnOf(op))
	if h.landed(op) {
		c.reopened(k, h, op, !h.known)
	}
	h.known = true
}

// reopened notes that a new segment of the core of h begins at the return of op.
func (c *Checker) reopened(k *key, h *hold, op *history.Op, grant bool) {
	if h.under&forgetful != 0 && !c.faults.forgetting && op.Kind == history.Acquire && !callOf(op).before(callOf(c.faults.restart)) {
		h.under &^= forgetful
	}
	k.begin(h, returnOf(op), grant)
}

func (c *Checker) granted(k *key, h *hold, op *history.Op) {
	c.result.Grants++
	c.fair.granted(op.Client)
	if h.from == history.NoStamp {
		c.result.Unjudged++
	}
	h.stray = k.metStray(h)
	h.under |= c.grantedUnder(k, op)
	h.straddles = h.under&forgetful != 0
	k.fences.granted(c, k, h, op)
	k.begin(h, returnOf(op), true)
}

func (c *Checker) releaseCalled(k *key, op *history.Op) {
	c.ability.delay = c.ability.delay || op.Delay > 0
	h := c.lookup(k, op.Hold)
	if h == nil {
		return
	}
	h.note(op)
	c.staleCall(k, h, op)
	lost := op.Outcome == history.LossReported
	if h.coreDepth--; h.coreDepth <= 0 || lost {
		h.close(callOf(op), "release", true)
	} else {
		if h.inner++; h.inner == 1 {
			h.innerAt = op.Call
		}
		h.relet(op)
	}
	if op.Outcome != history.Failed {
		h.depth--
	}
	h.doubt = h.doubt || op.Outcome == history.Unknown
	switch over := h.depth <= 0 || lost; {
	case over && !h.released:
		c.overran(h, callOf(op))
		c.delays(k, h, op)
		h.letGo(op)
		k.refusal.left(h)
		if h.dropped { // its owner has turned to another, and yet gives this one up, with a delay maybe
			k.refusal.gone(h)
		}
		if h.certain {
			c.forgive(k, h)
		}
	case over && !h.certain: // the one before may have freed a level only
		h.mayDelay(op)
		k.refusal.gone(h)
	}
}

func (c *Checker) releaseReturned(k *key, op *history.Op) {
	if h := k.find(op.Hold); h != nil {
		h.fold(op, op.Return, op.Outcome == history.OK)
	}
	c.answered(k, op)
}

func (c *Checker) extendCalled(k *key, op *history.Op) {
	h := c.lookup(k, op.Hold)
	if h == nil {
		k.tooEarly(op)
		return
	}
	k.stretched(h)
	if c.joins() {
		c.besides(k, h, op)
	}
	if op.Kind == history.Extend {
		c.ability.extend = true
		h.note(op)
		c.staleCall(k, h, op)
	}
	if op.Outcome == history.LossReported {
		if op.Kind == history.Renew { // whether its owner is told, Lost() says
			h.over(callOf(op), "lost", false)
		} else {
			h.close(callOf(op), "lost", true)
		}
		k.cuts++
		return
	}
	h.widen(op)
	if h.dropped { // its owner still works with it, so it may still be held
		k.refusal.gone(h)
	}
	h.extend(op)
}

func (c *Checker) extendReturned(k *key, op *history.Op) {
	h := k.find(op.Hold)
	if h == nil {
		return
	}
	if op.Outcome == history.Unknown {
		h.fold(op, op.Return, false)
	}
	if op.Outcome == history.OK {
		h.newest = earlier(h.newest, returnOf(op))
		k.stretched(h)
		if h.landed(op) {
			c.reopened(k, h, op, false)
		}
	}
	c.answered(k, op)
}

// happened applies an event: something that befell a client or a hold.
func (c *Checker) happened(op *history.Op) {
	if op.Kind != history.Lost {
		c.unveilAll()
	}
	switch op.Kind {
	case history.Lost:
		c.lostClosed(op)
	case history.Death:
		c.depart(op)
		c.died(op)
	case history.Pause:
		cl := c.faults.client(op.Client)
		cl.paused, cl.still = callOf(op), true
		c.faults.struck |= lockbench.Pause
		c.each(op.Client, func(_ *key, h *hold) { h.under |= lockbench.Pause })
	case history.Resume:
		c.faults.client(op.Client).still = false
		c.each(op.Client, func(_ *key, h *hold) { h.awake(callOf(op)) })
	case history.Fault:
		c.faulted(op)
	}
}

func (c *Checker) lostClosed(op *history.Op) {
	k := c.key(op.Key)
	h := c.lookup(k, op.Hold)
	if h == nil {
		return
	}
	h.over(callOf(op), "lost", false)
	if h.unaware = c.faults.client(op.Client).still; !h.unaware {
		h.knew = earlier(h.knew, callOf(op))
	}
	if h.released {
		return
	}
	h.note(op)
	k.cuts++
	c.toldLost(k, h, op, callOf(op))
}

// cut ends the record of a client. What it did afterwards is not known, so from
// here on nothing is proven by what is not there.
func (c *Checker) cut(op *history.Op) {
	c.partial = true
	c.unveilAll()
	if c.last.t == op.Call { // it comes after all else of its instant, and says no number
		numbered := *op
		numbered.CallSeq = c.last.seq
		op = &numbered
	}
	c.depart(op)
	for _, k := range c.sorted() { // before each, since it may take holds away
		if slices.ContainsFunc(k.holds, func(h *hold) bool { return h.client == op.Client }) {
			c.settle(k, callOf(op))
		}
	}
	c.each(op.Client, func(k *key, h *hold) {
		h.close(callOf(op), "cut", true)
		h.dead = true
		k.cuts++
	})
}

// each applies f to every hold that client has not released.
func (c *Checker) each(client int32, f func(*key, *hold)) {
	for _, k := range c.keys {
		for _, h := range k.holds {
			if h.client == client && !h.released {
				f(k, h)
			}
		}
	}
}
