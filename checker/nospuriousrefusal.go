package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// The monitor of no-spurious-refusal judges that an acquire of a provably free key is granted. If a
// fault may explain the state of the key, a refusal breaks recovery instead. If the refused acquire
// may itself have been granted the key, it breaks answers.
var _ = monitorOf(noSpuriousRefusal, monitor{
	untested: "no acquire met a key that was provably free",
	allowed: func(c *Checker) string {
		return fmt.Sprintf("an unreleased lease counts as held for %v past its end", time.Duration(c.slack()))
	},
	on: [factKinds]func(*Checker, fact){
		factAcquireCalled:   tryBegun,
		factAcquireReturned: tryEnded,
	},
})

// Kinds of violation.
var (
	refusedFree     = kindAndOccasion(noSpuriousRefusal, Stuck, "%s was refused a key that nobody held")
	refusedTogether = kindAndOccasion(noSpuriousRefusal, Stuck, "%s and %s asked at once for a key that nobody held, and both were refused")
	refusedFlushed  = kindAndOccasion(noSpuriousRefusal, Stuck, "the server forgot its scripts, and %s was refused a key that nobody held")
)

// refusalSlack is added to the end of a lease before a key counts as provably free. It covers
// rounding, and servers that delete expired keys late. The tolerance that the design states is
// added to it.
const refusalSlack = time.Second

// refusals finds refusals of a key that is provably free.
type refusals struct {
	pending.Availability
	refusing []*history.Op // acquires under way that will not be granted
	// recovering is the newest acquire that is granted a free key after a fault that may explain
	// the state of the key.
	recovering *history.Op
	// denials are the refusals of a free key so far. They are reported once nothing can explain
	// them any more: neither a grant that is called at the instant of their return, nor a fault
	// that affects an acquire that was under way then.
	denials []denial
}

// ended applies that hold h has ended.
func (r *refusals) ended(h *hold) {
	r.HoldEnded(&h.Grant)
	r.noteLevels(h)
}

// noteLevels notes the levels of h that the server may keep after its owner gave it up.
func (r *refusals) noteLevels(h *hold) {
	if !h.ownerDied { // a dead client joins no levels
		r.NoteLevels(h.client, &h.Grant)
	}
}

// A denial is an acquire that was refused a provably free key.
type denial struct {
	op        *history.Op
	by        *pending.Effect // the fault that may explain the state of the key, or that affected op; nil if there is none
	affectsOp bool            // by affected op, which may have been granted the key
	// concurrent are acquires of other clients that were under way at the same time, and were
	// refused as well.
	concurrent []*history.Op
	under      lockbench.Conditions
}

// tryBegun applies the call of an acquire.
func tryBegun(c *Checker, f fact) {
	r := &f.key.refusal
	switch f.op.Outcome {
	case history.OK:
		if c.freeBefore(f.key, f.at) {
			under, last := c.leftBy(f.key, f.op)
			judged := noSpuriousRefusal
			if last != nil || f.key.unknown.left != 0 { // a refusal would break recovery
				judged, r.recovering = recovery, f.op
			}
			c.expose(judged, under|c.answering(f.op))
		}
		r.granted(f.op)
	case history.Unknown:
		r.UnknownAcquires++
		r.granted(f.op)
	default:
		r.refusing = append(r.refusing, f.op)
	}
}

// granted applies the call of op, an acquire that is, or may be, granted. Refusals that return at
// this very instant are no longer denials.
func (r *refusals) granted(op *history.Op) {
	r.GrantsUnderWay++
	r.PossibleGrants++
	r.excuse(op)
}

// excuse drops the denials that op, just called or under way, may explain.
func (r *refusals) excuse(op *history.Op) {
	r.denials = slices.DeleteFunc(r.denials, func(d denial) bool { return !interval.Return(d.op).Before(interval.Call(op)) })
}

// refusedFree reports the denials that nothing explains, now that time has moved on.
func (c *Checker) refusedFree(k *key) {
	for _, d := range k.refusal.denials {
		c.denied(k, d)
	}
	k.refusal.denials = k.refusal.denials[:0]
}

// freeBefore reports whether the key of k was provably free before s.
func (c *Checker) freeBefore(k *key, s interval.Stamp) bool {
	r := &k.refusal
	if c.partial || !r.FreeBefore(s) || k.affected.Unbounded() {
		return false
	}
	for _, h := range k.holds {
		if !h.Freed(r.Slack).Before(s) {
			return false
		}
	}
	return true
}

// maxRefusals bounds how many denials of a key wait to be reported.
const maxRefusals = 64

// tryEnded applies the return of an acquire. A refusal is judged from the start of its last
// attempt, if that is known: a hold that began since then, or is under way, may be its reason.
func tryEnded(c *Checker, f fact) {
	k, op := f.key, f.op
	r := &k.refusal
	if op.Outcome == history.OK || op.Outcome == history.Unknown {
		r.GrantsUnderWay--
		return
	}
	r.refusing = slices.DeleteFunc(r.refusing, func(other *history.Op) bool { return other == op })
	d := denial{op: op}
	switch x := k.affected.On(op); {
	case op.Outcome != history.Refused || c.faults.standstills.Met(interval.LastTry(op).T, op.Return):
		return
	case x == nil && c.freeBefore(k, interval.LastTry(op)):
		d.under, d.by = c.leftBy(k, op)
		d.under |= c.answering(op)
		if d.by != nil {
			effect := *d.by // not to keep all of them
			d.by = &effect
		}
	case x != nil && x.MetFreeKey && x.PossibleGrants == r.PossibleGrants && !c.partial:
		effect := *x // not to keep all of them
		d.by, d.affectsOp, d.under = &effect, true, lockbench.LostReply|c.answering(op)
	default:
		return
	}
	if len(r.denials) < maxRefusals {
		d.concurrent = r.concurrentRefusals(op)
		r.denials = append(r.denials, d)
	}
}

// concurrentRefusals returns the acquires of other clients that overlap op, just returned, and are
// refused as well, whether they have returned or not. Each of them may have held the key for a
// moment, like a client that gets a minority of the servers of a quorum, and gives it up.
func (r *refusals) concurrentRefusals(op *history.Op) (all []*history.Op) {
	for _, d := range r.denials {
		if interval.Call(op).Before(interval.Return(d.op)) {
			all = append(all, d.op)
		}
	}
	all = append(all, r.refusing...)
	return slices.DeleteFunc(all, func(other *history.Op) bool { return other.Client == op.Client || other.Outcome != history.Refused })
}

// denied reports denial d.
func (c *Checker) denied(k *key, d denial) {
	v := candidate{key: k, ops: append([]*history.Op{d.op}, d.concurrent...), under: d.under}
	switch x := d.by; {
	case x == nil && k.unknown.left != 0:
		v.kind = refusedLeft
	case x == nil && c.faults.Flush != nil:
		v.kind = refusedFlushed
	case x == nil && len(d.concurrent) > 0:
		v.kind = refusedTogether
	case x == nil:
		v.kind = refusedFree
	case d.affectsOp:
		v.kind, v.ops = toldRefused, []*history.Op{d.op, x.Fault}
	default:
		v.kind, v.ops = c.refusedBy(x), []*history.Op{x.Op, d.op, x.Fault}
	}
	c.violate(v)
}
