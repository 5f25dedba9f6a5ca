package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// clearest returns the counterexample of the candidate with the largest margin. A violation by two
// owners within their validity comes before a violation by an owner past its validity.
func (c *Checker) clearest(from []candidate) *Counterexample {
	best := slices.MaxFunc(from, func(a, b candidate) int {
		return cmp.Or(isWithinValidity(a)-isWithinValidity(b), cmp.Compare(c.margin(a), c.margin(b)))
	})
	return c.counterexample(best)
}

// isWithinValidity returns 1 if the owners of w were within their validity, else 0.
func isWithinValidity(w candidate) int {
	if w.kind == workedOn {
		return 0
	}
	return 1
}

// margin returns the extent of the violation in ns: how long two owners overlapped, or how early a
// grant came.
func (c *Checker) margin(w candidate) int64 {
	if len(w.holds) < 2 {
		return 0
	}
	a, b := w.holds[len(w.holds)-2], w.holds[len(w.holds)-1]
	switch w.kind {
	case workedOn:
		return interval.Earlier(interval.Earlier(a.LastWork, b.LastWork), c.last).T - a.intrusion.T
	case overlapping, updateLost, freedByPastOwner, innerFreed:
		return interval.Shared(&a.Grant, &b.Grant, c.last)
	case grantedEarly, extendBroken:
		return max(0, a.Until-b.Granted.T)
	case grantedInDelay:
		return max(0, interval.After(a.ReleasedBy.Call, a.ReleasedBy.Delay)-b.Granted.T)
	}
	return 0
}

// counterexample returns w with its holds and operations in the order of time.
func (c *Checker) counterexample(w candidate) *Counterexample {
	out := &Counterexample{Key: w.key.name, Under: w.under, Margin: time.Duration(c.margin(w))}
	for _, p := range w.kind.breaks {
		out.Breaks = append(out.Breaks, names[p])
	}
	var who []any
	for _, h := range w.holds {
		who = append(who, clientName(h.client))
		out.Holds = append(out.Holds, h.forCounterexample())
		for _, op := range h.ops {
			out.Ops = append(out.Ops, *op)
		}
	}
	for _, op := range w.ops {
		who = append(who, clientName(op.Client))
		out.Ops = append(out.Ops, *op)
		if h := w.key.find(op.Hold); h != nil && op.Kind == history.Acquire && h.Confirmed {
			out.Holds = append(out.Holds, h.forCounterexample())
		}
	}
	for _, op := range w.staleOps() {
		out.Ops = append(out.Ops, *op)
	}
	out.Sentence = fmt.Sprintf(w.kind.sentence, who[:min(len(who), strings.Count(w.kind.sentence, "%s"))]...)
	slices.SortStableFunc(out.Ops, func(a, b history.Op) int { return cmp.Compare(a.Call, b.Call) })
	slices.SortStableFunc(out.Holds, func(a, b CounterexampleHold) int { return cmp.Compare(a.Granted, b.Granted) })
	return out
}

// staleOps returns the calls of past owners that may have ended the holds of w, and so explain why
// another client was granted the key. For a conflict of two holds, only calls before the second
// grant do.
func (w candidate) staleOps() (ops []*history.Op) {
	for _, h := range w.holds {
		own := func(o *hold) bool { return slices.Contains(o.ops, h.staleOp) }
		later := func(o *hold) bool { return interval.Call(h.staleOp).Before(o.Granted) }
		if h.staleOp == nil || slices.ContainsFunc(w.holds, own) || slices.Contains(ops, h.staleOp) {
			continue
		}
		if w.kind != overlapping || slices.ContainsFunc(w.holds, later) {
			ops = append(ops, h.staleOp)
		}
	}
	return ops
}

func clientName(id int32) string { return fmt.Sprintf("client %d", id) }

// forCounterexample returns the public form of h.
func (h *hold) forCounterexample() CounterexampleHold {
	return CounterexampleHold{
		Hold: h.id, Client: h.client, Process: h.process,
		From: h.From, Granted: h.Granted.T, Until: h.Until,
		End: h.MustEnd().T, EndedBy: h.EndCause().String(),
	}
}

// Early returns how long before the end of an owner's lease the next owner was granted the key, and
// false if the counterexample does not show two owners with leases, one after the other.
func (w *Counterexample) Early() (time.Duration, bool) {
	if len(w.Holds) < 2 {
		return 0, false
	}
	first, next := w.Holds[len(w.Holds)-2], w.Holds[len(w.Holds)-1]
	if first.Client == next.Client || first.Until == history.Never {
		return 0, false
	}
	return time.Duration(first.Until - next.Granted), true
}
