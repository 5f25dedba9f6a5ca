package checker

import (
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// clientCalled applies the call of op to its client.
func (c *Checker) clientCalled(op *history.Op) {
	cl := c.faults.clients.Get(op.Client)
	if c.faulty() && op.Key != "" {
		owner := op.Client
		if cl.Dead { // its process lives on, and renews for it
			owner = pending.Crashed
		}
		c.key(op.Key).asked.Raise(owner, interval.LongestAsked(op))
	}
	cl.Called(op)
}

// retireClient drops the state for later operations of client, which just died: many clients die in
// a long run. The calls of a dead client may still affect others, so these are kept for all dead
// clients together.
func (c *Checker) retireClient(client int32) {
	death := c.mayHaveDied(client)
	for _, k := range c.keys {
		for _, times := range []*pending.Values{&k.caps, &k.unsureReleases, &k.revived, &k.unknownAcquires, &k.faultedAcquires, &k.refusal.LeftLevels} {
			times.Remove(client)
		}
		if k.stale.Retire(client) {
			k.unknown.deaths |= death
		}
		if longest := k.asked.Remove(client); longest > 0 {
			k.asked.Raise(pending.Crashed, longest)
		}
		for h := range k.allHolds() {
			h.ownerDied = h.ownerDied || h.client == client
		}
	}
	c.fair.Retire(client)
	c.faults.clients.Retire(client)
}

// longestAsked returns the longest lease, in ns, that client may have asked k for.
func (c *Checker) longestAsked(k *key, client int32) (longest int64, ok bool) {
	if longest, ok = k.asked.Get(client); !ok && client >= 0 && c.faults.clients.Gone(client) {
		return k.asked.Get(pending.Crashed)
	}
	return longest, ok
}

// keepClientEnd keeps a death or cut for the cross-check, if that has operations of the client. It
// keeps a copy: the operation itself would keep its whole chunk in memory.
func (c *Checker) keepClientEnd(op *history.Op) {
	for _, k := range c.keys {
		if k.operations.Has(op.Client) {
			c.clientEnds = append(c.clientEnds, pending.Copy(op))
			return
		}
	}
}
