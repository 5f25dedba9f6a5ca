package mutants

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
)

// renewingMutants have a watchdog that stops too early, or too late.
var renewingMutants = []Mutant{
	{
		Name: "renewal-dies", Seen: "python-redis-lock (row 9)",
		Mechanism: "the renewals of a hold end at their first error, and nobody is told",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.Outlived)}, Scenario: "overrun",
		abilities: watched, change: func(a *parts) { a.missed = func(*hold) {} },
	},
	{
		Name: "renewed-once", Seen: "pglock 1.2.0 (row 46)",
		Mechanism: "the answer to a renewal is always taken for an error, and ends the renewals",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.Outlived)}, Scenario: "overrun",
		abilities: watched, change: func(a *parts) { a.renewed = func(*hold) {} },
	},
	{
		Name: "renewed-twice", Seen: "watchdogs with a bound, as pglock 1.2.0 (row 46) with one renewal",
		Mechanism: "the renewals of a hold end after the second, and nobody is told: the lock is lost after five thirds of a lease",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.Outlived)}, Scenario: "renewed",
		abilities: watched, change: func(a *parts) { a.renewed = renewEarly },
	},
	{
		Name: "shared-watchdog", Seen: "no row: a watchdog in a field of a client that several locks share",
		Mechanism: "one watchdog renews all holds of a process, and the first release stops it: the others end with their lease, and nobody is told",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.Outlived)}, Scenario: "two-renewed",
		abilities: watched, change: func(a *parts) { a.free = freeAndStop },
	},
	{
		Name: "newest-watched", Seen: "no row: the timer of the watchdog in a field of its client",
		Mechanism: "the watchdog of a grant takes the place of the one before: only the key that was granted last is renewed",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.Outlived)}, Scenario: "two-renewed",
		abilities: watched, change: func(a *parts) { a.granted = stopOthers },
	},
	{
		Name: "blip-is-loss", Seen: "pglock 1.9 (row 47)",
		Mechanism: "one failed renewal is taken for a loss: the owner is told so while it still holds",
		Breaks:    []lockbench.Cell{lockbench.LossReported.At(lockbench.LostReply)}, Scenario: "overrun",
		abilities: noticing, change: func(a *parts) { a.missed = (*hold).lose },
	},
	{
		Name: "stale-registry", Seen: "Redisson < 3.14 (row 29)",
		Mechanism: "a failed renewal leaves the lock's name in the process's registry, and a name that is there is not watched again",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.Outlived)}, Scenario: "overrun",
		abilities: watched, change: func(a *parts) { a.granted, a.missed = watchUnlessStale, leaveStale },
	},
	{
		Name: "renewed-after-release", Seen: "Redisson 3.10.5 (row 27)",
		Mechanism: "a release whose reply was lost leaves the watchdog running: a lock that was not freed is held for ever",
		Breaks:    []lockbench.Cell{lockbench.Recovery.At(lockbench.LostReply)},
		abilities: watched, change: func(a *parts) { a.ends = endsWhenAnswered },
	},
	{
		Name: "renewed-ungranted", Seen: "Redisson < 3.10.5 (row 28)",
		Mechanism: "an acquire whose reply was lost has started the watchdog: what nobody knows to hold is held for ever",
		Breaks:    []lockbench.Cell{lockbench.Recovery.At(lockbench.LostReply)},
		abilities: watched, change: func(a *parts) { a.failed = watchLost },
	},
	{
		Name: "renewed-cancelled", Seen: "Redisson < 3.16.3 (row 30)",
		Mechanism: "an acquire that was cancelled leaves its watchdog running: what the server granted is held for ever",
		Breaks:    []lockbench.Cell{lockbench.Recovery.At(lockbench.Cancel)},
		abilities: watched, change: func(a *parts) { a.failed = watchCancelled },
	},
	{
		Name: "revived", Seen: "a lock on NATS (row 50)",
		Mechanism: "a renewal writes the key anew, whatever is there: one that is under way during the release brings the lock back, over the next owner's",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "overrun",
		abilities: watched, change: func(a *parts) { a.renew = putAgain },
	},
}

// registered is the prefix of the names of locks in the registry of the process.
const registered = "renewed:"

func watchUnlessStale(_ context.Context, h *hold) {
	if _, stale := h.owner.process.shared.Load(registered + h.key); stale {
		h.renewal.Stop()
	}
}

func leaveStale(h *hold) { h.owner.process.shared.Store(registered+h.key, true) }

// renewEarly renews a hold only in the first half of its lease.
func renewEarly(h *hold) {
	if time.Since(h.from) < h.lease/2 {
		h.renewal.Reset(h.lease / 3)
	}
}

func endsWhenAnswered(depth int, err error) bool { return depth == 0 && err == nil }

func watchLost(ctx context.Context, h *hold, err error) {
	if ctx.Err() == nil && !errors.Is(err, lockbench.ErrNoEffect) {
		h.begin()
	}
}

func watchCancelled(ctx context.Context, h *hold, _ error) {
	if ctx.Err() != nil {
		h.begin()
	}
}

func putAgain(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	err := h.client().Set(ctx, h.name, h.token, ttl).Err()
	return err == nil, err
}

// stopOthers stops the renewals of all holds of the process but h.
func stopOthers(_ context.Context, h *hold) {
	p := h.owner.process
	p.mu.Lock()
	defer p.mu.Unlock()
	for other := range p.holds {
		if other != h {
			other.renewal.Stop()
		}
	}
}

func freeAndStop(ctx context.Context, h *hold) (bool, error) {
	held, err := free(ctx, h)
	if held {
		stopOthers(ctx, h)
	}
	return held, err
}
