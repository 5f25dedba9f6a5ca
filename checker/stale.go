package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// noteCall keeps op, a release or extend of h that may take effect after the lease of h: another client
// that is granted the key during op may lose it by op.
func (k *key) noteCall(h *hold, op *history.Op) {
	inTime := !h.Released && h.supersededBy == nil && op.Outcome == history.OK && op.Return < h.Until
	if !inTime {
		k.noteStaleCall(op, h)
	} else if h.shared() && op.Kind == history.Release {
		k.sharedReleases.Raise(op.Client, op.Return)
	}
}

// shared reports whether h may share the key with another hold because of a past owner's call.
func (h *hold) shared() bool {
	return h.admittedByStale || h.concurrentSharedRelease || h.staleOp != nil || h.staleConcurrent
}

// lateRelease applies the call of release op of h, past its validity or while another hold may share
// the key. A hold that was granted at the same time as h, in an unknown order, may end by op.
func (k *key) lateRelease(h *hold, op *history.Op) {
	if op.Kind != history.Release || h.outlivedAt(interval.Call(op)) == 0 && !h.shared() {
		return
	}
	for other := range k.others(h.client) {
		if interval.Call(h.First).Before(other.Granted) && interval.Call(other.First).Before(h.Granted) {
			other.concurrentSharedRelease = true
		}
	}
}

// metSharedRelease reports whether the release of a hold that may have shared the key was under way
// during the attempt by which h was granted. Of two owners, either's release may have let h in, or
// freed it.
func (k *key) metSharedRelease(h *hold) bool {
	return k.sharedReleases.OfOthers(h.client) >= h.Began().T
}

// noteCallOfForgotten keeps a release or extend under a hold that has been forgotten.
func (k *key) noteCallOfForgotten(op *history.Op) {
	if k.forgetsHolds && op.Hold != 0 {
		k.noteStaleCall(op, nil)
	}
}

// noteStaleCall keeps a release or extend under h, which is nil if it is not known, that may take effect
// on the holds of others.
func (k *key) noteStaleCall(op *history.Op, h *hold) {
	if op.Outcome == history.LossReported || op.Outcome == history.Failed {
		return
	}
	if op.Outcome == history.Unknown {
		k.stale.SentUnknown(op.Client, staleUnder(op, h, interval.Call(op))&^lockbench.Outlived)
		return
	}
	k.stale.Sent(op.Client, interval.Return(op), staleUnder(op, h, interval.Return(op)))
	if op.Kind == history.Release {
		k.noteConcurrentReleases(op)
	}
}

// noteConcurrentReleases applies the call of release op, past its owner's lease: it may let a client in,
// whose hold another release, under way by now, then frees.
func (k *key) noteConcurrentReleases(op *history.Op) {
	for other := range k.allHolds() {
		if r := other.ReleasedBy; r != nil && other.client != op.Client && r.Return >= op.Call {
			k.sharedReleases.Raise(other.client, r.Return)
		}
	}
}

// staleUnder returns the conditions that touch the effect of op, which may last until the given
// stamp; op was called under h, which is nil if it is not known.
func staleUnder(op *history.Op, h *hold, until interval.Stamp) lockbench.Conditions {
	switch {
	case op.Kind != history.Release && op.Outcome == history.OK: // it prolonged a lease, which was not past
		return 0
	case h == nil:
		return lockbench.Outlived
	}
	return h.under&^pending.Died | h.outlivedAt(until)
}

// staleActed applies that op, which a fault affected, has acted by end.
func (c *Checker) staleActed(k *key, op *history.Op, end interval.Stamp) {
	if op.Outcome != history.Unknown || op.Kind != history.Release && op.Kind != history.Extend {
		return
	}
	sender, h := op.Client, k.find(op.Hold)
	if !k.stale.Pending(sender) && h != nil && c.faults.clients.Gone(sender) { // see retireClient
		sender = pending.Crashed
	}
	if k.stale.Pending(sender) {
		k.stale.Acted(sender)
		under := staleUnder(op, h, end)
		if h != nil && h.under&pending.Died != 0 {
			under |= c.mayHaveDied(h.client)
		}
		k.stale.Sent(op.Client, end, under)
	}
}

// metStaleCall reports whether a stale call of another client was under way during the attempt
// by which h was granted: their order is not known. It adds the conditions of such calls to h.
func (k *key) metStaleCall(h *hold) bool {
	if k.stale.Pending(pending.Crashed) {
		h.under |= k.unknown.deaths
	}
	under, beside := k.stale.Concurrent(h.client, interval.Later(h.Began(), interval.Call(h.First)))
	h.under |= under
	return beside
}
