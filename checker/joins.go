package checker

import (
	"math"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/optime"
)

// Where an acquire may join what its client has left on the server, the client's
// operations on an earlier hold act on what it was granted since: the server knows
// an owner, no holds. An extend sets the lease, so it may cut a later one short.

// besideAcquire applies the call of acquire op: what its client has under way on an
// earlier hold may act after it.
func (c *Checker) besideAcquire(k *key, op *history.Op) {
	if !c.rules.Joins() {
		return
	}
	cl := c.faults.client(op.Client)
	cl.acquiring, cl.beside = op, math.MaxInt64
	for _, other := range cl.flying {
		if h := k.find(other.Hold); h != nil && other.Key == op.Key && other.Hold != op.Hold && optime.Sets(other) {
			cl.beside = min(cl.beside, h.LeaseOf(other))
		}
	}
}

// besides applies the call of op, an extend or renewal of h, to what else its
// client holds or is about to be granted.
func (c *Checker) besides(k *key, h *hold, op *history.Op) {
	if !optime.Sets(op) {
		return
	}
	ttl := h.LeaseOf(op)
	for _, other := range k.holds {
		if other != h && other.client == op.Client {
			other.Beside(op, ttl)
		}
	}
	if op.Outcome == history.Unknown && !c.faults.gone(op.Client) {
		k.caps.lower(op.Client, ttl)
	}
	cl := c.faults.client(op.Client)
	if a := cl.acquiring; a != nil && a.Key == op.Key && a.Hold != op.Hold && !optime.Return(a).Before(optime.Call(op)) {
		cl.beside = min(cl.beside, ttl)
	}
}
