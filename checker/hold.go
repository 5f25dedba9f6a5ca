package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// A hold is one grant of a key to one owner, with its relations to others: the next owner, calls
// of past owners, and the conditions that touched it. Its duration follows from its owner's
// operations alone.
type hold struct {
	ownership
	interval.Grant
	conditionState
	loss
	interference
	pending.Use // of the guarded record
}

// ownership has the owner of a hold and its operations. The first of ops is the acquire that
// began it.
type ownership struct {
	id, previousID  int64 // was: its id before a later hold took that over
	number          int64 // among the holds of the key, in the order in which they began
	client, process int32
	// ops are the operations that a counterexample shows: the first ones and the last.
	ops       []*history.Op
	opsBuffer [2]*history.Op // of ops, to spare its allocation: most holds have no more
}

// conditionState has the effects of conditions on a hold. straddles implies that forgotten was set once.
type conditionState struct {
	// under are the conditions that have touched it, see conditions.go. Bits are only added,
	// except that a new grant of the same hold clears some.
	under lockbench.Conditions
	// renewing are the conditions that have touched its renewals, and so only its owner's work
	// past validity.
	renewing lockbench.Conditions
	// forgotten: the server may have forgotten it since; straddles: before the acquire returned.
	forgotten, forgottenInAcquire bool
	ownerDied                     bool // its owner died, even if it had given it up before
}

// loss has the hold of another client that was granted the key after this one.
type loss struct {
	supersededAt interval.Stamp // return of the first later grant to another owner
	supersededBy *hold
	intruder     *hold // the first that got in past validity, while this one worked
	intrusion    interval.Stamp
	rivals       []*hold // whose must-hold intervals overlap this one's
}

// interference has the calls of past owners that may have acted on a hold, the evidence against
// that, and the knowledge of its owner and of the checker. There is a pastOwner if and only if
// there is a staleOp.
type interference struct {
	staleOp   *history.Op // the first that fell into the must-hold interval
	pastOwner *hold       // the hold under which staleOp was called
	// lastRefusal is the call, in ns, of the newest acquire that was refused within the must-hold
	// interval: nothing that had acted by then had freed the key.
	lastRefusal     int64
	staleCounted    bool // the violation by staleOp was counted
	staleConcurrent bool // a stale call was under way at the grant: their order is not known
	// admittedByStale: a past owner's call may have let it in, beside the previous owner. concurrentSharedRelease: a
	// release of such a hold was under way at the grant.
	admittedByStale, concurrentSharedRelease bool
	retired                                  bool // no longer open, but remembered
	lossUnread                               bool // Lost() closed while the owner stood still, which has not read it yet
	knowsLoss                                bool // its owner knows that it is lost
	breachCounted                            bool // its own grant is a breach, and was counted
}

// newHold makes the hold that acquire op begins.
func (c *Checker) newHold(op *history.Op) *hold {
	var h *hold
	if c.brief { // it is used again; else all of a long history would be kept
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
	c.noteAbility(sessions, interval.MayLackLease(op))
	return h
}

// note keeps op for the counterexample, once.
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

// awake applies that the owner, which stood still, goes on at s and reads its answers.
func (h *hold) awake(s interval.Stamp) {
	if h.lossUnread {
		h.lossUnread, h.LastWork = false, interval.Earlier(h.LastWork, s)
	}
}

// follows reports whether h was certainly granted after a. Granted before a, it would still have
// been held, and not forgotten, when a was granted.
func (h *hold) follows(a *hold) bool { return !h.forgottenInAcquire && h.Follows(&a.Grant) }

// anew applies that h may have been granted once more, by s at the latest: an earlier loss of it
// is over.
func (h *hold) anew(s interval.Stamp) {
	h.Newest, h.supersededAt, h.supersededBy = s, interval.Forever, nil
}
