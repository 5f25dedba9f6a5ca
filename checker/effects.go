package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/optime"
)

// effectsMonitor judges that the guarded state lost no update. Where one of two writers wrote
// past its validity, the loss is touched by Outlived: the documented limit of leases.
var effectsMonitor = monitor{
	needs: func(c *Checker) string {
		if !c.ability.store {
			return "no guarded state was read or written"
		}
		return ""
	},
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
}

// keptWrites is how many completed writes of a key are remembered. A lost update
// shows against the newest ones: either both writes were made on the same
// version, or the newer write fell between the older one's read and write.
const keptWrites = 16

// writes is the guarded record of one key.
type writes struct {
	begun int64 // writes called so far
	open  []*write
	done  []*write
}

// A write is one write of the guarded record.
type write struct {
	op    *history.Op
	h     *hold
	index int64 // in order of calls
	valid bool  // it returned within its writer's validity, and so did the read before it
	// overwrote is a write made between this writer's read and this write.
	overwrote *write
}

func readReturned(c *Checker, k *key, op *history.Op) {
	if h := c.lookup(k, op.Hold); h != nil && op.Outcome == history.OK {
		h.lastRead, h.seenWrites = op, k.writes.begun
	}
}

func writeCalled(c *Checker, k *key, op *history.Op) {
	ws := &k.writes
	ws.begun++
	w := &write{op: op, h: c.lookup(k, op.Hold), index: ws.begun}
	if w.h != nil && w.h.lastRead != nil {
		for _, other := range ws.done {
			if other.h != w.h && other.index > w.h.seenWrites {
				w.overwrote = other
			}
		}
	}
	if op.Return != history.Never { // else nothing will come of it
		ws.open = append(ws.open, w)
	}
}

func writeReturned(c *Checker, k *key, op *history.Op) {
	ws := &k.writes
	i := slices.IndexFunc(ws.open, func(w *write) bool { return w.op == op })
	if i < 0 {
		return
	}
	w := ws.open[i]
	ws.open = slices.Delete(ws.open, i, i+1)
	if op.Outcome != history.OK || w.h == nil {
		return
	}
	w.valid = w.h.Must && !w.h.MustEnd().Before(optime.Return(op)) && w.h.readWithin()
	c.judgeWrite(k, w)
	w.overwrote = nil // or each write would keep all before it
	if len(ws.done) == keptWrites {
		ws.done = append(ws.done[:0], ws.done[1:]...)
	}
	ws.done = append(ws.done, w)
}

// readWithin tells whether what h last read it read in the newest segment of its
// must-hold interval: between two segments others may have written.
func (h *hold) readWithin() bool {
	return h.lastRead == nil || !optime.Call(h.lastRead).Before(h.Start)
}

// judgeWrite looks for an update that w destroyed, or that destroyed w's ground.
func (c *Checker) judgeWrite(k *key, w *write) {
	victim := w.overwrote
	for _, other := range k.writes.done {
		if other.h == w.h {
			continue
		}
		if victim == nil && w.h.lastRead != nil && other.h.lastRead != nil && other.op.Base == w.op.Base {
			victim = other
		}
	}
	if n := len(k.writes.done); n > 0 && k.writes.done[n-1].h.client != w.h.client {
		c.expose(effects, c.writtenUnder(k.writes.done[n-1], w))
	}
	if victim == nil {
		return
	}
	w.h.note(w.op)
	victim.h.note(victim.op)
	c.lostUpdate(k, victim, w)
}

// lostUpdate notes that w destroyed the update by victim.
func (c *Checker) lostUpdate(k *key, victim, w *write) {
	c.violate(candidate{kind: updateLost, key: k, holds: []*hold{victim.h, w.h}, under: c.writtenUnder(victim, w)})
}

// writtenUnder returns the conditions that touch what came of two writes.
func (c *Checker) writtenUnder(a, b *write) lockbench.Conditions {
	under := c.touching(a.h, b.h)
	if !a.valid || !b.valid {
		under |= lockbench.Outlived | c.renewing(a.h) | c.renewing(b.h)
	}
	return under
}
