// Package redsync tests github.com/go-redsync/redsync/v4 on one server, by an adapter as its users would write it.
package redsync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

func TestExplore(t *testing.T) { locktest.Explore(t, newLocker) }

func newLocker(_ *testing.T, env locktest.Env) lockbench.Locker {
	return locker{redsync.New(goredis.NewPool(env.Redis))}
}

// TestWhole has only leases of whole milliseconds asked for: what the library makes of others shows in TestExplore.
func TestWhole(t *testing.T) {
	locktest.Explore(t, newLocker, locktest.WithLeaseUnit(time.Millisecond))
}

func TestRun(t *testing.T) {
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Getenv("LIBRARIES_REDIS")})
	t.Cleanup(func() { client.Close() })
	locktest.Run(t, func(*testing.T) lockbench.Locker { return locker{redsync.New(goredis.NewPool(client))} })
}

type locker struct{ redsync *redsync.Redsync }

func (l locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	mutex := l.redsync.NewMutex(key, redsync.WithExpiry(opt.TTL), redsync.WithTries(1))
	var taken *redsync.ErrTaken
	switch err := mutex.LockContext(ctx); {
	case err == nil:
		return lease{mutex}, nil
	case errors.As(err, &taken):
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
	default:
		return nil, err
	}
}

type lease struct{ mutex *redsync.Mutex }

func (l lease) Release(ctx context.Context) error {
	ok, err := l.mutex.UnlockContext(ctx)
	return told(ok, err)
}

func (l lease) Extend(ctx context.Context, ttl time.Duration) error {
	redsync.WithExpiry(ttl).Apply(l.mutex)
	ok, err := l.mutex.ExtendContext(ctx)
	return told(ok, err)
}

// told says what the library's answer to a release or an extend means.
func told(ok bool, err error) error {
	var taken *redsync.ErrTaken
	switch {
	case ok:
		return nil
	case err == nil, errors.As(err, &taken), errors.Is(err, redsync.ErrLockAlreadyExpired), errors.Is(err, redsync.ErrExtendFailed):
		return fmt.Errorf("%w: %v", lockbench.ErrNotHeld, err)
	}
	return err
}
