package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bsm/redislock"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// The adapter of github.com/bsm/redislock, as its users would write it. TestOlderRedislock
// copies this file into a module with an older version.

func newRedislock(_ *testing.T, env locktest.Env) lockbench.Locker {
	return redislockLocker{redislock.New(env.Redis)}
}

type redislockLocker struct{ client *redislock.Client }

func (l redislockLocker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lock, err := l.client.Obtain(ctx, key, wholeMillis(opt.TTL), &redislock.Options{Metadata: opt.Metadata})
	if err != nil {
		return nil, told(err, redislock.ErrNotObtained, lockbench.ErrNotAcquired)
	}
	return redislockLease{lock}, nil
}

type redislockLease struct{ lock *redislock.Lock }

func (l redislockLease) Release(ctx context.Context) error {
	return told(l.lock.Release(ctx), redislock.ErrLockNotHeld, lockbench.ErrNotHeld)
}

func (l redislockLease) Extend(ctx context.Context, ttl time.Duration) error {
	return told(l.lock.Refresh(ctx, wholeMillis(ttl), nil), redislock.ErrNotObtained, lockbench.ErrNotHeld)
}

func (l redislockLease) TTL(ctx context.Context) (time.Duration, error) { return l.lock.TTL(ctx) }

// wholeMillis rounds ttl up to a whole millisecond, since the library cuts off fractions.
func wholeMillis(ttl time.Duration) time.Duration {
	return (ttl + time.Millisecond - 1).Truncate(time.Millisecond)
}

// told gives err the contract's meaning if it is the library's error theirs.
func told(err, theirs, meaning error) error {
	if errors.Is(err, theirs) {
		return fmt.Errorf("%w: %w", meaning, err)
	}
	return err
}
