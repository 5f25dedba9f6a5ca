package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// meetings are the occasions that one acquire made on the holds of other clients: it met their
// must-hold intervals, their leases, and their leases after an inner release. They count even if
// the acquire was granted in the end.
type meetings struct {
	mustHold, lease, inner count.Set
	op                     *history.Op
	// own has the conditions that touch, or would touch, the grant of the acquire
	own lockbench.Conditions // that touch its grant, or would touch it
}

// countMeetings counts the holds that acquire op, which just returned, met: occasions of exclusion,
// lease and reentrancy.
func (c *Checker) countMeetings(k *key, op *history.Op) {
	m := &c.meetings
	m.mustHold.Clear()
	m.lease.Clear()
	m.inner.Clear()
	if op.Outcome != history.OK && op.Outcome != history.Refused {
		return
	}
	m.op, m.own = op, c.grantedUnder(k, op)
	if k.mayJoinRevived(op) { // op may also prolong the hold
		k.revived.Raise(op.Client, interval.After(interval.After(op.Return, k.asked.Highest()), k.refusal.Slack))
	}
	for _, h := range k.holds {
		if h.client != op.Client {
			c.meet(m, h)
		}
	}
	for i := 0; i < len(k.released) && op.Call <= k.reach; i++ {
		if h := k.released[i].hold; h.client != op.Client {
			c.meet(m, h)
		}
	}
	if len(m.mustHold.All()) == 0 && interval.Call(op).Before(k.lastEnd) { // it met a hold that has been forgotten
		m.mustHold.Add(k.lastUnder | c.faults.Lasting())
	}
	c.exposeAll(exclusion, &m.mustHold)
	c.exposeAll(leaseKept, &m.lease)
	c.exposeAll(reentrancy, &m.inner)
}

// meet adds the occasions of an acquire on h. If a stale call may have ended h, it proves nothing.
func (c *Checker) meet(m *meetings, h *hold) {
	op := m.op
	inside := h.HasMust && interval.Call(op).Before(h.MustEnd())
	judged := h.Confirmed && h.From != history.NoStamp && h.staleOp == nil && !h.staleConcurrent
	if !inside && !judged {
		return
	}
	under := c.touching(h) | m.own
	if inside {
		m.mustHold.Add(under)
	}
	if !judged {
		return
	}
	begin, end := max(op.Call, h.Granted.T), min(op.Return, h.Until)
	if h.Released {
		end = min(end, h.End.T)
	}
	if interval.UnderWayDuring(op, begin, end) && !h.Leaseless() {
		m.lease.Add(under)
	}
	if h.Inner > 0 && interval.UnderWayDuring(op, max(begin, h.InnerAt), end) {
		m.inner.Add(under)
	}
}

// exposeAll counts an occasion of p under each of these sets of conditions.
func (c *Checker) exposeAll(p guaranteeID, on *count.Set) {
	for _, under := range on.All() {
		c.expose(p, under)
	}
}
