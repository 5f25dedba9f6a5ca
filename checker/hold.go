package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/checker/internal/overwrites"
	"github.com/lockbench/lockbench/history"
)

// A hold is one grant of a key to one owner, with what concerns others: who was granted the
// key after it, what past owners did to it, and what touched it. How long it lasts, its owner's
// operations show.
type hold struct {
	ownership
	interval.Grant
	touched
	loss
	interference
	overwrites.Use // of the guarded record
}

// ownership is whose a hold is, and what was done with it. The first of ops is the acquire
// that began it.
type ownership struct {
	id, was         int64 // was: before another hold came to go by its id
	number          int64 // among the holds of the key, in the order in which they began
	client, process int32
	// ops are the operations that a counterexample shows: the first ones and the last.
	ops   []*history.Op
	space [2]*history.Op // of ops, to spare its allocation: most holds have no more
}

// touched is what conditions did to a hold. straddles implies that forgotten was set once.
type touched struct {
	// under is what has touched it so far, see conditions.go. Bits are only added, but for
	// those that a new grant of the same hold clears.
	under lockbench.Conditions
	// renewing is what has touched its renewals, and so only what its owner does past validity.
	renewing lockbench.Conditions
	// forgotten: the server may have forgotten it since; straddles: before the acquire returned.
	forgotten, straddles bool
	orphan               bool // its owner died, even if it had given it up before
}

// loss is the client that was granted the key after a hold.
type loss struct {
	supersededAt optime.Stamp // return of the first later grant to another owner
	supersededBy *hold
	intruder     *hold // the first that got in past validity, while this one worked
	intrusion    optime.Stamp
	rivals       []*hold // whose must-hold intervals overlap this one's
}

// interference is what past owners sent that may have acted on a hold, and what speaks
// against it, and what its owner and the checker know of it. There is a pastOwner if and only
// if there is a staleOp.
type interference struct {
	staleOp   *history.Op // the first that fell into the must-hold interval
	pastOwner *hold       // whose it was
	// keptOut is the call, in ns, of the newest acquire that was refused within the must-hold
	// interval: nothing that had acted by then had freed the key.
	keptOut      int64
	staleCounted bool // what came of staleOp was counted
	staleBeside  bool // one was under way when this was granted: which came first is not known
	// letIn: what a past owner had sent may have let it in, beside the owner of before. besideLetIn: a
	// release of such a hold was under way when this was granted.
	letIn, besideLetIn bool
	kept               bool // it is not among the open ones any more, but remembered
	unaware            bool // Lost() closed while the owner stood still: it has not looked yet
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
	h.supersededAt, h.intrusion = optime.Forever, optime.Forever
	h.Begin(op, c.rules)
	c.showsSession(op)
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

// awake applies that the owner, who stood still, goes on at s: now it sees what it was
// told meanwhile.
func (h *hold) awake(s optime.Stamp) {
	if h.unaware {
		h.unaware, h.Knew = false, optime.Earlier(h.Knew, s)
	}
}

// follows reports whether h was granted after a for certain, which had neither been released
// nor been over, nor forgotten, had it been before.
func (h *hold) follows(a *hold) bool { return !h.straddles && h.Follows(&a.Grant) }

// anew notes that h may have been granted once more, by s at the latest: what its
// owner had lost before is past.
func (h *hold) anew(s optime.Stamp) {
	h.Newest, h.supersededAt, h.supersededBy = s, optime.Forever, nil
}
