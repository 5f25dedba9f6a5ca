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
	h := &hold{seen: o.seen, key: key, validity: opt.TTL}
	life, end := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), holdKey{}, h))
	stay := context.AfterFunc(ctx, end)
	held, release, err := h.wait(life, end, l, opt.Wait)
	if cancelled := !stay(); cancelled && err == nil {
		release()
		err = ctx.Err()
	}
	if err != nil {
		end()
		return nil, err
	}
	return &grant{Validity: h.granted(), held: held, release: func() { release(); end() }}, nil
}

// wait tries once, or for as long as wait.
func (h *hold) wait(life context.Context, end func(), l locker, wait time.Duration) (context.Context, func(), error) {
	if wait == 0 {
		held, release, err := l.TryWithContext(life, h.key)
		return held, release, refusal(err)
	}
	timer := time.AfterFunc(wait, end)
	held, release, err := l.WithContext(life, h.key)
	if timer.Stop() {
		return held, release, refusal(err)
	}
	if err == nil { // granted at the last moment, and given up by its end
		release()
	}
	return nil, nil, h.refusal()
}

func refusal(err error) error {
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
	}
	return err
}

// A grant is a lock of the library: a context that ends when the lock is lost.
type grant struct {
	design.Validity
	held    context.Context
	release func()
}

// Lost implements lockbench.Watcher.
func (g *grant) Lost() <-chan struct{} { return g.held.Done() }

// Release implements lockbench.Lease. It waits until the library has removed the keys.
func (g *grant) Release(context.Context) error {
	lost := g.held.Err() != nil
	g.release()
	if lost {
		return lockbench.ErrNotHeld
	}
	return nil
}

// client is the library's connection, with observed commands.
type client struct{ *batching.Client }

// Do implements rueidis.Client.
func (c client) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	h, _ := ctx.Value(holdKey{}).(*hold)
	if h == nil { // the command releases a key
		return c.Client.Do(ctx, cmd)
	}
	answered := h.sending(cmd.Commands())
	result := c.Client.Do(ctx, cmd)
	answered(result)
	return result
}
