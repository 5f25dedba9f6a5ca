package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/optime"
)

// A hold is one grant of a key to one owner, from the acquire that began it to the release
// that ended it. Two intervals say how long it lasted: the must-hold interval, during which it
// must exclude others (docs/design/model.md proves why this is the time to look at), and the
// may-hold interval, during which the server may keep the key from others on its account.
type hold struct {
	ownership
	beginning
	mustHold
	validity
	nesting
	mayHold
	ending
	loss
	interference
	storeUse
}

// ownership is whose a hold is, and what was done with it.
type ownership struct {
	id, was         int64 // was: before another hold came to go by its id
	number          int64 // among the holds of the key, in the order in which they began
	client, process int32
	// ops are the operations that a counterexample shows: the first ones and the last.
	ops   []*history.Op
	space [2]*history.Op // of ops, to spare its allocation: most holds have no more
	// under is what has touched it so far, see conditions.go. It only grows, but for what a
	// grant anew ends.
	under lockbench.Conditions
	// renewing is what has touched its renewals, and so only what its owner does past validity.
	renewing lockbench.Conditions
	kept     bool // it is not among the open ones any more, but remembered
}

// beginning is how a hold was granted.
type beginning struct {
	granted optime.Stamp // return of the acquire
	newest  optime.Stamp // it was last granted by then: it may be granted anew past its lease
	from    int64        // start of validity, NoStamp where the grant was not answered
	// sure is when the lease that the acquire gave can end at the earliest, also
	// where nobody told when it began.
	sure int64
	// least and most are the shortest and the longest lease of its acquires: what
	// a renewal of unknown outcome, which tells no lease, may have set. least <= most.
	least, most int64
	known       bool // it is a grant: the acquire was answered ok
	anchored    bool // validity begins at from, and not later: the attempt that succeeded is known
	// forgotten: the server may have forgotten it since; straddles: before the acquire returned.
	forgotten, straddles bool
	regrant              bool // an acquire of unknown outcome may have granted it anew
}

// mustHold is the newest segment of the must-hold interval. It lies within validity, and ends
// for good with end.
type mustHold struct {
	start, end optime.Stamp
	must       bool // there is one
	renewed    bool // a renewal in the background opened it
	unasked    bool // something in the background ended it
	ended      bool // nothing more can be in it
	endedBy    cause
}

// A cause is what ended a must-hold interval.
type cause uint8

const (
	byValidity cause = iota
	byRelease
	byReacquire
	byRefusal
	byLoss
	byDeath
	byCut
)

var causeNames = [...]string{"validity", "release", "reacquired", "refused", "lost", "death", "cut"}

// validity is until when the lease lasts for sure.
type validity struct {
	// until is its end as it stands, base as it would stand without background renewals, and
	// first as the acquire left it.
	until, base, first int64
	// unsure is the shortest TTL of an extend whose outcome is unknown: it may
	// still take effect after any later one.
	unsure int64
	// flying are the extends, renewals and refreshes not returned yet.
	flying []*history.Op
	// late are the operations under way that will begin a new segment, since
	// validity may end before they take effect.
	late []lateOp
}

// nesting is how often a hold is held.
type nesting struct {
	levels           bool  // nested acquires count
	joins            bool  // what its owner does later may act on a later grant
	nested           bool  // a nested acquire was granted
	doubt            bool  // there is a release or nested acquire whose effect is unknown
	mustDepth, depth int32 // levels held, counting every release; counting those not failed
	inner            int32 // inner releases so far
	innerAt          int64 // call of the first, in ns
	innerDone        int64 // return of the last, in ns
}

// mayHold is until when the server may keep the key for a hold. It never ends before the
// must-hold interval does.
type mayHold struct {
	mayUntil int64 // the latest instant, were it not for the rest
	// pending are extends of unknown outcome under way, to be added when they return.
	pending []pendingLease
	// added is what those of unknown outcome may add to mayUntil, each at the last moment, and
	// additions how many they are.
	added     int64
	additions int32
	// relets is how many releases of earlier holds may begin its lease anew, at any time.
	relets int32
	exact  bool // mayUntil is sure: no slack for rounding and polling
	unseen bool // it may be renewed without a word
}

// ending is how a hold ended.
type ending struct {
	releasedBy *history.Op
	knew       optime.Stamp // its owner stopped working then: it gave up, was told of the loss, or died
	released   bool         // its owner gave it up, whatever came of that
	certain    bool         // the server freed it for certain
	dead       bool         // its owner died with it
	orphan     bool         // its owner died, even if it had given it up before
	unaware    bool         // Lost() closed while the owner stood still: it has not looked yet
	told       bool         // its owner knows that it is lost
}

// loss is who was granted the key after a hold.
type loss struct {
	supersededAt optime.Stamp // return of the first later grant to another owner
	supersededBy *hold
	intruder     *hold // the first that got in past validity, while this one worked
	intrusion    optime.Stamp
	rivals       []*hold // whose must-hold intervals overlap this one's
}

// interference is what past owners sent that may have acted on a hold, and what speaks
// against it.
type interference struct {
	staleOp   *history.Op // the first that fell into the must-hold interval
	pastOwner *hold       // whose it was
	// keptOut is the call, in ns, of the newest acquire that was refused within the must-hold
	// interval: nothing that had acted by then had freed the key.
	keptOut      int64
	staleCounted bool // what came of staleOp was counted
	staleBeside  bool // one was under way when this was granted: which came first is not known
	breach       bool // its own grant is a breach, and was counted
}

// storeUse is what its owner did to the guarded record.
type storeUse struct {
	seenWrites int64 // writes of the key begun when the owner last read
	lastRead   *history.Op
}

// A lateOp is an operation that will begin a segment at its return, and the TTL
// it then leaves for sure: others that overlap it may take effect after it.
type lateOp struct {
	op  *history.Op
	ttl int64
}

// newHold makes the hold that acquire op begins: at its return when it was
// answered ok, at its call when its outcome is unknown. An unknown one may still
// act as a refresh after a later one, unless nested acquires count.
func (c *Checker) newHold(op *history.Op) *hold {
	h := c.spare.hold(c.brief)
	h.id, h.client, h.process = op.Hold, op.Client, op.Process
	if h.ops == nil {
		h.ops = h.space[:0]
	}
	h.ops = append(h.ops, op)
	h.granted, h.newest, h.known = optime.Return(op), optime.Return(op), op.Outcome == history.OK
	h.from, h.anchored, h.unsure, h.mustDepth, h.depth = op.Attempt, true, math.MaxInt64, 1, 1
	h.end, h.knew, h.supersededAt, h.intrusion = optime.Forever, optime.Forever, optime.Forever, optime.Forever
	h.mayUntil, h.least, h.most = math.MaxInt64, optime.Lease(op), optime.Lease(op)
	h.levels, h.joins = c.rules.Nested, c.rules.Joins()
	if !h.known {
		h.from, h.granted, h.newest = history.NoStamp, optime.Call(op), optime.Forever
		if !c.rules.Nested {
			h.unsure = optime.Lease(op)
		}
		return h
	}
	if h.from == history.NoStamp { // at the call at the earliest: what follows from that is certain
		h.from, h.anchored = op.Call, op.Wait == 0
	}
	ttl := optime.Lease(op)
	if h.unseen = c.rules.Unseen; h.unseen { // a renewal may cut an extend short
		h.unsure = ttl
	}
	h.mayUntil = optime.After(op.Return, ttl)
	h.sure = optime.After(optime.Start(op), ttl)
	if h.from == history.NoStamp {
		return h
	}
	h.until = optime.After(h.from, ttl)
	h.base, h.first = h.until, h.until
	h.open(h.granted)
	return h
}

// leaseOf is the shortest lease that op, an operation on h, may have set.
func (h *hold) leaseOf(op *history.Op) int64 {
	if optime.Untold(op) {
		return h.least
	}
	return optime.Lease(op)
}

// began is the start of validity, with its place among what happened at that
// instant where that is known.
func (h *hold) began() optime.Stamp {
	if first := h.ops[0]; first.Kind == history.Acquire && first.Call == h.from {
		return optime.Call(first)
	}
	return optime.Stamp{T: h.from}
}

// cap bounds the lease of h, just granted, by ttl.
func (h *hold) cap(ttl int64) {
	if ttl >= h.least {
		h.unsure = min(h.unsure, ttl)
		return
	}
	h.least, h.unsure = ttl, min(h.unsure, ttl)
	h.sure = min(h.sure, optime.After(optime.Start(h.ops[0]), ttl))
	if h.from == history.NoStamp {
		return
	}
	h.until = min(h.until, optime.After(h.from, ttl))
	h.base, h.first = h.until, h.until
	h.must = h.granted.Before(optime.Stamp{T: h.until})
}

// open begins a segment of the must-hold interval at s, if validity has not ended by then.
func (h *hold) open(s optime.Stamp) bool {
	if h.end.Before(s) || !s.Before(optime.Stamp{T: h.until}) {
		return false
	}
	h.must, h.start = true, s
	return true
}

// mustEnd is where the newest segment ends, as far as is known.
func (h *hold) mustEnd() optime.Stamp { return optime.Earlier(h.end, optime.Stamp{T: h.until}) }

// hollow tells whether the newest segment is empty: it ended at the very instant
// at which it began, and one of the two was not the owner's own doing, so that
// they have no known order.
func (h *hold) hollow() bool {
	return (h.renewed || h.unasked) && !h.start.Before(h.mustEnd())
}

// awake applies that the owner, who stood still, goes on at s: now it sees what it was
// told meanwhile.
func (h *hold) awake(s optime.Stamp) {
	if h.unaware {
		h.unaware, h.knew = false, optime.Earlier(h.knew, s)
	}
}

// mustHoldAt tells whether the must-hold interval has begun at s or before and lasts beyond s.
func (h *hold) mustHoldAt(s optime.Stamp) bool {
	return h.must && !s.Before(h.start) && s.Before(h.mustEnd())
}

// close ends the must-hold interval at s for the reason by; only the first time counts. own
// tells that the owner did it, in a known order with its other calls.
func (h *hold) close(s optime.Stamp, by cause, own bool) {
	h.knew = optime.Earlier(h.knew, s)
	h.over(s, by, own)
}

// over ends the must-hold interval as close does, but of that its owner knows nothing.
func (h *hold) over(s optime.Stamp, by cause, own bool) {
	if !h.ended {
		h.ended, h.end, h.endedBy = true, s, by
	}
	h.unasked = h.unasked || !own && s == h.end
}

// validAt tells whether the lease granted is not over at s: whatever the owner
// was told meanwhile, only its own release gives the key to others earlier.
func (h *hold) validAt(s optime.Stamp) bool {
	return h.known && h.from != history.NoStamp && !h.released && s.Before(optime.Stamp{T: h.until})
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

// extend applies the call of an extend, or of a renewal in the background.
func (h *hold) extend(op *history.Op) {
	if h.ended { // its must-hold interval is over, but not what its lease keeps out
		switch op.Outcome {
		case history.OK:
			h.setUntil(op, min(h.until, optime.After(op.Call, h.shortest(optime.Lease(op)))))
			h.flying = append(h.flying, op)
		case history.Unknown:
			h.shorten(op)
		}
		return
	}
	switch op.Outcome {
	case history.OK:
		ttl := h.shortest(optime.Lease(op))
		h.crowd(op)
		switch {
		case op.Call >= h.until || !h.must:
			h.late = append(h.late, lateOp{op, ttl})
		case h.joins && (op.Kind == history.Renew || h.regrant) && op.Return >= h.until:
			// It may have acted on what its owner was granted since, after a gap.
			h.late = append(h.late, lateOp{op, ttl})
			h.setUntil(op, min(h.until, optime.After(op.Call, ttl)))
		default:
			h.setUntil(op, optime.After(op.Call, ttl))
		}
		h.flying = append(h.flying, op)
	case history.Unknown:
		h.shorten(op)
	}
}

// shorten applies the call of an operation that may or may not, now or later,
// set the time left to its own lease.
func (h *hold) shorten(op *history.Op) {
	ttl := h.leaseOf(op)
	h.unsure = min(h.unsure, ttl)
	h.setUntil(op, min(h.until, optime.After(op.Call, ttl)))
}

// shortest is the TTL that an extend of ttl certainly leaves: one that is still
// under way, or whose outcome is unknown, may take effect after it.
func (h *hold) shortest(ttl int64) int64 {
	ttl = min(ttl, h.unsure)
	for _, other := range h.flying {
		ttl = min(ttl, optime.Lease(other))
	}
	return ttl
}

// crowd tells the operations that will reopen the must-hold interval that op overlaps them.
func (h *hold) crowd(op *history.Op) {
	for i := range h.late {
		h.late[i].ttl = min(h.late[i].ttl, optime.Lease(op))
	}
}

func (h *hold) setUntil(op *history.Op, until int64) {
	h.until = until
	if op.Kind != history.Renew {
		h.base = until
	}
}

// again applies the call of a second acquire, answered ok, by the owner: counted
// when nested, otherwise a refresh. Only its return shows whether it came in
// time: until then the lease may have ended and the server granted it anew.
func (h *hold) again(op *history.Op, nested bool) {
	ttl := h.shortest(optime.Lease(op))
	until := optime.After(optime.Start(op), ttl)
	retried := !nested && op.Attempts > 1 // an attempt without an answer may have acted before
	if retried {
		until = optime.After(op.Call, ttl)
	}
	if h.ended {
		if !nested {
			h.setUntil(op, min(h.until, until))
		}
		return
	}
	if !nested {
		h.crowd(op)
		h.flying = append(h.flying, op)
	}
	switch {
	case !h.must || op.Return >= h.until || retried:
		h.late = append(h.late, lateOp{op, ttl})
		if !nested { // a refresh may also have shortened what was left
			h.setUntil(op, min(h.until, until))
		}
	case nested:
		h.mustDepth++
		h.depth++
		h.nested = true
		h.setUntil(op, max(h.until, until))
	default:
		h.setUntil(op, until)
	}
}

// landed applies the return of an extend, renewal or second acquire answered ok,
// and tells whether a new segment of the must-hold interval begins there.
func (h *hold) landed(op *history.Op) (reopens bool) {
	if len(h.flying)+len(h.late) == 0 {
		return false
	}
	h.flying = slices.DeleteFunc(h.flying, func(o *history.Op) bool { return o == op })
	i := slices.IndexFunc(h.late, func(l lateOp) bool { return l.op == op })
	if i < 0 {
		return false
	}
	ttl := min(h.late[i].ttl, h.unsure)
	h.late = slices.Delete(h.late, i, i+1)
	if op.Kind == history.Acquire || h.levels && h.regrant { // it may be a fresh grant: one level is sure
		h.mustDepth, h.depth, h.doubt = 1, 1, true
	}
	return h.reopen(op, ttl)
}

func (h *hold) reopen(op *history.Op, ttl int64) bool {
	from := op.Call
	if op.Kind == history.Acquire {
		from = optime.Start(op)
	}
	until := optime.After(from, ttl)
	if h.end.Before(optime.Return(op)) || op.Return >= until {
		return false
	}
	if h.must && op.Return < h.until {
		// One that overlaps it, called later or landed sooner, has opened the must-hold interval
		// already. Both bounds are sound, so the later one counts.
		h.setUntil(op, max(h.until, until))
		h.renewed = h.renewed && (op.Kind == history.Renew || h.start.Before(optime.Return(op)))
		return false
	}
	h.from, h.renewed = from, op.Kind == history.Renew
	h.setUntil(op, until)
	return h.open(optime.Return(op))
}

// follows tells whether h was granted after a for certain: had it been before,
// it would have been neither released nor over when a was granted, nor forgotten.
func (h *hold) follows(a *hold) bool {
	return !h.straddles && a.newest.Before(h.granted) && h.sure > a.newest.T
}

// anew notes that h may have been granted once more, by s at the latest: what its
// owner had lost before is past.
func (h *hold) anew(s optime.Stamp) {
	h.newest, h.supersededAt, h.supersededBy = s, optime.Forever, nil
}
