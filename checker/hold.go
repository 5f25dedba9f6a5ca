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
	touched
	loss
	interference
	pending.Use // of the guarded record
}

// ownership has the owner of a hold and its operations. The first of ops is the acquire that
// began it.
type ownership struct {
	id, was         int64 // was: its id before a later hold took that over
	number          int64 // among the holds of the key, in the order in which they began
	client, process int32
	// ops are the operations that a counterexample shows: the first ones and the last.
	ops   []*history.Op
	space [2]*history.Op // of ops, to spare its allocation: most holds have no more
}

// touched has the effects of conditions on a hold. straddles implies that forgotten was set once.
type touched struct {
	// under are the conditions that have touched it, see conditions.go. Bits are only added,
	// except that a new grant of the same hold clears some.
	under lockbench.Conditions
	// renewing are the conditions that have touched its renewals, and so only its owner's work
	// past validity.
	renewing lockbench.Conditions
	// forgotten: the server may have forgotten it since; straddles: before the acquire returned.
	forgotten, straddles bool
	orphan               bool // its owner died, even if it had given it up before
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
	// keptOut is the call, in ns, of the newest acquire that was refused within the must-hold
	// interval: nothing that had acted by then had freed the key.
	keptOut      int64
	staleCounted bool // the violation by staleOp was counted
	staleBeside  bool // a stale call was under way at the grant: their order is not known
	// letIn: a past owner's call may have let it in, beside the previous owner. besideLetIn: a
	// release of such a hold was under way at the grant.
	letIn, besideLetIn bool
	kept               bool // no longer open, but remembered
	unaware            bool // Lost() closed while the owner stood still, which has not read it yet
	told               bool // its owner knows that it is lost
	breach             bool // its own grant is a breach, and was counted
}

// newHold makes the hold that acquire op begins.
func (c *Checker) newHold(op *history.Op) *hold {
	var h *hold
	if c.brief { // it is used again; else all of a long history would be kept
		h = c.spare.holds.Get()
	} else {
		h = &hold{}
	}
	h.id, h.client, h.process = op.Hold, op.Client, op.Process
	if h.ops == nil {
		h.ops = h.space[:0]
	}
	h.ops = append(h.ops, op)
	h.supersededAt, h.intrusion = interval.Forever, interval.Forever
	h.Begin(op, c.rules)
	c.shows(sessions, interval.MayLackLease(op))
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
	if h.unaware {
		h.unaware, h.Knew = false, interval.Earlier(h.Knew, s)
	}
}

// follows reports whether h was certainly granted after a. Granted before a, it would still have
// been held, and not forgotten, when a was granted.
func (h *hold) follows(a *hold) bool { return !h.straddles && h.Follows(&a.Grant) }

// anew applies that h may have been granted once more, by s at the latest: an earlier loss of it
// is over.
func (h *hold) anew(s interval.Stamp) {
	h.Newest, h.supersededAt, h.supersededBy = s, interval.Forever, nil
}
