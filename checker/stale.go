package checker

import (
	"math"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// noteCall notes op, a release or extend of h. If it may take effect after the lease of h, a client
// that is granted the key meanwhile may lose it by op.
func (k *key) noteCall(h *hold, op *history.Op) {
	inTime := !h.Released && h.supersededBy == nil && op.Outcome == history.OK && op.Return < h.Until
	if !inTime {
		k.noteStaleCall(op, h)
	} else if h.shared() && op.Kind == history.Release {
		k.sharedReleases.Sent(op.Client, throughout(op.Return), h.sharedUnder())
	}
}

// shared reports whether h may share the key with another hold because of a past owner's call.
func (h *hold) shared() bool {
	return h.admittedByStale || h.concurrentSharedRelease || h.staleOp != nil || h.staleConcurrent
}

// sharedUnder returns the conditions that touch the effect of the release of h on other holds, if h
// was seen to share the key, or a past owner's call met it.
func (h *hold) sharedUnder() (under lockbench.Conditions) {
	under = h.inherited
	if h.admittedByStale {
		under |= h.under &^ pending.Died
	}
	if h.staleOp != nil {
		under |= staleUnder(h.staleOp, h.pastOwner, interval.Call(h.staleOp))
	}
	return under
}

// lateRelease applies the call of release op of h, past the validity of h or while another hold may
// share the key. A hold that was granted concurrently with h may be ended by op.
func (k *key) lateRelease(h *hold, op *history.Op) {
	if op.Kind != history.Release || h.outlivedAt(interval.Call(op)) == 0 && !h.shared() {
		return
	}
	for other := range k.others(h.client) {
		if interval.Call(h.First).Before(other.Granted) && interval.Call(other.First).Before(h.Granted) {
			other.concurrentSharedRelease = true
			other.under |= h.sharedUnder()
		}
	}
}

// metSharedRelease reports whether a release of a hold that may have shared the key was under way
// during the attempt that was granted h. That release, or the release of the other sharing owner,
// may have freed the key for h, or taken it from h. It adds the conditions of such releases to h.
func (k *key) metSharedRelease(h *hold) bool {
	under, met := k.sharedReleases.Concurrent(h.client, h.Began())
	h.under |= under
	h.inherited |= under
	return met
}

// throughout returns the stamp after all events at t, in ns.
func throughout(t int64) interval.Stamp { return interval.Stamp{T: t, Seq: math.MaxUint64} }

// noteCallOfForgotten notes a release or extend of a hold that the checker has forgotten.
func (k *key) noteCallOfForgotten(op *history.Op) {
	if k.forgetsHolds && op.Hold != 0 {
		k.noteStaleCall(op, nil)
	}
}

// noteStaleCall notes a release or extend of h, nil if that is unknown, that may take effect on the
// holds of other clients.
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

// noteConcurrentReleases applies the call of release op past its owner's lease. Op may free the key
// for another client, and another release, already under way, may then free the hold of that
// client.
func (k *key) noteConcurrentReleases(op *history.Op) {
	for other := range k.allHolds() {
		if r := other.ReleasedBy; r != nil && other.client != op.Client && r.Return >= op.Call {
			k.sharedReleases.Sent(other.client, throughout(r.Return), other.sharedUnder())
		}
	}
}

// staleUnder returns the conditions that touch the effect of op, which may act until the given
// stamp. h is the hold of op, nil if that is unknown.
func staleUnder(op *history.Op, h *hold, until interval.Stamp) lockbench.Conditions {
	switch {
	case op.Kind != history.Release && op.Outcome == history.OK: // it prolonged a lease, so that lease was not over
		return 0
	case h == nil:
		return lockbench.Outlived
	}
	return h.under&^pending.Died | h.outlivedAt(until)
}

// staleActed applies that op, which a fault affected, acts no later than end.
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

// metStaleCall reports whether a stale call of another client was under way during the attempt that
// was granted h, so that the order of the two is unknown. It adds the conditions of such calls to
// h.
func (k *key) metStaleCall(h *hold) bool {
	if k.stale.Pending(pending.Crashed) {
		h.under |= k.unknown.deaths
	}
	under, concurrent := k.stale.Concurrent(h.client, interval.Later(h.Began(), interval.Call(h.First)))
	h.under |= under
	return concurrent
}
