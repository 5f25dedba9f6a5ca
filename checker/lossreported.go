package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// lossReportedMonitor judges that an owner that lost the lock is told so at its next call,
// or by its channel, and that nobody else is. What else may explain a loss that never was is
// in attribution.go.
var lossReportedMonitor = monitor{
	judges:   lossReported,
	untested: "no owner that had lost the lock called again",
	measures: func(c *Checker) map[string]float64 { return c.lossDelays.measures("delay") },
	on: [factKinds]func(*Checker, fact){
		factSuperseded: func(c *Checker, f fact) {
			if f.hold.told { // it knew before there was anybody to lose to
				c.lossDue(f.hold, f.at)
			}
		},
		factStaleCalled: func(c *Checker, f fact) {
			if !f.hold.released && !f.hold.told {
				owedLoss(c, f)
			}
		},
		factLockedAnew: owedLoss,
		factLossTold:   toldLost,
	},
}

// owedLoss judges an answer that should have been "lost", since another owner was granted
// the key before the question.
func owedLoss(c *Checker, f fact) {
	h, op := f.hold, f.op
	switch op.Outcome {
	case history.LossReported:
		c.lossDue(h, f.at)
		c.measure(&c.lossDelays, op.Return-h.supersededAt.t)
	case history.OK:
		_, deceived := f.key.deceived.get(h.client)
		anew := h.regrant || deceived && c.joins() // it may have been granted once more
		if anew || c.faults.skew > 0 {             // see lossDue
			return
		}
		under := c.lossUnder(h, f.at)
		if x := f.key.effectOn(op); x != nil {
			under |= c.resolved(x.cause, op.Client)
		}
		c.expose(lossReported, under)
		c.violate(candidate{kind: notTold, key: f.key, holds: []*hold{h, h.supersededBy}, under: under})
	}
}

// toldLost judges what the owner of f.hold learnt: a loss to somebody else, or one that
// never was, which somebody else's operation may explain.
func toldLost(c *Checker, f fact) {
	h := f.hold
	if f.op.Kind == history.Lost && h.supersededAt.before(f.at) {
		c.lossDue(h, f.at)
		c.measure(&c.lossDelays, f.at.t-h.supersededAt.t)
	}
	_, replaced := f.key.caps.get(h.client) // by its own acquire of unknown outcome, maybe
	valid := h.known && !replaced && h.from != history.NoStamp && f.at.before(stamp{t: h.until})
	if valid && h.supersededAt == forever && !c.partial && h.under&forgetful == 0 && !f.key.toldByItself(h, f.op) {
		c.explain(unfoundedLosses, f)
	}
}

// lossDue counts an occasion: the owner of h, who had lost the key, was to be told at s.
// Clocks that are off leave unknown who came first, so there is none then.
func (c *Checker) lossDue(h *hold, s stamp) {
	if c.faults.skew == 0 {
		c.expose(lossReported, c.lossUnder(h, s))
	}
}

// lossUnder returns the conditions under which the owner of h, who lost the key, asked at s.
func (c *Checker) lossUnder(h *hold, s stamp) lockbench.Conditions {
	return c.touching(h, h.supersededBy) | h.outlivedAt(s)
}
