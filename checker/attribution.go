package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// This file explains breaches: grants and losses that should not have happened. conditions.go finds
// the conditions that touched them.
//
// The explanations of a fact stand in a table. The first that applies is taken. Which ones apply
// depends on the history only, never on the claims of the design.

// An explanation is one reason for a breach.
type explanation struct {
	// reason is the explanation in a sentence. A test checks each by itself.
	reason string
	// find returns the violation, and whether the explanation applies. The violation is of kind
	// undecided if something else may explain the breach as well; it is not reported.
	find func(c *Checker, f fact) (v candidate, applies bool)
}

// undecided is the kind of a breach that more than one reason may explain.
var undecided *kind

// earlyGrants explain why f.other was granted the key at f.at, within the validity of f.hold.
var earlyGrants = []explanation{
	{"the record is missing a part, which may explain it", func(c *Checker, _ fact) (candidate, bool) {
		return candidate{kind: undecided}, c.partial
	}},
	{"a past owner's release or extend took the key from its owner", func(c *Checker, f fact) (candidate, bool) {
		h := f.hold
		if h.staleOp == nil || !interval.Call(h.staleOp).Before(f.at) || h.refusedOthersAfter(h.staleOp) || h.forgotten {
			return candidate{}, false
		}
		f.other.admittedByStale = true
		return c.byPastOwner(freedByPastOwner, h, f.other), true
	}},
	{"an operation whose reply was lost ran, once or once more", func(c *Checker, f fact) (candidate, bool) {
		return c.byUnanswered(f, lockbench.LostReply)
	}},
	{"the acquire was cancelled, and yet answered as granted", func(c *Checker, f fact) (candidate, bool) {
		granted, given := f.other.ops[0], f.hold.ops[0]
		for i := range f.key.affected {
			switch x := &f.key.affected[i]; {
			case x.Cause != lockbench.Cancel:
			case x.Op == given:
				return c.byEffect(cancelledGaveNothing, f, x, x.Op, granted), true
			case x.Op == granted:
				return c.byEffect(grantedCancelled, f, x, x.Op, given), true
			}
		}
		return candidate{}, false
	}},
	{"a release or extend that was given up ran late", func(c *Checker, f fact) (candidate, bool) {
		return c.byUnanswered(f, lockbench.Cancel)
	}},
	{"what a past owner sent was under way at one of the grants: it may explain it, or have come too early to", func(_ *Checker, f fact) (candidate, bool) {
		open := f.hold.staleConcurrent || f.other.staleConcurrent || f.hold.concurrentSharedRelease || f.other.concurrentSharedRelease
		f.other.admittedByStale = f.other.admittedByStale || open
		return candidate{kind: undecided}, open
	}},
	{"an inner release freed the key", func(c *Checker, f fact) (candidate, bool) {
		return c.violationBy(innerFreed, f.hold, f.other), f.hold.Inner > 0 && c.rules.Nested && f.hold.InnerDone >= f.hold.lastRefusal
	}},
	{"there is no lease: only exclusion says that nobody else gets it", func(_ *Checker, f fact) (candidate, bool) {
		return candidate{kind: undecided}, f.hold.Leaseless()
	}},
	{"the lease was extended, and the extension was not kept", func(c *Checker, f fact) (candidate, bool) {
		return c.violationBy(extendBroken, f.hold, f.other), f.at.T >= f.hold.Promised
	}},
	{"the lease was not kept", func(c *Checker, f fact) (candidate, bool) {
		return c.violationBy(grantedEarly, f.hold, f.other), true
	}},
}

// unfoundedLosses explain why f.op told the owner of f.hold at f.at that it had lost the key,
// within its validity and before any other client was certainly granted it.
var unfoundedLosses = []explanation{
	{"a past owner's release or extend took the key from its owner", func(c *Checker, f fact) (candidate, bool) {
		if f.hold.staleOp == nil || f.hold.refusedOthersAfter(f.hold.staleOp) {
			return candidate{}, false
		}
		return c.byPastOwner(lostToPastOwner, f.hold), true
	}},
	{"an operation whose reply was lost, or that was given up, took the key", func(c *Checker, f fact) (candidate, bool) {
		for _, cause := range []lockbench.Conditions{lockbench.LostReply, lockbench.Cancel} {
			if x := c.effectBehind(f.key, cause, f.hold, f.at); x != nil {
				return candidate{kind: lostReplyTook, key: f.key, ops: []*history.Op{x.Op, f.hold.ops[0], f.op, x.Fault}, under: c.touching(f.hold) | x.Cause}, true
			}
		}
		return candidate{}, false
	}},
	{"an inner release freed the key", func(c *Checker, f fact) (candidate, bool) {
		return c.violationBy(innerLost, f.hold), f.hold.Inner > 0 && c.rules.Nested && f.hold.InnerDone >= f.hold.lastRefusal
	}},
	{"what is to prolong the lease was not answered yet, or somebody else may have had the key", func(c *Checker, f fact) (candidate, bool) {
		h := f.hold
		prolonging := func(op *history.Op) bool { return op.Kind == history.Extend && op.Return == f.at.T }
		working := f.op.Kind == history.Lost && (h.Prolonging() || slices.ContainsFunc(h.ops, prolonging))
		nobody := f.key.refusal.OnlyKnownGrantsSince(h.Began()) && (c.faults.Skew == 0 || !f.key.grantedToOthersSince(h))
		return candidate{kind: undecided}, working || !nobody
	}},
	{"somebody else was granted the key meanwhile", func(c *Checker, f fact) (candidate, bool) {
		follower := f.key.nextOwner(f.hold)
		switch {
		case follower == nil:
			return candidate{}, false
		case f.hold.Leaseless():
			return candidate{kind: undecided}, true
		}
		return c.violationBy(grantedEarly, f.hold, follower), true
	}},
	{"only what others had sent before can have taken the key", func(c *Checker, f fact) (candidate, bool) {
		return c.violationBy(lostToStaleCall, f.hold), f.hold.staleConcurrent
	}},
	{"the server had forgotten its scripts", func(c *Checker, f fact) (candidate, bool) {
		v := candidate{kind: falselyToldFlushed, key: f.key, ops: []*history.Op{f.op, c.faults.Flush}, under: c.touching(f.hold) | lockbench.ScriptFlush}
		return v, c.faults.Flush != nil
	}},
	{"it was not true", func(c *Checker, f fact) (candidate, bool) {
		v := c.violationBy(falselyTold, f.hold)
		v.under |= f.key.renewalConditions(f.hold)
		return v, true
	}},
}

// refusedOthersAfter reports whether another client was refused after op was answered. If so, op
// had not freed the key by then, and it acts no more.
func (h *hold) refusedOthersAfter(op *history.Op) bool {
	return op.Outcome != history.Unknown && op.Return < h.lastRefusal
}

// explain looks for the first explanation in table that applies to f, and reports its violation.
func (c *Checker) explain(table []explanation, f fact) {
	for i := range table {
		v, applies := table[i].find(c, f)
		if !applies {
			continue
		}
		if v.kind != undecided {
			v.key = f.key
			c.violate(v)
		}
		return
	}
}

// violationBy returns a violation that the holds show.
func (c *Checker) violationBy(how *kind, holds ...*hold) candidate {
	return candidate{kind: how, holds: holds, under: c.touching(holds...)}
}

// byPastOwner returns the violation by the call that a past owner sent into the must-hold interval
// of h. It counts once, however many clients were granted the key because of it.
func (c *Checker) byPastOwner(how *kind, h *hold, others ...*hold) candidate {
	if h.staleCounted {
		return candidate{kind: undecided}
	}
	h.staleCounted = true
	v := c.violationBy(how, append([]*hold{h.pastOwner, h}, others...)...)
	v.under |= h.pastOwner.outlivedAt(interval.Call(h.staleOp))
	return v
}

// byUnanswered returns an early grant that an operation of unknown effect, affected by cause,
// explains.
func (c *Checker) byUnanswered(f fact, cause lockbench.Conditions) (v candidate, applies bool) {
	x := c.effectBehind(f.key, cause, f.hold, f.at)
	if x == nil {
		return candidate{}, false
	}
	return c.byEffect(lostReplyGave, f, x, x.Op, f.hold.ops[0], f.other.ops[0]), true
}

// byEffect returns an early grant that the effect x of a fault explains.
func (c *Checker) byEffect(how *kind, f fact, x *pending.Effect, shown ...*history.Op) candidate {
	under := c.touching(f.hold, f.other) | x.Cause
	return candidate{kind: how, ops: append(shown, x.Fault), by: f.other, under: under}
}

// nextOwner returns a hold of another client that was granted after h, maybe while the owner of h
// was being told of the loss; nil if there is none.
func (k *key) nextOwner(h *hold) *hold {
	for other := range k.allHolds() {
		if other.Confirmed && other.client != h.client && other.follows(h) {
			return other
		}
	}
	return nil
}

// grantedToOthersSince reports whether another client was, or may have been, granted the key since
// h began. If clocks are off, the order is unknown.
func (k *key) grantedToOthersSince(h *hold) bool {
	for other := range k.allHolds() {
		if other.Confirmed && other.client != h.client && !other.Newest.Before(h.Began()) {
			return true
		}
	}
	return false
}

// mayHaveGivenUp reports whether the owner of h may itself have freed the key before op told it of
// the loss: an earlier attempt may have freed it, and the reply was lost. Renewals free nothing.
func (k *key) mayHaveGivenUp(h *hold, op *history.Op) bool {
	return slices.ContainsFunc(k.affected, func(x pending.Effect) bool {
		own := x.Op.Client == h.client && x.Op.Kind != history.Renew
		return own && (x.Op == op || x.Op.Hold == h.id || !x.Acted().Before(h.Began()))
	})
}

// renewalConditions returns the conditions of the faults that affected renewals of h.
func (k *key) renewalConditions(h *hold) (under lockbench.Conditions) {
	for i := range k.affected {
		if x := &k.affected[i]; x.Op.Kind == history.Renew && x.Op.Hold == h.id {
			under |= x.Cause
		}
	}
	return under
}

// effectBehind returns a lost reply or a cancelled call that may have cost victim the key before
// at; nil if there is none. The affected operation may have acted, once or more, since victim was
// granted the key, or may have left levels that victim joined. An operation did not run if its
// connection was cut before the command arrived. A release or extend may have run late, after its
// client stopped waiting for the answer.
func (c *Checker) effectBehind(k *key, cause lockbench.Conditions, victim *hold, at interval.Stamp) *pending.Effect {
	for i := range k.affected {
		x := &k.affected[i]
		if x.Cause != cause || !x.Unanswered() || !interval.Call(x.Op).Before(at) {
			continue
		}
		joined := c.rules.Joins() && cause == lockbench.LostReply && x.Op.Client == victim.client
		if joined || !x.Acted().Before(victim.Began()) {
			return x
		}
	}
	return nil
}
