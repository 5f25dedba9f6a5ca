package pending

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// Died is the condition of an owner that died. Only later it turns out whether its process lives
// on, which tells a thread's death from a crash.
const Died lockbench.Conditions = 1 << 15

// An Effect is the effect of a fault on an operation, or of a death on a hold. A superseded effect
// is bounded.
type Effect struct {
	Cause lockbench.Conditions  // LostReply, Cancel or Died
	Fault *history.Op           // the event of the fault
	Op    *history.Op           // the operation that was under way, or the acquire of the hold
	Under *lockbench.Conditions // conditions that have touched its hold; nil if Op made none
	Until interval.Stamp        // a command of Op ran as late as this
	// Bounded: the operation is over, and with it the time at which it may have acted.
	Bounded bool
	// Superseded: another client was granted the key since, so nothing is left of the effect.
	Superseded bool
	// Cut: the command never ran, since its connection broke before.
	Cut bool
	// MetFreeKey: Op, an acquire that will be refused, met a provably free key. PossibleGrants is
	// the reading of [Availability] at that time.
	MetFreeKey     bool
	PossibleGrants int
}

// Acted returns the latest instant at which the affected operation took effect.
func (x *Effect) Acted() interval.Stamp {
	if x.Cause == Died {
		return interval.Call(x.Fault)
	}
	return interval.Later(interval.Return(x.Op), x.Until)
}

// OwnerDied reports whether x is the death of a client that had been granted the key for certain.
func (x *Effect) OwnerDied() bool {
	return x.Cause == Died && (x.Op.Outcome == history.OK || x.Under != nil && x.Op.Kind != history.Acquire)
}

// Unanswered reports whether the affected operation may have run without its client knowing it.
func (x *Effect) Unanswered() bool {
	switch x.Cause {
	case lockbench.LostReply:
		return !x.Cut
	case lockbench.Cancel:
		return x.Op.Kind != history.Acquire && x.Until != (interval.Stamp{})
	}
	return false
}

// Touches reports whether the affected operation may have acted otherwise than its client knows:
// without its knowledge or, if it was cut and tried again, later than the call says.
func (x *Effect) Touches() bool {
	return x.Unanswered() || x.Cut && x.Op.Outcome != history.Unknown
}

// Effects are the effects on one key, in the order of their faults, as long as something may be
// left of them.
type Effects []Effect

// maxEffects bounds how many effects are remembered.
const maxEffects = 32

// Keep adds x. If there are too many effects, Keep removes old: an effect that can do nothing more,
// if there is one, else the oldest. In the second case lost is set, and the caller must note the
// conditions of old.
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

// On returns the first effect of a fault on op, nil if there is none.
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

// ActedBefore reports whether op was affected, and can have acted only before other was called.
func (all Effects) ActedBefore(op, other *history.Op) bool {
	x := all.On(op)
	return x != nil && x.Bounded && x.Acted().Before(interval.Call(other))
}

// Unbounded reports whether an affected acquire is still under way, whatever its answer will be.
func (all Effects) Unbounded() bool {
	return slices.ContainsFunc(all, func(x Effect) bool { return !x.Bounded && x.Op.Kind == history.Acquire })
}

// AnyLeft reports whether a fault may explain the state of the key.
func (all Effects) AnyLeft() bool {
	return slices.ContainsFunc(all, func(x Effect) bool { return !x.Superseded })
}

// LeftBy reports whether a fault may have left levels on the server that the next acquire of client
// joins.
func (all Effects) LeftBy(client int32) bool {
	return slices.ContainsFunc(all, func(x Effect) bool { return x.Op.Client == client && !x.Superseded })
}

// Bound notes that the affected op is over. It reports whether that is new.
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
