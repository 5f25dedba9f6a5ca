package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// A hold is one grant of a key to one owner, with its relations to other holds: the next owner,
// calls of past owners, and the conditions that touched it. The embedded Grant has its duration,
// which follows from the operations of the owner alone.
type hold struct {
	ownership
	interval.Grant
	conditionState
	loss
	interference
	pending.Use // of the guarded state
}

// ownership has the owner of a hold and its operations. The first of ops is the acquire that began
// the hold.
type ownership struct {
	id, previousID  int64 // previousID: the id before a later hold took it over
	number          int64 // its place among the holds of the key, in the order in which they began
	client, process int32
	// ops are the operations that a counterexample shows: the first ones and the last.
	ops       []*history.Op
	opsBuffer [2]*history.Op // memory of ops, to spare an allocation: most holds have no more
}

// conditionState has the effects of conditions on a hold.
type conditionState struct {
	// under has the conditions that have touched it, see conditions.go. Bits are only added, except
	// that a new grant of the same hold clears some.
	under lockbench.Conditions
	// renewing has the conditions that have touched its renewals, and so only touch its owner's
	// work past validity.
	renewing lockbench.Conditions
	// forgotten: the server may have forgotten it. forgottenInAcquire: the same, before the acquire
	// returned; it implies that forgotten was set once.
	forgotten, forgottenInAcquire bool
	ownerDied                     bool // even if it had released the hold before
}

// loss has the holds of other clients that were granted after, or overlap, this one.
type loss struct {
	supersededAt interval.Stamp // return of the first later grant to another client
	supersededBy *hold
	intruder     *hold // the first hold granted to another client past validity, while this owner worked on
	intrusion    interval.Stamp
	rivals       []*hold // their must-hold intervals overlap this hold's
}

// interference has the calls of past owners that may have acted on a hold, and the evidence against
// that. There is a pastOwner if and only if there is a staleOp.
type interference struct {
	staleOp   *history.Op // the first stale call in the must-hold interval
	pastOwner *hold       // the hold under which staleOp was called
	// lastRefusal is the call, in ns, of the newest acquire that was refused within the must-hold
	// interval. No operation that had acted by then had freed the key.
	lastRefusal     int64
	staleCounted    bool // the violation by staleOp was counted
	staleConcurrent bool // a stale call was under way at the grant, so their order is unknown
	// admittedByStale: it may share the key with the previous owner, because of a past owner's
	// call. concurrentSharedRelease: a release of such a hold was under way at the grant.
	admittedByStale, concurrentSharedRelease bool
	// inherited has the conditions of those releases.
	inherited     lockbench.Conditions
	retired       bool // no longer open, but remembered
	lossUnread    bool // Lost() closed while the owner was paused, which has not read it yet
	knowsLoss     bool // its owner was told that it is lost
	breachCounted bool // its own grant is a breach, and was counted
}

// newHold returns the hold that acquire op begins.
func (c *Checker) newHold(op *history.Op) *hold {
	var h *hold
	if c.verdictsOnly { // only here, since a pool keeps all holds of the history
		h = c.pools.holds.Get()
	} else {
		h = &hold{}
	}
	h.id, h.client, h.process = op.Hold, op.Client, op.Process
	if h.ops == nil {
		h.ops = h.opsBuffer[:0]
	}
	h.ops = append(h.ops, op)
	h.supersededAt, h.intrusion = interval.Forever, interval.Forever
	h.Begin(op, c.rules)
	if c.gone != nil {
		h.Trace()
	}
	c.noteAbility(sessions, interval.MayLackLease(op))
	return h
}

// note adds op to the operations of the counterexample, once.
func (h *hold) note(op *history.Op) {
	const kept = 8
	if slices.Contains(h.ops, op) {
		return
	}
	if len(h.ops) == kept {
		h.ops = slices.Delete(h.ops, 1, 2)
	}
	h.ops = append(h.ops, op)
}

// awake applies that the owner, which was paused, goes on at s and reads the answers it got.
func (h *hold) awake(s interval.Stamp) {
	if h.lossUnread {
		h.lossUnread, h.LastWork = false, interval.Earlier(h.LastWork, s)
	}
}

// follows reports whether h was certainly granted after a: if h had been granted first, the server
// would still have held and not forgotten it when it granted a.
func (h *hold) follows(a *hold) bool { return !h.forgottenInAcquire && h.Follows(&a.Grant) }

// anew applies that h may have been granted once more, at s at the latest. An earlier loss is over.
func (h *hold) anew(s interval.Stamp) {
	h.Newest, h.supersededAt, h.supersededBy = s, interval.Forever, nil
}
