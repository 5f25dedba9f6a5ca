package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// The monitor of effects judges that no update of the guarded state was lost. If one of two writers
// wrote past its validity, Outlived touches the loss: leases do not prevent it.
var _ = monitorOf(effects, monitor{
	needs: hasStore, lacks: "no guarded state was read or written",
	untested: "no client wrote after another",
	on: [factKinds]func(*Checker, fact){
		factStoreCalled: func(c *Checker, f fact) {
			if f.op.Kind == history.Write { // a read counts from its return on
				writeCalled(c, f.key, f.op)
			}
		},
		factStoreReturned: func(c *Checker, f fact) {
			if f.op.Kind == history.Write {
				writeReturned(c, f.key, f.op)
			} else {
				readReturned(c, f.key, f.op)
			}
		},
	},
})

var updateLost = kindOf(effects, LostUpdate, "the update by %s was overwritten by %s, which had not seen it")

func readReturned(c *Checker, k *key, op *history.Op) {
	if h := c.lookup(k, op.Hold); h != nil && op.Outcome == history.OK {
		k.writes.Read(op, &h.Use)
	}
}

func writeCalled(c *Checker, k *key, op *history.Op) {
	if h := c.lookup(k, op.Hold); h != nil {
		k.writes.Called(op, h, &h.Use)
	} else {
		k.writes.Called(op, nil, nil)
	}
}

// writeReturned looks for a lost update: a write that op overwrote although the client of op had
// not read it, or a write based on the same version as op.
func writeReturned(c *Checker, k *key, op *history.Op) {
	w := k.writes.Returned(op)
	if w == nil {
		return
	}
	h := w.Hold
	w.Valid = h.HasMust && !h.MustEnd().Before(interval.Return(op)) && h.readWithin()
	if c.wrote != nil {
		c.wrote(w)
	}
	victim, last := k.writes.Victim(w)
	if last != nil && last.Hold.client != h.client {
		c.expose(effects, c.writtenUnder(last, w))
	}
	if victim != nil {
		h.note(op)
		victim.Hold.note(victim.Op)
		c.violate(candidate{kind: updateLost, key: k, holds: []*hold{victim.Hold, h}, under: c.writtenUnder(victim, w)})
	}
	k.writes.Done(w)
}

// readWithin reports whether the last read under h lies in the newest segment of its must-hold
// interval. Between two segments other clients may have written.
func (h *hold) readWithin() bool {
	return h.LastRead == nil || !interval.Call(h.LastRead).Before(h.Start)
}

// writtenUnder returns the conditions that touch the two writes together.
func (c *Checker) writtenUnder(a, b *pending.Write[*hold]) lockbench.Conditions {
	under := c.touching(a.Hold, b.Hold)
	if !a.Valid || !b.Valid {
		under |= lockbench.Outlived | c.renewing(a.Hold, a.Op.Return) | c.renewing(b.Hold, b.Op.Return)
	}
	return under
}
