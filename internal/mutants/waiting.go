package mutants

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/go-redis/v9"
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
		Name: "woken-once", Seen: "rueidislock 1.0.49",
		Mechanism: "a waiter that was woken and came too late is not woken again",
		Breaks:    []lockbench.Cell{lockbench.WakeUp.At(0)}, Scenario: "wait-both", change: func(a *parts) { a.wait, a.take, a.free = waitForNotice, takeNoticing, freeNoticing },
	},
	{
		Name: "waits-on", Seen: "waits in a goroutine of their own, which does not end with the call",
		Mechanism: "a wait goes on after its context has ended, and is granted the key for nobody",
		Breaks:    []lockbench.Cell{lockbench.Recovery.At(lockbench.Cancel)}, Scenario: "wait-both", change: func(a *parts) { a.wait = waitOn },
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

// The list beside a key has an element from a release until the next grant, unless a waiter takes it.
var (
	takeNoticingScript = redis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  redis.call('DEL', KEYS[1] .. ':freed')
  return redis.call('INCR', KEYS[2])
end
return 0`)
	freeNoticingScript = owned("redis.call('DEL', KEYS[1])\n  return redis.call('RPUSH', KEYS[1] .. ':freed', '1')")
)

func takeNoticing(ctx context.Context, h *hold) (bool, error) {
	return h.draw(ctx, takeNoticingScript, h.token, h.lease.Milliseconds())
}

func freeNoticing(ctx context.Context, h *hold) (bool, error) {
	return h.found(ctx, freeNoticingScript, h.token)
}

// waitForNotice tries, and tries again at the first notice or at the end of its wait.
func waitForNotice(ctx context.Context, h *hold) error {
	until := time.Now().Add(h.wait)
	granted, err := h.try(ctx)
	if granted || err != nil || h.wait <= 0 {
		return refusedUnless(granted, err)
	}
	err = h.client().BLPop(ctx, h.wait, h.name+":freed").Err()
	if err != nil && !errors.Is(err, redis.Nil) {
		return errors.Join(lockbench.ErrNoEffect, err)
	}
	if granted, err = h.try(ctx); !granted && err == nil && design.Sleep(ctx, time.Until(until)) != nil {
		err = errors.Join(lockbench.ErrNoEffect, ctx.Err())
	}
	return refusedUnless(granted, err)
}

// refusedUnless returns the error of an acquire if its last try had this result.
func refusedUnless(granted bool, err error) error {
	if !granted && err == nil {
		return lockbench.ErrNotAcquired
	}
	return err
}

// waitOn polls in the background, and returns at the end of ctx.
func waitOn(ctx context.Context, h *hold) error {
	p := h.owner.process
	if h.wait == 0 || !p.begin() {
		return poll(ctx, h)
	}
	over := make(chan error, 1)
	go func() {
		defer p.background.Done()
		over <- poll(p.ctx, h)
	}()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
