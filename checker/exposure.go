package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/history"
)

// An exposed acquire is what one acquire put to the test on the holds of others while it was
// under way: how often their must-hold intervals, their leases, and their leases after an
// inner release kept it out. That it was granted in the end takes nothing away.
type exposed struct {
	mustHold, lease, inner occasions
	op                     *history.Op
	own                    lockbench.Conditions // what a grant by it is, or would have been, touched by
}

// meetings counts what acquire op, now returned, met: an occasion for exclusion, lease and
// reentrancy.
func (c *Checker) meetings(k *key, op *history.Op) {
	m := &c.met
	m.mustHold.n, m.lease.n, m.inner.n = 0, 0, 0
	if op.Outcome != history.OK && op.Outcome != history.Refused {
		return
	}
	m.op, m.own = op, c.grantedUnder(k, op)
	if k.mayJoinRevived(op) { // and prolong it
		k.revived.Raise(op.Client, optime.After(optime.After(op.Return, k.asked.Highest()), k.refusal.Slack))
	}
	for _, h := range k.holds {
		if h.client != op.Client {
			c.meet(m, h)
		}
	}
	for i := 0; i < len(k.gone) && op.Call <= k.reach; i++ {
		if h := k.gone[i].hold; h.client != op.Client {
			c.meet(m, h)
		}
	}
	if m.mustHold.n == 0 && optime.Call(op).Before(k.lastEnd) { // with what is not remembered any more
		m.mustHold.add(k.lastUnder | c.faults.lasting())
	}
	if m.mustHold.n+m.lease.n+m.inner.n > 0 {
		m.mustHold.expose(c, exclusion)
		m.lease.expose(c, leaseKept)
		m.inner.expose(c, reentrancy)
	}
}

// meet adds what an acquire met of h. A hold that a stale call may have ended proves nothing.
func (c *Checker) meet(m *exposed, h *hold) {
	op := m.op
	inside := h.Must && optime.Call(op).Before(h.MustEnd())
	judged := h.Known && h.From != history.NoStamp && h.staleOp == nil && !h.staleBeside
	if !inside && !judged {
		return
	}
	under := c.touching(h) | m.own
	if inside {
		m.mustHold.add(under)
	}
	if !judged {
		return
	}
	begin, end := max(op.Call, h.Granted.T), min(op.Return, h.Until)
	if h.Released {
		end = min(end, h.End.T)
	}
	if meets(op, begin, end) && !h.Leaseless() {
		m.lease.add(under)
	}
	if h.Inner > 0 && meets(op, max(begin, h.InnerAt), end) {
		m.inner.add(under)
	}
}

// meets reports whether op was under way at some time between begin and end, which lie
// within it. One that takes no time, as most do in virtual time, has an instant only.
func meets(op *history.Op, begin, end int64) bool {
	return begin < end || begin == end && op.Call == op.Return
}

// occasions are the sets of conditions of the occasions that one call was, each once.
type occasions struct {
	few [4]lockbench.Conditions
	n   int
}

// add notes an occasion under these conditions.
func (o *occasions) add(under lockbench.Conditions) {
	if o.n < len(o.few) && !slices.Contains(o.few[:o.n], under) {
		o.few[o.n] = under
		o.n++
	}
}

// expose counts them.
func (o *occasions) expose(c *Checker, p promise) {
	for _, under := range o.few[:o.n] {
		c.expose(p, under)
	}
}
