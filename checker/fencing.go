package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// The monitor of fencing judges that fences rise with every grant, and that a store that checks
// fences accepts no write with a lower fence than an earlier write had.
var _ = monitorOf(fencing, monitor{
	needs: hasFence, lacks: "no fence was handed out",
	untested: "no two grants with fences were ordered",
	on: [factKinds]func(*Checker, fact){
		factAcquireCalled: func(_ *Checker, f fact) { f.key.fences.Called(f.op) },
		factGranted:       func(c *Checker, f fact) { f.key.fences.granted(c, f.key, f.hold, f.op) },
		factGone:          func(_ *Checker, f fact) { f.key.fences.ended(f.hold) },
		factForgotten:     func(_ *Checker, f fact) { f.key.fences.forget(f.at, f.under) },
		factStoreCalled: func(c *Checker, f fact) {
			if f.op.Kind == history.Write {
				f.key.fences.written(c, f.key, f.op)
			}
		},
	},
})

// Kinds of violation.
var (
	fenceNotRaised = kindOf(fencing, LostUpdate, "%s was granted the key before %s, whose fence is not higher")
	staleAdmitted  = kindOf(fencing, LostUpdate, "a write by %s was admitted with a lower fence than one before it")
)

// fences checks that, of two ordered grants of one key, the later one has the higher fence. Two grants
// are ordered if one returned before the other was called, or if their must-hold intervals are
// disjoint.
type fences struct {
	pending.Fences[*hold]
	admitted uint64      // the highest fence of an accepted write
	admitter *history.Op // the write with that fence
	// forgotten is the grant with the highest fence before the server forgot grants. since is the
	// time at which it did, and cause the condition.
	forgotten *hold
	since     interval.Stamp
	cause     lockbench.Conditions
}

// forget applies that the server forgot its grants, so it may count from anywhere.
func (f *fences) forget(at interval.Stamp, cause lockbench.Conditions) {
	if f.Returned.Hold != nil {
		f.forgotten = f.Returned.Hold
	}
	f.Forget()
	f.since, f.cause = at, f.cause|cause
}

// granted judges the fence of h, granted by op.
func (f *fences) granted(c *Checker, k *key, h *hold, op *history.Op) {
	by, ok := f.Pop(op)
	if !ok {
		return
	}
	c.ability |= hasFence
	if f.Returned.Hold != nil {
		c.expose(fencing, c.touching(f.Returned.Hold, h))
	}
	for a := range k.others(h.client) {
		if a.HasMust && a.Start.Before(interval.Return(op)) && !interval.Return(op).Before(a.MustEnd()) {
			f.ended(a)
		}
	}
	if h.HasMust { // a grant without a must-hold interval may be older
		by = f.Above(by)
	}
	joins := k.refusal.MayJoinLevels(op) || k.affected.LeftBy(op.Client) // levels that the client left may keep their fence
	goesOn := func(old *hold, fence uint64) bool { return joins && old.client == h.client && op.Fence == fence }
	switch old := f.forgotten; {
	case by.Hold != nil && op.Fence <= by.Fence && !goesOn(by.Hold, by.Fence):
		c.violate(candidate{kind: fenceNotRaised, key: k, holds: []*hold{by.Hold, h}, under: c.touching(by.Hold, h)})
	case old != nil && op.Fence <= old.ops[0].Fence && !h.forgotten && !goesOn(old, old.ops[0].Fence):
		c.violate(candidate{kind: fenceNotRaised, key: k, holds: []*hold{old, h}, under: c.touching(old, h) | f.cause})
		f.forgotten = nil
	}
	if !h.forgotten {
		f.Return(pending.FencedGrant[*hold]{Hold: h, Fence: op.Fence})
	}
}

// ended notes that the must-hold interval of h is over.
func (f *fences) ended(h *hold) {
	if op := h.ops[0]; h.Confirmed && !interval.Call(op).Before(f.since) && h.HasMust {
		f.End(pending.FencedGrant[*hold]{Hold: h, Fence: op.Fence})
	}
}

// written judges the call of a guarded write with a fence. The store must not accept a lower fence
// than it accepted before.
func (f *fences) written(c *Checker, k *key, op *history.Op) {
	if op.Fence == 0 || op.Outcome != history.OK {
		return
	}
	c.ability |= hasFence
	if f.admitter != nil && f.admitter.Return < op.Call {
		writer := k.find(op.Hold)
		under := c.touching(writer)
		if writer != nil {
			under |= writer.outlivedAt(interval.Call(op))
		}
		c.expose(fencing, under)
		if op.Fence < f.admitted {
			c.violate(candidate{kind: staleAdmitted, key: k, ops: []*history.Op{op}, under: under})
		}
	}
	if op.Fence > f.admitted {
		f.admitted, f.admitter = op.Fence, op
	}
}
