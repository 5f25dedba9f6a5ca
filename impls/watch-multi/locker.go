package watchmulti

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// The fields of a lock's hash, in the document's words.
const (
	fieldDaddy    = "daddy"    // the owner
	fieldExpireAt = "expireAt" // the end of its lease, by its clock
)

// turnPause is the document's pause between two turns of the loop.
const turnPause = 20 * time.Millisecond

// locker is one thread of a process, indistinguishable from the others.
type locker struct {
	process  *process
	observer design.Observer
}

// Acquire implements lockbench.Locker: the document's getLock, with the TTL for
// maxExecuteTime and the Wait for timeWait.
func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	if opt.TTL <= 0 {
		return nil, fmt.Errorf("lease of %v asked for: %w; hint: ask for more than 0s", opt.TTL, lockbench.ErrNoEffect)
	}
	env := l.process.env
	held := &lease{process: l.process, key: key, name: env.Prefix + "lock@" + key, granted: opt.TTL}
	until := env.Now().Add(opt.Wait)
	for {
		ours, err := l.turn(ctx, held, until)
		switch {
		case err != nil:
			return nil, fmt.Errorf("lock %q: %w", key, err)
		case ours:
			return held, nil
		case !env.Now().Before(until):
			return nil, fmt.Errorf("lock %q: %w", key, lockbench.ErrNotAcquired)
		}
		if err := sleep(ctx, turnPause); err != nil {
			return nil, fmt.Errorf("lock %q: %w", key, err)
		}
	}
}

// turn is one turn of the loop: the policy's look at the lease, the transaction,
// HSETNX if that did not get the lock, and the second step. After a look that
// slept the attempt begins anew, and the clock is read then.
func (l *locker) turn(ctx context.Context, held *lease, until time.Time) (ours bool, err error) {
	held.from = l.observer.Attempt(held.key)
	slept, err := l.process.policy(ctx, held, until)
	if err != nil {
		return false, err
	}
	if slept {
		held.from = l.observer.Attempt(held.key)
	}
	now := l.process.env.Now()
	ours, err = held.take(ctx, now)
	if err == nil && !ours {
		ours, err = held.claim(ctx)
	}
	if err != nil || !ours {
		return false, err
	}
	return true, held.secondStep(ctx, now.Add(held.granted))
}

// take gets the lock in a transaction if its lease is over and it is not ours
// already.
func (l *lease) take(ctx context.Context, now time.Time) (ours bool, err error) {
	return l.transaction(ctx, func(found state) change {
		if found.daddy == l.process.daddy || found.expireAt.After(now) {
			return nil
		}
		expireAt := now.Add(l.granted)
		return func(p redis.Pipeliner) {
			p.HSet(ctx, l.name, fieldDaddy, l.process.daddy, fieldExpireAt, formatSeconds(expireAt))
			p.ExpireAt(ctx, l.name, roundUp(expireAt))
		}
	})
}

// claim gets the lock if it has no owner, whatever its lease. That is the
// document's fault (a): until the second step the lease on the server may be
// over, and another's transaction takes the lock from us.
func (l *lease) claim(ctx context.Context) (ours bool, err error) {
	ours, err = l.process.client.HSetNX(ctx, l.name, fieldDaddy, l.process.daddy).Result()
	return ours, onredis.NoEffect(err)
}

// secondStep sets the lease of a lock that we believe to have, outside of any
// transaction, which is the document's fault (b).
func (l *lease) secondStep(ctx context.Context, expireAt time.Time) error {
	if err := l.process.client.HSet(ctx, l.name, fieldExpireAt, formatSeconds(expireAt)).Err(); err != nil {
		return err
	}
	return l.process.client.ExpireAt(ctx, l.name, roundUp(expireAt)).Err()
}
