package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/history"
)

// A death is the last word of a client, so of what was kept for the sake of what it might
// do next nothing is needed any more; in a long run clients that die are many. What it
// sent may still act on others: that is kept for all the dead together.

// theDead stands for all clients that died, among those of a key.
const theDead = math.MinInt32

// keptDead bounds how many clients that died are known one by one: what was struck when
// they died may still run late.
const keptDead = 1 << 10

// bury forgets what client, which just died, might have done next.
func (c *Checker) bury(client int32) {
	for _, k := range c.keys {
		for _, times := range []*clientTimes{&k.caps, &k.silent, &k.deceived, &k.refusal.residues} {
			times.remove(client)
		}
		if n := k.lurking.remove(client); n > 0 {
			*k.lurking.at(theDead, 0) += n
		}
		if longest := k.asked.remove(client); longest > 0 {
			k.asked.raise(theDead, longest)
		}
		for h := range k.known() {
			h.orphan = h.orphan || h.client == client
		}
	}
	c.fair.bury(client)
	c.faults.bury(client)
}

// remove takes the time of client away, and returns it; zero when it had none.
func (all *clientTimes) remove(client int32) (t int64) {
	i := slices.IndexFunc(*all, func(c clientTime) bool { return c.client == client })
	if i < 0 {
		return 0
	}
	t = (*all)[i].t
	*all = slices.Delete(*all, i, i+1)
	return t
}

// bury notes that a client died, and forgets the oldest that did when they are too many.
func (f *faults) bury(id int32) {
	f.dead = append(f.dead, id)
	if len(f.dead) <= keptDead {
		return
	}
	if cl := f.clients[f.dead[0]]; cl != nil {
		cl.known = false // in near, too
		delete(f.clients, f.dead[0])
	}
	f.dead = append(f.dead[:0], f.dead[1:]...)
}

// gone tells whether a client died; one that is not known has done nothing, or is forgotten.
func (f *faults) gone(id int32) bool {
	cl := f.clients[id]
	return cl == nil || !cl.known || cl.dead
}

// longestAsked is the longest lease that client may have asked k for.
func (c *Checker) longestAsked(k *key, client int32) (longest int64, ok bool) {
	if longest, ok = k.asked.get(client); !ok && client >= 0 && c.faults.gone(client) {
		return k.asked.get(theDead)
	}
	return longest, ok
}

// depart keeps the death or cut op for the cross-check, where it has something of its
// client's. It keeps a copy: operations come in chunks, of which one that is kept keeps all.
func (c *Checker) depart(op *history.Op) {
	theirs := func(other *history.Op) bool { return other.Client == op.Client }
	for _, k := range c.keys {
		if slices.ContainsFunc(k.ops.ops, theirs) {
			c.departed = append(c.departed, copied(op))
			return
		}
	}
}

// bury counts the grants of a client among those of the dead: who got how many does not
// matter.
func (f *fairness) bury(client int32) {
	n, known := f.grants[client]
	if !known {
		return
	}
	if f.dead == nil {
		f.dead = map[int64]int64{}
	}
	f.dead[n]++
	delete(f.grants, client)
}

// each yields grants, and how many clients had as many.
func (f *fairness) each(yield func(grants, clients int64) bool) {
	for _, n := range f.grants {
		if !yield(n, 1) {
			return
		}
	}
	for n, clients := range f.dead {
		if !yield(n, clients) {
			return
		}
	}
}
