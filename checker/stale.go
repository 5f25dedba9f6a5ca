package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/optime"
)

// keptStale bounds how many stale calls a key remembers one by one. They matter to the grants
// that they overlap.
const keptStale = 16

// sent remembers a release or extend that may take effect when its owner's lease
// is over: whoever is granted the key while it is under way may lose it to that.
func (k *key) sent(h *hold, op *history.Op) {
	inTime := !h.Released && h.supersededBy == nil && op.Outcome == history.OK && op.Return < h.Until
	if !inTime {
		k.sentStale(op, h)
	}
}

// sentByForgotten remembers a release or extend under a hold that is not remembered any more.
func (k *key) sentByForgotten(op *history.Op) {
	if k.forgetsHolds && op.Hold != 0 {
		k.sentStale(op, nil)
	}
}

// sentStale remembers a release or extend under h, nil if that is not known, that may take
// effect on what others hold.
func (k *key) sentStale(op *history.Op, h *hold) {
	if op.Outcome == history.LossReported || op.Outcome == history.Failed {
		return
	}
	if op.Outcome == history.Unknown {
		n, _ := k.pendingStale.Get(op.Client)
		k.pendingStale.Set(op.Client, n+1)
		return
	}
	k.staleUntil(op, h, optime.Return(op))
}

// A staleCall is a release or extend that may take effect until then on what others hold.
type staleCall struct {
	client int32
	until  optime.Stamp
	under  lockbench.Conditions // what touched its sender's hold, and that it had outlived it
}

// staleUntil remembers op, sent under h, nil if that is not known.
func (k *key) staleUntil(op *history.Op, h *hold, until optime.Stamp) {
	under := lockbench.Outlived
	switch {
	case op.Kind != history.Release && op.Outcome == history.OK: // it prolonged a lease, which was not past
		under = 0
	case h != nil:
		under = h.under | h.outlivedAt(until)
	}
	if len(k.stale) == keptStale {
		k.staleForgotten = optime.Later(k.staleForgotten, k.stale[0].until)
		k.stale = slices.Delete(k.stale, 0, 1)
	}
	k.stale = append(k.stale, staleCall{op.Client, until, under})
}

// staleActed applies that op, which was affected by a fault, has acted by end.
func (c *Checker) staleActed(k *key, op *history.Op, end optime.Stamp) {
	if op.Outcome != history.Unknown || op.Kind != history.Release && op.Kind != history.Extend {
		return
	}
	sender, counted := op.Client, k.find(op.Hold) != nil
	if n, _ := k.pendingStale.Get(sender); n == 0 && counted && c.faults.clients.Gone(sender) { // see retireClient
		sender = crashedClients
	}
	if n, _ := k.pendingStale.Get(sender); n > 0 {
		k.pendingStale.Set(sender, n-1)
		k.staleUntil(op, k.find(op.Hold), end)
	}
}

// grantedBesideStale tells whether a stale call of another client was under way at some time of
// the attempt by which h was granted: which of the two took effect first is not known. It
// notes the conditions of such calls on h.
func (k *key) grantedBesideStale(h *hold) bool {
	if n, _ := k.pendingStale.Get(crashedClients); n > 0 {
		h.under |= k.unknown.deaths
	}
	from := optime.Later(h.Began(), optime.Call(h.ops[0]))
	beside := k.staleForgotten.T >= 0 && !k.staleForgotten.Before(from)
	for _, p := range k.pendingStale {
		beside = beside || p.Client != h.client && p.N > 0
	}
	for _, s := range k.stale {
		if s.client != h.client && !s.until.Before(from) {
			h.under |= s.under
			beside = true
		}
	}
	return beside
}
