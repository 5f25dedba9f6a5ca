package pending

import (
	"slices"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// A Span is a time in which the key was provably free, in ns.
type Span struct{ From, Until int64 }

// Length is how long it lasts, in ns; not above zero for none.
func (s Span) Length() int64 { return s.Until - s.From }

// maxSpans bounds how many spans are remembered: the newest. A waiter that slept through one that is forgotten is missed.
const maxSpans = 8

// Waits are the acquires of one key that will be granted it, and the times in which the key was
// provably free. The zero Waits has none.
type Waits struct {
	granting    []*history.Op // under way, and to be answered ok
	free        []Span        // by rising time
	lastRelease *history.Op   // the newest release, nil where there was none
	grantedAt   Span          // the instant at which it became free for the acquire that returns, which was granted it nobody knows when
}

// Called applies the call of an acquire.
func (k *Waits) Called(op *history.Op) {
	if op.Outcome == history.OK {
		k.granting = append(k.granting, op)
	}
}

// Returned applies the return of an acquire. Free and Within are about it, until the next one.
func (k *Waits) Returned(op *history.Op) {
	k.grantedAt = Span{}
	if i := slices.Index(k.granting, op); i >= 0 {
		k.granting = slices.Delete(k.granting, i, i+1)
	}
}

// GiveUp notes the call of a release, nil where a hold ends without one.
func (k *Waits) LetGo(op *history.Op) { k.lastRelease = op }

// Freed lists waiter op, and the release by which the key was let go during its wait, if that is the newest.
func (k *Waits) Freed(op *history.Op) []*history.Op {
	if by := k.lastRelease; by != nil && op.Call < by.Return && by.Return < op.Return {
		return []*history.Op{op, by}
	}
	return []*history.Op{op}
}

// MetFreeKey notes, when op returned, that but for acquires under way and op nobody had the key from one stamp to another.
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

// Within returns the first and the longest span, or part of one, that begins after the call of op, which returned, and before
// a stamp; of no length if there is none. If op was granted the key, nobody knows when, that is the instant at which the key
// became free.
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

// Empty returns Waits without any, which use the memory of k.
func (k *Waits) Empty() Waits { return Waits{granting: k.granting[:0], free: k.free[:0]} }

// WaitBound returns how long a key may be free, in ns, before a waiter that asked with op gets it: as
// long as the lock promises, or by default half of the wait, and a second at least. A waiter that waits
// twice as long each time asks as often.
func WaitBound(op *history.Op, promised int64) int64 {
	if promised > 0 {
		return promised
	}
	return max(op.Wait/2, 1e9)
}
