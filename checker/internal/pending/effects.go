package pending

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// Died is the bit of an owner that died: a crash or the death of a thread, depending on
// whether its process lives on, which shows only later.
const Died lockbench.Conditions = 1 << 15

// An Effect is a fault that affected an operation, or the owner of a hold. One that is over
// is bounded.
type Effect struct {
	Cause lockbench.Conditions // LostReply, Cancel, or that its owner died
	Fault *history.Op
	Op    *history.Op           // affected while under way, or the acquire of a hold
	Under *lockbench.Conditions // what has touched its hold; nil when Op made none
	Until interval.Stamp        // a command of it ran as late as this
	// Bounded: it is over, and with it what it may have left on the server.
	Bounded bool
	// Superseded: somebody else was granted the key since, so nothing is left of it.
	Superseded bool
	// Cut: the command never ran, since its connection broke first.
	Cut bool
	// MetFreeKey: Op, an acquire that is to be refused, met a key that was provably free;
	// Stirred is how many others might have taken it until then.
	MetFreeKey     bool
	PossibleGrants int
}

// FaultedActed is when what was affected took effect at the latest.
func (x *Effect) Acted() interval.Stamp {
	if x.Cause == Died {
		return interval.Call(x.Fault)
	}
	return interval.Later(interval.Return(x.Op), x.Until)
}

// Unanswered reports whether what was affected may have run without its owner's knowing.
func (x *Effect) Unanswered() bool {
	switch x.Cause {
	case lockbench.LostReply:
		return !x.Cut
	case lockbench.Cancel:
		return x.Op.Kind != history.Acquire && x.Until != (interval.Stamp{})
	}
	return false
}

// Touches reports whether what was affected may have acted otherwise than its owner knows, once
// or, where it was cut and tried again, later than its call says.
func (x *Effect) Touches() bool {
	return x.Unanswered() || x.Cut && x.Op.Outcome != history.Unknown
}

// Effects are those on one key, in the order of their faults, while something may be left of
// them.
type Effects []Effect

// maxEffects bounds how many effects are remembered.
const maxEffects = 32

// BusyUntil adds x. Where there are too many, one that has no effect any more makes way, and else
// the oldest: lost says so, and what it may still do has to be noted.
func (all *Effects) Keep(x Effect) (old Effect, lost bool) {
	if len(*all) == maxEffects {
		spent := func(x Effect) bool { return x.Superseded && !x.Touches() }
		i := max(0, slices.IndexFunc(*all, spent))
		old = (*all)[i]
		lost = !spent(old)
		*all = slices.Delete(*all, i, i+1)
	}
	*all = append(*all, x)
	return old, lost
}

// On is the first effect of a fault on op, nil when there was none.
func (all Effects) On(op *history.Op) *Effect {
	for i := range all {
		if all[i].Op == op {
			return &all[i]
		}
	}
	return nil
}

// Has reports whether a fault affected op.
func (all Effects) Has(op *history.Op) bool { return all.On(op) != nil }

// ActedBefore reports whether what a fault affected of op has had its effect before other was called.
func (all Effects) ActedBefore(op, other *history.Op) bool {
	x := all.On(op)
	return x != nil && x.Bounded && x.Acted().Before(interval.Call(other))
}

// Unbounded reports whether an acquire was affected that is still under way, whatever
// it will be told.
func (all Effects) Unbounded() bool {
	return slices.ContainsFunc(all, func(x Effect) bool { return !x.Bounded && x.Op.Kind == history.Acquire })
}

// AnyLeft reports whether a fault may have left the key as it is.
func (all Effects) AnyLeft() bool {
	return slices.ContainsFunc(all, func(x Effect) bool { return !x.Superseded })
}

// LeftBy reports whether a fault may have left client something that its next
// acquire joins.
func (all Effects) LeftBy(client int32) bool {
	return slices.ContainsFunc(all, func(x Effect) bool { return x.Op.Client == client && !x.Superseded })
}

// Bound notes that what was affected of op is over, and reports whether that is news.
func (all Effects) Bound(op *history.Op) (first bool) {
	first = true
	for i := range all {
		if x := &all[i]; x.Op == op {
			first = first && !x.Bounded
			x.Bounded = true
		}
	}
	return first
}
