package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// begun compares what began at the instant k.starts[i].at with what else is open
// there. All that happened at that instant is known by now.
func (c *Checker) begun(k *key, i int) {
	s := k.starts[i]
	if s.grant {
		c.checkDelay(k, s)
	}
	for a := range k.others(s.h.client) {
		if k.beginsLater(i, a) {
			continue // the pair is compared at that one's turn
		}
		if conflict(a, s.h) {
			k.conflicts++
			a.rivals = append(a.rivals, s.h)
			s.h.rivals = append(s.h.rivals, a)
			c.violate(candidate{kind: overlapping, key: k, holds: []*hold{a, s.h}, under: c.touching(a, s.h)})
		}
		if s.grant && a.known && a.granted.before(s.at) && !a.released && s.h.follows(a) {
			c.superseded(k, a, s)
		}
	}
}

// conflict tells whether the newest segments of a and b share an instant, end
// points excluded.
func conflict(a, b *hold) bool {
	if a.hollow() || b.hollow() {
		return false
	}
	return a.inCore && b.inCore && a.start.before(b.coreEnd()) && b.start.before(a.coreEnd())
}

// beginsLater tells whether h is among the starts after the i-th.
func (k *key) beginsLater(i int, h *hold) bool {
	for _, s := range k.starts[i+1:] {
		if s.h == h {
			return true
		}
	}
	return false
}

// superseded notes that s was granted while the owner of a had not let go.
func (c *Checker) superseded(k *key, a *hold, s start) {
	if a.supersededBy == nil {
		a.supersededBy, a.supersededAt = s.h, s.at
		if a.told { // it knew before there was anybody to lose to
			c.expose(lossReported, c.touching(a, s.h)|a.outlivedAt(s.at))
		}
	}
	switch {
	case a.from == history.NoStamp || a.dead && c.partial:
	case a.validAt(s.at):
		c.blame(k, a, s)
	case a.intruder == nil && !a.dead:
		a.intruder, a.intrusion = s.h, s.at
	}
}

// explained notes that the grant s within the validity of a is owed to an operation whose
// reply was lost, or to the cancelling of the acquire itself, if one of these may be behind
// it.
func (c *Checker) explained(k *key, a *hold, s start) bool {
	under := c.touching(a, s.h)
	gave := func(x *strike) bool {
		if x != nil {
			c.violate(candidate{kind: lostReplyGave, key: k, ops: []*history.Op{x.op, a.ops[0], s.h.ops[0], x.fault}, by: s.h, under: under | x.cause})
		}
		return x != nil
	}
	if gave(c.behind(k, lockbench.LostReply, a, s.at)) {
		return true
	}
	for _, x := range k.struck {
		how, other := grantedCancelled, a
		if x.op == a.ops[0] {
			how, other = cancelledGaveNothing, s.h
		}
		if x.cause == lockbench.Cancel && (x.op == a.ops[0] || x.op == s.h.ops[0]) {
			c.violate(candidate{kind: how, key: k, ops: []*history.Op{x.op, other.ops[0], x.fault}, by: s.h, under: under | x.cause})
			return true
		}
	}
	return gave(c.behind(k, lockbench.Cancel, a, s.at))
}

// blame finds what explains that s was granted within the validity of a. A missing record,
// or a stray that was under way when one of them was granted, could explain it too, so
// nothing is found then.
func (c *Checker) blame(k *key, a *hold, s start) {
	switch {
	case c.partial:
	case a.foreign != nil && callOf(a.foreign).before(s.at):
		c.blameStranger(k, freedByStranger, a, s.h)
	case c.explained(k, a, s):
	case a.stray, s.h.stray: // that may explain it, or may have come too early to
	default:
		how := grantedEarly
		switch {
		case a.inner > 0 && c.nested:
			how = innerFreed
		case s.at.t >= a.first:
			how = extendBroken
		}
		c.violate(candidate{kind: how, key: k, holds: []*hold{a, s.h}, under: c.touching(a, s.h)})
	}
}

// overran judges, when its owner lets go at s, whether h was worked under past
// its validity and whether somebody had got in meanwhile.
func (c *Checker) overran(h *hold, s stamp) {
	s = earlier(s, h.knew) // told of the loss, it stopped then
	if !h.known || h.from == history.NoStamp || h.dead || s.t <= h.base {
		return
	}
	under := c.touching(h) | lockbench.Outlived
	c.expose(exclusion, under)
	if h.intruder == nil || !h.intrusion.before(s) {
		return
	}
	overlap := earlier(s, h.intruder.knew).t - h.intrusion.t
	c.measure(&c.overlaps, overlap)
	c.worst(overlap)
	c.violate(candidate{kind: workedOn, key: c.keys[h.ops[0].Key], holds: []*hold{h, h.intruder}, under: under})
}

// delays begins the time that a release asked to keep others out for. A release
// that was late, or not answered ok, promises nothing.
func (c *Checker) delays(k *key, h *hold, op *history.Op) {
	final := (!c.nested || !h.doubt) && !k.leftOver(h.client) // else a level may be left
	if final && op.Delay > 0 && op.Outcome == history.OK && op.Return < h.until && h.supersededBy == nil {
		k.delayed = op
	}
}

func (c *Checker) checkDelay(k *key, s start) {
	d := k.delayed
	if d == nil || !callOf(d).before(s.at) || s.at.t >= after(d.Call, d.Delay) {
		return
	}
	if h := k.find(d.Hold); h != nil && s.h.follows(h) {
		c.violate(candidate{kind: grantedInDelay, key: k, holds: []*hold{h, s.h}, under: c.touching(h, s.h)})
	}
}

// nestedRefused judges a refusal of what its client held all along.
func (c *Checker) nestedRefused(k *key, op *history.Op) {
	if !c.nested || c.partial || k.wasStruck(op) {
		return
	}
	for _, h := range k.holds {
		if h.client == op.Client && h.validAt(returnOf(op)) && h.supersededBy == nil && h.foreign == nil && !h.stray && h.under&forgetful == 0 {
			h.note(op)
			c.violate(candidate{kind: ownRefused, key: k, holds: []*hold{h}, under: c.touching(h) | c.answering(op)})
		}
	}
}
