package checker

import (
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// The monitor of loss-reported judges that an owner that lost the lock is told so at its next call,
// or by its channel, and that an owner that did not lose it is not told that it did. attribution.go
// has the other explanations of an untrue report.
var _ = monitorOf(lossReported, monitor{
	untested: "no owner that had lost the lock called again",
	measures: "delay",
	on: [factKinds]func(*Checker, fact){
		factSuperseded: func(c *Checker, f fact) {
			if f.hold.knowsLoss { // it was told before another client was granted the key
				c.lossDue(f.hold, f.at)
			}
		},
		factLossExpected: lossAnswered,
		factLossTold:     toldLost,
	},
})

// Kinds of violation.
var (
	notTold            = kindOf(lossReported, ToldWrong, "%s had lost the key to %s and was not told")
	falselyTold        = kindAndOccasion(lossReported, ToldWrong, "%s was told that it had lost the key while nobody else could have it")
	falselyToldFlushed = kindAndOccasion(lossReported, ToldWrong, "the server forgot its scripts, and %s was told that it had lost the key while nobody else could have it")
)

// lossAnswered judges an answer that should have been "lost", since f.other was granted the key at
// f.at, before the call.
func lossAnswered(c *Checker, f fact) {
	h, op := f.hold, f.op
	if c.faults.Skew > 0 { // clocks that are off leave the order unknown
		return
	}
	under := c.touching(h, f.other) | f.under
	switch op.Outcome {
	case history.LossReported:
		c.expose(lossReported, under)
		c.measure(lossReported, under, op.Return-f.at.T)
	case history.OK:
		_, deceived := f.key.faultedAcquires.Get(h.client)
		if h.Regrant || deceived && c.rules.Joins() { // it may have been granted once more
			return
		}
		if x := f.key.affected.On(op); x != nil {
			under |= c.resolved(x.Cause, op.Client)
		}
		c.expose(lossReported, under)
		c.violate(candidate{kind: notTold, key: f.key, holds: []*hold{h, f.other}, under: under})
	}
}

// toldLost judges a report of a loss to the owner of f.hold. Either the key may have been granted
// to another client, or the report is false. An operation of another client may be the reason for a
// false report.
func toldLost(c *Checker, f fact) {
	h := f.hold
	if f.op.Kind == history.Lost && h.supersededAt.Before(f.at) {
		c.lossDue(h, f.at)
	}
	_, replaced := f.key.caps.Get(h.client) // the owner's own acquire of unknown outcome may have replaced the hold
	valid := h.Confirmed && !replaced && h.From != history.NoStamp && f.at.Before(interval.Stamp{T: h.Until})
	if valid && h.supersededAt == interval.Forever && !c.partial && !h.forgotten && !f.key.mayHaveGivenUp(h, f.op) {
		c.explain(unfoundedLosses, f)
	}
}

// lossDue counts an occasion: the owner of h had lost the key, and was told so at s. If clocks are
// off, the order is unknown, and there is no occasion.
func (c *Checker) lossDue(h *hold, s interval.Stamp) {
	if c.faults.Skew != 0 {
		return
	}
	under := c.touching(h, h.supersededBy) | h.outlivedAt(s)
	c.expose(lossReported, under)
	if h.supersededAt.Before(s) {
		c.measure(lossReported, under, s.T-h.supersededAt.T)
	}
}
