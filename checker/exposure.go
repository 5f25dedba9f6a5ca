package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// A meeting is what one acquire put to the test on the holds of others: it was
// under way while they excluded it.
type meeting struct{ core, lease, extended, inner, forgotten bool }

// contended counts what the acquire op, now returned, put to the test, each
// guarantee once. That it was granted in the end takes nothing away: it was kept
// out until then.
func (c *Checker) contended(k *key, op *history.Op) {
	if op.Outcome != history.OK && op.Outcome != history.Refused {
		return
	}
	m := meeting{core: callOf(op).before(k.lastEnd)}
	for _, h := range k.holds {
		if h.client != op.Client {
			m.meet(h, op)
		}
	}
	for i := 0; i < len(k.gone) && op.Call <= k.reach; i++ {
		if h := k.gone[i].hold; h.client != op.Client {
			m.meet(h, op)
		}
	}
	c.exposeIf(m.core, lockbench.Exclusion)
	c.exposeIf(m.forgotten, c.faults.forgets)
	c.exposeIf(m.lease, lockbench.NoEarlyExpiry)
	c.exposeIf(m.extended, lockbench.Extend)
	c.exposeIf(m.inner, lockbench.Reentrancy)
	d := k.delayed
	c.exposeIf(d != nil && op.Call < after(d.Call, d.Delay) && d.Call < op.Return, lockbench.ReleaseDelay)
}

func (c *Checker) exposeIf(met bool, g lockbench.Guarantee) {
	if met {
		c.expose(g)
	}
}

// meet adds what op met of h. A hold that a stray may have ended proves nothing.
func (m *meeting) meet(h *hold, op *history.Op) {
	inside := h.inCore && callOf(op).before(h.coreEnd())
	if h.forgotten {
		m.forgotten = m.forgotten || inside
		return
	}
	m.core = m.core || inside
	if !h.known || h.from == history.NoStamp || h.foreign != nil || h.stray {
		return
	}
	begin, end := max(op.Call, h.granted.t), min(op.Return, h.until)
	if h.released {
		end = min(end, h.end.t)
	}
	m.lease = m.lease || meets(op, begin, end)
	m.extended = m.extended || meets(op, max(begin, h.first), end)
	m.inner = m.inner || h.inner > 0 && meets(op, max(begin, h.innerAt), end)
}

// meets tells whether op was under way at some time between begin and end, which lie
// within it. One that takes no time, as most do in virtual time, has an instant only.
func meets(op *history.Op, begin, end int64) bool {
	return begin < end || begin == end && op.Call == op.Return
}
