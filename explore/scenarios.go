package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/suggest"
)

// Abilities that a scenario may need of a lock, see [Scenario.Needs].
const (
	NeedsExtend = "extend" // leases are Extenders
	NeedsDelay  = "delay"  // leases are DelayedReleasers
	NeedsNest   = "nest"   // the holder may acquire again (not design.Refused)
)

// A LacksError is the error of exploring a lock in a scenario for which it has not
// the ability.
type LacksError struct{ Scenario, Ability string }

// Error implements error.
func (e *LacksError) Error() string {
	return fmt.Sprintf("scenario %s needs the ability to %s, which the lock lacks", e.Scenario, e.Ability)
}

// Scenarios lists what the clients of a schedule can do, in the order in which
// they are shown and explored. They release what they hold unless that is their
// point, so that only faults leave something behind.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "contend", Summary: "acquire and release, round after round", Exercises: contended, Run: contend},
		{Name: "update", Summary: "contend, and add one to a guarded record", Exercises: with(contended, lockbench.Effects), Run: update},
		{Name: "overrun", Summary: "read, work for one and a half leases, write, release", Exercises: slices.Concat(contended, outlived), Run: overrun},
		{Name: "stale-release", Summary: "the first client releases after its lease, while the others work, and tries again", Exercises: slices.Concat(contended, outlived), Run: staleRelease},
		{Name: "release-twice", Summary: "contend, and release a second time", Exercises: contended, Run: releaseTwice},
		{Name: "extend", Summary: "extend in time, work on, extend too late, release", Needs: []string{NeedsExtend}, Exercises: contended, Run: extend},
		{Name: "release-delay", Summary: "release so that others stay out for half a lease, and try meanwhile", Needs: []string{NeedsDelay}, Exercises: with(contended, lockbench.ReleaseDelay), Run: releaseDelay},
		{Name: "nested", Summary: "acquire twice, release once, work on, release", Needs: []string{NeedsNest}, Exercises: with(contended, lockbench.Reentrancy), Run: nested},
		{Name: "wait", Summary: "the first client works for most of its lease; the others come meanwhile, and wait until past its end", Waits: true, Exercises: contended, Run: wait},
		{Name: "abandon", Summary: "the first client never releases; the others come before its lease is over, and long after", Exercises: contended, Run: abandon},
		{Name: "two-keys", Summary: "acquire two keys, every other client in the opposite order, release both", Keys: 2, Exercises: contended, Run: twoKeys},
		{Name: "nested-short", Summary: "nested, the second acquire asking for a quarter of the lease: past the limits that some designs document", Needs: []string{NeedsNest}, OnRequest: true, Exercises: with(contended, lockbench.Reentrancy), Run: nestedShort},
		{Name: "nested-again", Summary: "nested, and a call that got no answer is made once more, as part of it: what drivers do", Needs: []string{NeedsNest}, Again: true, OnRequest: true, Exercises: with(contended, lockbench.Reentrancy), Run: nested},
		{Name: "leftover", Summary: "the first client tries once; the others acquire and release, one round after the other, when its lease is long over", OnRequest: true, Run: leftover},
		{Name: "hoard", Summary: "the same, but nobody releases: whoever gets in beside another does so by the acquire alone", OnRequest: true, Run: hoard},
	}
}

// ScenarioNames lists the names of Scenarios, in its order.
func ScenarioNames() []string {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// FindScenario returns the scenario of that name; the error lists near matches.
func FindScenario(name string) (Scenario, error) {
	all := Scenarios()
	if i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Scenario{}, suggest.Unknown("scenario", name, ScenarioNames())
}

func contend(ctx context.Context, a *Actor) {
	for range a.Rounds {
		if lease := a.acquire(ctx, a.Keys[0]); lease != nil {
			a.release(ctx, lease)
		}
	}
}

func update(ctx context.Context, a *Actor) {
	for range a.Rounds {
		lease := a.acquire(ctx, a.Keys[0])
		if lease == nil {
			continue
		}
		if read, err := a.Store.Read(ctx, a.Keys[0]); err == nil {
			a.write(ctx, read.Value+1)
		}
		a.release(ctx, lease)
	}
}

// overrun has everybody outlive the lease, so that a schedule without fault or
// move of time has the next owner inside when the one before it writes, releases
// and tries again.
func overrun(ctx context.Context, a *Actor) {
	for range a.Rounds {
		lease := a.acquire(ctx, a.Keys[0])
		if lease == nil {
			a.rest(ctx, 1.1)
			continue
		}
		read, err := a.Store.Read(ctx, a.Keys[0])
		a.rest(ctx, 1.5)
		if err == nil {
			a.write(ctx, read.Value+1)
		}
		a.release(ctx, lease)
	}
}

// staleRelease needs no chance to show what a release by somebody who lost the
// lock does: the others are inside for certain, and the first client is the third
// that their lock may be given to.
func staleRelease(ctx context.Context, a *Actor) {
	for range a.Rounds {
		if a.ID > 0 {
			a.rest(ctx, 1.1)
		}
		lease := a.acquire(ctx, a.Keys[0])
		if lease == nil {
			continue
		}
		if a.ID == 0 {
			a.rest(ctx, 1.3)
		} else {
			a.rest(ctx, 0.6)
		}
		a.release(ctx, lease)
	}
}

func releaseTwice(ctx context.Context, a *Actor) {
	for range a.Rounds {
		if lease := a.acquire(ctx, a.Keys[0]); lease != nil {
			a.release(ctx, lease)
			a.release(ctx, lease)
		}
	}
}

// extend has a client that was refused come back when the lease would be over
// without the first extend, and again when it is over with it.
func extend(ctx context.Context, a *Actor) {
	for range a.Rounds {
		lease := a.acquire(ctx, a.Keys[0])
		if lease == nil {
			a.rest(ctx, 1.1)
			continue
		}
		a.rest(ctx, 0.5)
		a.extend(ctx, lease)
		a.rest(ctx, 0.75)
		a.Step("work")
		a.rest(ctx, 1.25)
		a.extend(ctx, lease)
		a.release(ctx, lease)
	}
}

func releaseDelay(ctx context.Context, a *Actor) {
	for range a.Rounds {
		lease := a.acquire(ctx, a.Keys[0])
		if lease == nil {
			a.rest(ctx, 0.3)
			continue
		}
		a.Step("release")
		if d, can := lockbench.Ability[lockbench.DelayedReleaser](lease); can {
			_ = d.ReleaseAfter(ctx, a.Options.TTL/2)
		}
	}
}

func nested(ctx context.Context, a *Actor) { nest(ctx, a, a.Options.TTL) }

func nestedShort(ctx context.Context, a *Actor) { nest(ctx, a, a.Options.TTL/4) }

// nest works on after the inner release for longer than a short inner lease.
func nest(ctx context.Context, a *Actor, inner time.Duration) {
	for range a.Rounds {
		outer := a.acquire(ctx, a.Keys[0])
		if outer == nil {
			a.rest(ctx, 0.6)
			continue
		}
		a.Step("acquire again")
		again := lockbench.Options{TTL: inner, Metadata: a.Options.Metadata}
		if lease, err := a.Locker.Acquire(ctx, a.Keys[0], again); err == nil {
			a.release(ctx, lease)
		}
		a.rest(ctx, 0.7)
		a.release(ctx, outer)
	}
}

// wait has the others come late, so that they wait for a release, or for the end of
// the lease if none comes, without asking hundreds of times.
func wait(ctx context.Context, a *Actor) {
	for range a.Rounds {
		if a.ID > 0 {
			a.rest(ctx, 0.6)
		}
		lease := a.acquire(ctx, a.Keys[0])
		if lease == nil {
			continue
		}
		if a.ID == 0 {
			a.rest(ctx, 0.7)
		}
		a.release(ctx, lease)
	}
}

// abandon lets the others come back when by the longest reading of the lease
// (whole seconds, a second of slack, one of tolerance) it is over.
func abandon(ctx context.Context, a *Actor) {
	lease := a.acquire(ctx, a.Keys[0])
	if a.ID == 0 {
		return
	}
	for range a.Rounds {
		if lease != nil {
			a.release(ctx, lease)
		}
		a.rest(ctx, 1.5)
		a.restFor(ctx, 3*time.Second)
		lease = a.acquire(ctx, a.Keys[0])
	}
	if lease != nil {
		a.release(ctx, lease)
	}
}

// leftover is about what others make of a key that a first client left, by a fault.
func leftover(ctx context.Context, a *Actor) {
	if a.ID == 0 {
		a.acquire(ctx, a.Keys[0])
		return
	}
	a.restOver(ctx)
	for range a.Rounds {
		if lease := a.acquire(ctx, a.Keys[0]); lease != nil {
			a.release(ctx, lease)
		}
		a.rest(ctx, 0.2)
	}
}

// hoard has a client that was refused come back within the lease that another may
// have been granted at that time.
func hoard(ctx context.Context, a *Actor) {
	if a.ID == 0 {
		a.acquire(ctx, a.Keys[0])
		return
	}
	a.restOver(ctx)
	for range a.Rounds {
		if lease := a.acquire(ctx, a.Keys[0]); lease != nil {
			a.restOver(ctx)
		} else {
			a.rest(ctx, 0.6)
		}
	}
}

func twoKeys(ctx context.Context, a *Actor) {
	first, second := a.Keys[0], a.Keys[1]
	if a.ID%2 == 1 {
		first, second = second, first
	}
	for range a.Rounds {
		outer := a.acquire(ctx, first)
		if outer == nil {
			continue
		}
		if inner := a.acquire(ctx, second); inner != nil {
			a.release(ctx, inner)
		}
		a.release(ctx, outer)
	}
}
