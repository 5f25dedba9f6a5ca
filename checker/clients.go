package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/optime"
)

// nearClients is for how many clients no map is asked, a power of two.
const nearClients = 256

// A client is what is known of one owner besides its holds.
type client struct {
	known   bool // false: memory to be used again
	id      int32
	process int32
	flying  []*history.Op // under way
	last    *history.Op   // the last of its calls that returned
	// acquiring is its newest acquire, and beside the shortest lease that something
	// on an earlier hold, under way at the same time, may set after it.
	acquiring *history.Op
	beside    int64
	dead      bool
	paused    optime.Stamp // the last time that it was
	still     bool         // it is now
}

// client returns the one with this id.
func (f *faults) client(id int32) *client {
	near := &f.near[id&(nearClients-1)]
	if cl := *near; cl != nil && cl.id == id && cl.known {
		return cl
	}
	cl := f.clients[id]
	if cl == nil {
		cl = &client{}
		f.clients[id] = cl
	}
	*near = cl
	if !cl.known {
		*cl = client{known: true, id: id, flying: cl.flying[:0], paused: optime.Stamp{T: -1}, beside: math.MaxInt64}
	}
	return cl
}

// keptFlying bounds how many operations a client has under way: those that never
// return would gather.
const keptFlying = 16

func (c *Checker) departs(op *history.Op) {
	cl := c.faults.client(op.Client)
	if c.faulty() && op.Key != "" {
		owner := op.Client
		if cl.dead { // it is renewed for, in a process that lives on
			owner = crashedClients
		}
		c.key(op.Key).asked.raise(owner, optime.Wanted(op))
	}
	cl.process = op.Process
	if len(cl.flying) == keptFlying {
		cl.flying = slices.Delete(cl.flying, 0, 1)
	}
	cl.flying = append(cl.flying, op)
}

func (f *faults) arrives(op *history.Op) {
	cl := f.client(op.Client)
	if op.Kind != history.Renew {
		cl.last = op
	}
	if i := slices.Index(cl.flying, op); i >= 0 {
		cl.flying = slices.Delete(cl.flying, i, i+1)
	}
}

// livesOn tells whether the process of client, which died, has others that did not.
func (f *faults) livesOn(id int32) bool {
	died := f.clients[id]
	for other, cl := range f.clients {
		if died != nil && cl.known && other != id && !cl.dead && cl.process == died.process {
			return true
		}
	}
	return false
}

// copied is op apart from the chunk that it came in, which is not to be kept for as long.
func copied(op *history.Op) *history.Op {
	if op == nil {
		return nil
	}
	kept := *op
	return &kept
}

// A death is the last word of a client, so of what was kept for the sake of what it might
// do next nothing is needed any more; in a long run clients that die are many. What it
// sent may still act on others: that is kept for all the dead together.

// crashedClients stands for all clients that died, among those of a key.
const crashedClients = math.MinInt32

// keptCrashed bounds how many clients that died are known one by one: what was affected when
// they died may still run late.
const keptCrashed = 1 << 10

// retireClient forgets what client, which just died, might have done next.
func (c *Checker) retireClient(client int32) {
	death := lockbench.Crash
	if c.faults.livesOn(client) { // or its process dies at this very moment
		death |= lockbench.ThreadDeath
	}
	for _, k := range c.keys {
		for _, times := range []*clientTimes{&k.caps, &k.unsureReleases, &k.revived, &k.silent, &k.deceived, &k.refusal.residues} {
			times.remove(client)
		}
		if n := k.pendingStale.remove(client); n > 0 {
			*k.pendingStale.at(crashedClients, 0) += n
			k.unknown.deaths |= death
		}
		if longest := k.asked.remove(client); longest > 0 {
			k.asked.raise(crashedClients, longest)
		}
		for h := range k.known() {
			h.orphan = h.orphan || h.client == client
		}
	}
	c.fair.Retire(client)
	c.faults.retireClient(client)
}

// retireClient notes that a client died, and forgets the oldest that did when they are too many.
func (f *faults) retireClient(id int32) {
	f.dead = append(f.dead, id)
	if len(f.dead) <= keptCrashed {
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
		return k.asked.get(crashedClients)
	}
	return longest, ok
}

// depart keeps the death or cut op for the cross-check, where it has something of its
// client's. It keeps a copy: operations come in chunks, of which one that is kept keeps all.
func (c *Checker) depart(op *history.Op) {
	theirs := func(other *history.Op) bool { return other.Client == op.Client }
	for _, k := range c.keys {
		if slices.ContainsFunc(k.few.ops, theirs) {
			c.departed = append(c.departed, copied(op))
			return
		}
	}
}
