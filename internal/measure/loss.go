package measure

import "github.com/lockbench/lockbench/history"

// supersede records a grant to another client while the key's hold is still open.
func (c *Collector) supersede(k *keyState, op *history.Op) {
	if k.released != history.NoStamp { // as in nearly every call
		return
	}
	h, open := c.open[k.holder]
	if open && k.holder != op.Hold && h.supersededAt == history.NoStamp {
		h.supersededAt = op.Return
		c.open[k.holder] = h
	}
}

// toldOf handles an event that may tell an owner that its hold is lost. It counts once.
func (c *Collector) toldOf(op *history.Op, at int64) {
	h, open := c.open[op.Hold]
	if open && c.told(h, op, at) {
		h.supersededAt = lossKnown
		c.open[op.Hold] = h
	}
}

// lossKnown replaces the time at which a hold was overtaken after its owner was told.
const lossKnown = history.NoStamp - 1

// told measures how late the owner of h is told, and reports whether it is.
func (c *Collector) told(h hold, op *history.Op, at int64) bool {
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
