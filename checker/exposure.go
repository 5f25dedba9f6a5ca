package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// An exposed acquire is one that was under way while others held the key, and what it put
// to the test on their holds.
type exposed struct {
	core, lease, inner occasions
	op                 *history.Op
	own                lockbench.Conditions // what a grant by it would be touched by
}

// contended counts what the acquire op, now returned, put to the test, each
// guarantee once. That it was granted in the end takes nothing away: it was kept
// out until then.
func (c *Checker) contended(k *key, op *history.Op) {
	if op.Outcome != history.OK && op.Outcome != history.Refused {
		return
	}
	m := exposed{op: op}
	known := false // own
	meet := func(h *hold) {
		if !known {
			m.own, known = c.grantedUnder(k, op), true
		}
		c.meet(&m, h)
	}
	for _, h := range k.holds {
		if h.client != op.Client {
			meet(h)
		}
	}
	for i := 0; i < len(k.gone) && op.Call <= k.reach; i++ {
		if h := k.gone[i].hold; h.client != op.Client {
			meet(h)
		}
	}
	if m.core.n == 0 && callOf(op).before(k.lastEnd) { // with what is not remembered any more
		m.core.add(k.lastUnder | c.faults.lasting())
	}
	m.core.expose(c, exclusion)
	m.lease.expose(c, leaseKept)
	m.inner.expose(c, reentrancy)
	if d := k.delayed; d != nil && op.Call < after(d.Call, d.Delay) && d.Call < op.Return {
		c.expose(releaseDelay, c.touching(k.find(d.Hold))|m.own)
	}
}

// meet adds what an acquire met of h. A hold that a stray may have ended proves nothing.
func (c *Checker) meet(m *exposed, h *hold) {
	op := m.op
	inside := h.inCore && callOf(op).before(h.coreEnd())
	judged := h.known && h.from != history.NoStamp && h.foreign == nil && !h.stray
	if !inside && !judged {
		return
	}
	under := c.touching(h) | m.own
	if inside {
		m.core.add(under)
	}
	if !judged {
		return
	}
	begin, end := max(op.Call, h.granted.t), min(op.Return, h.until)
	if h.released {
		end = min(end, h.end.t)
	}
	if meets(op, begin, end) {
		m.lease.add(under)
	}
	if h.inner > 0 && meets(op, max(begin, h.innerAt), end) {
		m.inner.add(under)
	}
}

// meets tells whether op was under way at some time between begin and end, which lie
// within it. One that takes no time, as most do in virtual time, has an instant only.
func meets(op *history.Op, begin, end int64) bool {
	return begin < end || begin == end && op.Call == op.Return
}
