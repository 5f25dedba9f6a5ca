package measure

import "github.com/lockbench/lockbench/history"

// supersede notes a grant to another client on the hold of the key that is still open.
func (c *Collector) supersede(k *keyState, op *history.Op) {
	if k.released != history.NoStamp { // the usual case
		return
	}
	h, open := c.open[k.holder]
	if open && k.holder != op.Hold && h.supersededAt == history.NoStamp {
		h.supersededAt = op.Return
		c.open[k.holder] = h
	}
}

// lossNotice handles an event that may tell an owner of its loss. Only the first counts.
func (c *Collector) lossNotice(op *history.Op, at int64) {
	h, open := c.open[op.Hold]
	if open && c.recordLossNotice(h, op, at) {
		h.supersededAt = lossKnown
		c.open[op.Hold] = h
	}
}

// lossKnown replaces supersededAt once the owner was told.
const lossKnown = history.NoStamp - 1

// recordLossNotice records the time from the next owner's grant until the owner of h was told, and
// reports whether it was told.
func (c *Collector) recordLossNotice(h hold, op *history.Op, at int64) bool {
	tells := op.Kind == history.Lost || op.Outcome == history.LossReported && op.Return != history.Never
	if !tells || h.supersededAt == lossKnown {
		return false
	}
	late := int64(0)
	if h.supersededAt != history.NoStamp {
		late = max(0, at-h.supersededAt)
	}
	c.record(c.phase(at), LossNotice, late)
	return true
}
