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
		if cl.Dead { // it is renewed for, in a process that lives on
			owner = pending.Crashed
		}
		c.key(op.Key).asked.Raise(owner, interval.LongestAsked(op))
	}
	cl.Called(op)
}

// After its death a client calls nothing, so the state for its next operations is dropped: many
// clients die in a long run. Its calls may still act on others: these are kept for all dead
// clients together.

// retireClient drops the state for the next operations of client, which just died.
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

// longestAsked is the longest lease that client may have asked k for.
func (c *Checker) longestAsked(k *key, client int32) (longest int64, ok bool) {
	if longest, ok = k.asked.Get(client); !ok && client >= 0 && c.faults.clients.Gone(client) {
		return k.asked.Get(pending.Crashed)
	}
	return longest, ok
}

// keepClientEnd keeps a death or cut for the cross-check, if that has operations of the client. It keeps a
// copy, since one operation that is kept keeps its whole chunk in memory.
func (c *Checker) keepClientEnd(op *history.Op) {
	for _, k := range c.keys {
		if k.operations.Has(op.Client) {
			c.clientEnds = append(c.clientEnds, pending.Copy(op))
			return
		}
	}
}
