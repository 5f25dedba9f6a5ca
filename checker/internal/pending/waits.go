package pending

import (
	"slices"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// A Span is a time in ns in which the key was provably free.
type Span struct{ From, Until int64 }

// Length returns the duration in ns; it is not positive for an empty span.
func (s Span) Length() int64 { return s.Until - s.From }

// maxSpans bounds how many spans are remembered. The oldest are forgotten, and waits that missed
// them are not found.
const maxSpans = 8

// Waits are the acquires of one key that will be granted it, and the times in which the key was
// provably free. The zero Waits is empty.
type Waits struct {
	granting    []*history.Op // under way, and answered ok later
	free        []Span        // rising
	lastRelease *history.Op   // nil if there was none
	grantedAt   Span          // if the record does not say when the acquire that returned was granted: the instant at which the key became free
}

// Called applies the call of an acquire.
func (k *Waits) Called(op *history.Op) {
	if op.Outcome == history.OK {
		k.granting = append(k.granting, op)
	}
}

// Returned applies the return of an acquire. Until the next one, Free and Within are about it.
func (k *Waits) Returned(op *history.Op) {
	k.grantedAt = Span{}
	if i := slices.Index(k.granting, op); i >= 0 {
		k.granting = slices.Delete(k.granting, i, i+1)
	}
}

// LetGo notes the call of a release, nil if a hold ended without one.
func (k *Waits) LetGo(op *history.Op) { k.lastRelease = op }

// Freed returns op, an acquire that waited, and the newest release if it freed the key during that
// wait.
func (k *Waits) Freed(op *history.Op) []*history.Op {
	if by := k.lastRelease; by != nil && op.Call < by.Return && by.Return < op.Return {
		return []*history.Op{op, by}
	}
	return []*history.Op{op}
}

// Free notes, when op returned, that between the two stamps no client had the key, apart from op
// and acquires under way.
func (k *Waits) Free(op *history.Op, from, until int64) {
	others := int64(interval.Forever.T)
	for _, other := range k.granting {
		others = min(others, interval.Start(other))
	}
	if op.Outcome == history.OK && op.Attempt == history.NoStamp && op.Call < from && from < min(op.Return, others) {
		k.grantedAt = Span{from, from + 1}
	}
	until = min(until, others)
	n := len(k.free)
	switch {
	case until <= from:
		return
	case n > 0 && k.free[n-1].From == from:
		k.free[n-1].Until = max(k.free[n-1].Until, until)
		return
	case n == maxSpans:
		k.free = slices.Delete(k.free, 0, 1)
	}
	k.free = append(k.free, Span{from, until})
}

// Within returns the first and the longest span, cut at until, that begins after the call of op; an
// empty span if there is none. If the record does not say when op was granted the key, both are the
// instant at which the key became free.
func (k *Waits) Within(op *history.Op, until int64) (first, longest Span) {
	if k.grantedAt.Length() > 0 {
		return k.grantedAt, k.grantedAt
	}
	for _, s := range k.free {
		s.Until = min(s.Until, until)
		if s.From <= op.Call || s.Length() <= 0 {
			continue
		}
		if first.Length() == 0 {
			first = s
		}
		if s.Length() > longest.Length() {
			longest = s
		}
	}
	return first, longest
}

// Empty returns empty Waits that use the memory of k.
func (k *Waits) Empty() Waits { return Waits{granting: k.granting[:0], free: k.free[:0]} }

// WaitBound returns how long, in ns, a key may be free before a waiter with acquire op gets it:
// promised, if the lock promises a time, else half of the wait, at least a second. Even a lock that
// doubles its pause with each poll asks that often.
func WaitBound(op *history.Op, promised int64) int64 {
	if promised > 0 {
		return promised
	}
	return max(op.Wait/2, 1e9)
}
