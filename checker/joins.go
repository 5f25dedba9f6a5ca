package checker

import (
	"math"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// This file is for locks with acquires that join levels that their client left on the server. Such
// a server knows owners, but no holds, so an operation on an earlier hold of a client acts on its
// later holds, too. An extend of an earlier hold may shorten the lease of a later one.

// capAcquire applies the call of acquire op. Extends and renewals under way of the client's earlier
// holds may set a shorter lease after op does.
func (c *Checker) capAcquire(k *key, op *history.Op) {
	if !c.rules.Joins() {
		return
	}
	cl := c.faults.clients.Get(op.Client)
	cl.Acquiring, cl.LeaseCap = op, math.MaxInt64
	for _, other := range cl.UnderWay {
		if h := k.find(other.Hold); h != nil && other.Key == op.Key && other.Hold != op.Hold && interval.SetsLease(other) {
			cl.LeaseCap = min(cl.LeaseCap, h.LeaseOf(other))
		}
	}
}

// capOtherHolds applies the call of op, an extend or renewal of h, to the other holds of its client
// and to the acquire that the client has under way.
func (c *Checker) capOtherHolds(k *key, h *hold, op *history.Op) {
	if !interval.SetsLease(op) {
		return
	}
	ttl := h.LeaseOf(op)
	for _, other := range k.holds {
		if other != h && other.client == op.Client {
			other.ExtendedByOther(op, ttl)
		}
	}
	if op.Outcome == history.Unknown && !c.faults.clients.Gone(op.Client) {
		k.caps.Lower(op.Client, ttl)
	}
	cl := c.faults.clients.Get(op.Client)
	if a := cl.Acquiring; a != nil && a.Key == op.Key && a.Hold != op.Hold && !interval.Return(a).Before(interval.Call(op)) {
		cl.LeaseCap = min(cl.LeaseCap, ttl)
	}
}
