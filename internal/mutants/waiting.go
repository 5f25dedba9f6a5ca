package mutants

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// waitingMutants have faults in the wait.
var waitingMutants = []Mutant{
	{
		Name: "never-woken", Seen: "rueidislock 1.0.49; waits by time.After in many adapters",
		Mechanism: "a waiter asks once, and then sleeps until its wait is over: what becomes free meanwhile it does not get",
		Breaks:    []lockbench.Cell{lockbench.WakeUp.At(0)}, Scenario: "wait-both", change: func(a *parts) { a.wait = sleepThrough },
	},
	{
		Name: "woken-late", Seen: "a waiter that trusts a notice, and the notice was lost",
		Mechanism: "a waiter asks once, and again when its wait is over",
		Breaks:    []lockbench.Cell{lockbench.WakeUp.At(0)}, Scenario: "wait-both", change: func(a *parts) { a.wait = askTwice },
	},
	{
		Name: "granted-when-over", Seen: "adapters that take the end of a wait for the end of a lease",
		Mechanism: "a waiter whose wait is over is told that it was granted the key, whoever has it",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(0)}, Scenario: "wait-both", change: func(a *parts) { a.wait = believeTheEnd },
	},
}

// sleepThrough tries once.
func sleepThrough(ctx context.Context, h *hold) error {
	granted, err := h.try(ctx)
	switch {
	case granted || err != nil:
		return err
	case design.Sleep(ctx, h.wait) != nil:
		return errors.Join(lockbench.ErrNoEffect, ctx.Err())
	}
	return lockbench.ErrNotAcquired
}

// askTwice tries once, and once more.
func askTwice(ctx context.Context, h *hold) error {
	return design.Poll(ctx, h.wait, design.Every(h.wait), func() (bool, error) { return h.try(ctx) })
}

// believeTheEnd mistakes the end of the wait for a grant.
func believeTheEnd(ctx context.Context, h *hold) error {
	err := poll(ctx, h)
	if h.wait > 0 && errors.Is(err, lockbench.ErrNotAcquired) {
		return nil
	}
	return err
}
