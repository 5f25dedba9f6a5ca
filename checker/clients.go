package checker

import (
	"github.com/lockbench/lockbench/checker/internal/clients"
	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// departs notes that a client called op.
func (c *Checker) departs(op *history.Op) {
	cl := c.faults.clients.Get(op.Client)
	if c.faulty() && op.Key != "" {
		owner := op.Client
		if cl.Dead { // it is renewed for, in a process that lives on
			owner = pending.Crashed
		}
		c.key(op.Key).asked.Raise(owner, optime.Wanted(op))
	}
	cl.Departs(op)
}

// A death is the last word of a client, so of what was kept for the sake of what it might
// do next nothing is needed any more; in a long run clients that die are many. What it
// sent may still act on others: that is kept for all the dead together.

// retireClient forgets what client, which just died, might have done next.
func (c *Checker) retireClient(client int32) {
	death := c.mayHaveDied(client)
	for _, k := range c.keys {
		for _, times := range []*clients.Values{&k.caps, &k.unsureReleases, &k.revived, &k.silent, &k.deceived, &k.refusal.Residues} {
			times.Remove(client)
		}
		if k.stale.Retire(client) {
			k.unknown.deaths |= death
		}
		if longest := k.asked.Remove(client); longest > 0 {
			k.asked.Raise(pending.Crashed, longest)
		}
		for h := range k.known() {
			h.orphan = h.orphan || h.client == client
		}
	}
	c.fair.Retire(client)
	c.faults.clients.Retire(client)
}

// longestAsked is the longest lease that client may have asked k for.
func (c *Checker) longestAsked(k *key, client int32) (longest int64, ok bool) {
	if longest, ok = k.asked.Get(client); !ok && client >= 0 && c.faults.clients.Gone(client) {
		return k.asked.Get(pending.Crashed)
	}
	return longest, ok
}

// depart keeps the death or cut op for the cross-check, where it has something of its
// client's. It keeps a copy: operations come in chunks, of which one that is kept keeps all.
func (c *Checker) depart(op *history.Op) {
	for _, k := range c.keys {
		if k.few.Has(op.Client) {
			c.departed = append(c.departed, clients.Copy(op))
			return
		}
	}
}
