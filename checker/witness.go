package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/history"
)

// A violation is a way in which a guarantee is broken. Its text is a sentence
// with the clients involved, in order, in place of %s.
type violation string

const (
	overlapping          violation = "%s and %s held the key at the same time, both within their validity"
	workedOn             violation = "%s worked on past its validity while %s held the key"
	freedByStranger      violation = "%s had lost the key, yet what it sent took it from %s, and %s was granted it"
	lostToStranger       violation = "%s had lost the key, yet what it sent took it from %s"
	innerFreed           violation = "an inner release by %s freed the key: %s was granted it"
	innerLost            violation = "an inner release by %s freed the key: it was told that it had lost it"
	ownRefused           violation = "%s was refused the key that it held"
	extendBroken         violation = "%s had extended its lease, yet %s was granted the key before the end"
	grantedEarly         violation = "the lease of %s was not over when %s was granted the key"
	grantedInDelay       violation = "%s released with a delay, and within it %s was granted the key"
	notTold              violation = "%s had lost the key to %s and was not told"
	falselyTold          violation = "%s was told that it had lost the key while nobody else could have it"
	refusedFree          violation = "%s was refused a key that nobody held"
	updateLost           violation = "the update by %s was overwritten by %s, which had not seen it"
	updateLostLate       violation = "the update by %s was overwritten by %s, which had not seen it; one of them wrote after its validity"
	updateLostFailover   violation = "the update by %s was overwritten by %s, which had not seen it; the lost primary had granted one of them the key"
	fenceNotRaised       violation = "%s was granted the key before %s, whose fence is not higher"
	toldRefused          violation = "the reply to %s was lost, and it was told that another had the key, which nobody had"
	refusedDead          violation = "%s died, its lease was long over, and %s was refused the key"
	refusedThread        violation = "%s died in a process that lives on, its lease was long over, and %s was refused the key"
	refusedLost          violation = "the reply to %s was lost, no lease could have lasted, and %s was refused the key"
	refusedCancelled     violation = "the acquire by %s was cancelled or timed out, no lease could have lasted, and %s was refused the key"
	refusedFlushed       violation = "the server forgot its scripts, and %s was refused a key that nobody held"
	lostReplyGave        violation = "the reply to %s was lost or not waited for, and within the lease of %s %s was granted the key"
	lostReplyTook        violation = "the reply to %s was lost or not waited for, and what it sent took the key from %s"
	grantedCancelled     violation = "the acquire by %s was cancelled and yet granted, within the lease of %s"
	cancelledGaveNothing violation = "the acquire by %s was cancelled and yet granted, and within its lease %s was granted the key"
	lostToStray          violation = "%s was told that it had lost the key, which only what others had sent before it was granted it can have taken"
	scriptMissing        violation = "the server forgot its scripts, and a call by %s failed for it"
	falselyToldFlushed   violation = "the server forgot its scripts, and %s was told that it had lost the key while nobody else could have it"
	takenOnServer        violation = "%s had lost the key, yet what it sent took it on the server from %s"
	staleAdmitted        violation = "a write by %s was admitted with a lower fence than one before it"
)

// clearest is the candidate with the largest margin, as a witness.
func (c *Checker) clearest(from []candidate) *Witness {
	best := slices.MaxFunc(from, func(a, b candidate) int {
		return cmp.Compare(c.margin(a), c.margin(b))
	})
	return c.witness(best)
}

// margin is by how much, in ns.
func (c *Checker) margin(w candidate) int64 {
	if len(w.holds) < 2 {
		return 0
	}
	a, b := w.holds[len(w.holds)-2], w.holds[len(w.holds)-1]
	switch w.kind {
	case workedOn:
		return earlier(earlier(a.knew, b.knew), c.last).t - a.intrusion.t
	case overlapping, updateLost, updateLostFailover, freedByStranger, innerFreed:
		return overlap(a, b, c.last)
	case grantedEarly, extendBroken:
		return max(0, a.until-b.granted.t)
	case grantedInDelay:
		return max(0, after(a.releasedBy.Call, a.releasedBy.Delay)-b.granted.t)
	}
	return 0
}

func (c *Checker) witness(w candidate) *Witness {
	out := &Witness{Key: w.key.name, Margin: time.Duration(c.margin(w))}
	var who []any
	for _, h := range w.holds {
		who = append(who, clientName(h.client))
		out.Holds = append(out.Holds, h.shown())
		for _, op := range h.ops {
			out.Ops = append(out.Ops, *op)
		}
	}
	for _, op := range w.ops {
		who = append(who, clientName(op.Client))
		out.Ops = append(out.Ops, *op)
		if h := w.key.find(op.Hold); h != nil && op.Kind == history.Acquire && h.known {
			out.Holds = append(out.Holds, h.shown())
		}
	}
	for _, op := range w.strangers() {
		out.Ops = append(out.Ops, *op)
	}
	out.Sentence = fmt.Sprintf(string(w.kind), who[:min(len(who), strings.Count(string(w.kind), "%s"))]...)
	slices.SortStableFunc(out.Ops, func(a, b history.Op) int { return cmp.Compare(a.Call, b.Call) })
	slices.SortStableFunc(out.Holds, func(a, b WitnessHold) int { return cmp.Compare(a.Granted, b.Granted) })
	return out
}

// strangers are what stale owners sent into the holds, and so may have made an end of: it
// explains how somebody else got in. What was sent when both were in already explains
// nothing of a conflict.
func (w candidate) strangers() (ops []*history.Op) {
	for _, h := range w.holds {
		own := func(o *hold) bool { return slices.Contains(o.ops, h.foreign) }
		later := func(o *hold) bool { return callOf(h.foreign).before(o.granted) }
		if h.foreign == nil || slices.ContainsFunc(w.holds, own) || slices.Contains(ops, h.foreign) {
			continue
		}
		if w.kind != overlapping || slices.ContainsFunc(w.holds, later) {
			ops = append(ops, h.foreign)
		}
	}
	return ops
}

func clientName(id int32) string { return fmt.Sprintf("client %d", id) }

// shown is h as witnesses show it.
func (h *hold) shown() WitnessHold {
	w := WitnessHold{
		Hold: h.id, Client: h.client, Process: h.process,
		From: h.from, Granted: h.granted.t, Until: h.until,
		End: h.coreEnd().t, EndedBy: "validity",
	}
	if h.ended && h.end.before(stamp{t: h.until}) {
		w.EndedBy = h.endedBy
	}
	return w
}
