package rueidislock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/internal/batching"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// owner is one user of the process's Lockers.
type owner struct {
	*process
	seen design.Observer
}

// Acquire implements lockbench.Locker. The context of the library's lock is the lock: it
// must not end with ctx, which is for the acquire alone, nor have a deadline, which would
// shorten the lease.
func (o *owner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	l, err := o.locker(opt.TTL)
	if err != nil {
		return nil, err
	}
	h := &hold{process: o.process, seen: o.seen, key: key, validity: opt.TTL}
	life, end := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), holdKey{}, h))
	stay := context.AfterFunc(ctx, end)
	held, release, err := h.wait(life, end, l, opt.Wait)
	if cancelled := !stay(); cancelled && err == nil {
		release()
		err = ctx.Err()
	}
	if err != nil {
		end()
		h.forget()
		return nil, err
	}
	return &grant{Validity: h.granted(), hold: h, held: held, release: func() { release(); end() }}, nil
}

// wait tries once, or for as long as wait.
func (h *hold) wait(life context.Context, end func(), l locker, wait time.Duration) (context.Context, func(), error) {
	if wait == 0 {
		held, release, err := l.TryWithContext(life, h.key)
		return held, release, h.outcome(err)
	}
	timer := time.AfterFunc(wait, end)
	held, release, err := l.WithContext(life, h.key)
	if timer.Stop() {
		return held, release, h.outcome(err)
	}
	if err == nil { // granted at the last moment, and given up by its end
		release()
	}
	return nil, nil, h.refusal()
}

// outcome returns the error of an acquire that ended by itself, given the library's.
func (h *hold) outcome(err error) error {
	if !errors.Is(err, rueidislock.ErrNotLocked) {
		return err
	}
	if left := h.leftovers(); left != nil {
		return left
	}
	return fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
}

// A grant is a lock of the library: a context that ends when the lock is lost.
type grant struct {
	design.Validity
	hold    *hold
	held    context.Context
	release func()
}

// Lost implements lockbench.Watcher.
func (g *grant) Lost() <-chan struct{} { return g.held.Done() }

// Release implements lockbench.Lease. It waits until the library has tried to remove the keys, and
// fails if the server did not answer that, of which the library says nothing.
func (g *grant) Release(context.Context) error {
	lost := g.held.Err() != nil
	g.release()
	g.hold.forget()
	if lost {
		return lockbench.ErrNotHeld
	}
	return g.hold.leftovers()
}

// client is the library's connection, with observed commands.
type client struct {
	*batching.Client
	process *process
}

// Do implements rueidis.Client.
func (c client) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	answered := func(rueidis.RedisResult) {}
	if h, _ := ctx.Value(holdKey{}).(*hold); h != nil {
		answered = h.sending(cmd.Commands())
	} else if h := c.process.removes(cmd.Commands()); h != nil {
		answered = h.removed
	}
	result := c.Client.Do(ctx, cmd)
	answered(result)
	return result
}
