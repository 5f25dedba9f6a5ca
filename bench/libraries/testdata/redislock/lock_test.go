// Package redislock tests github.com/bsm/redislock, by an adapter as its users would write it.
package redislock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

func TestExplore(t *testing.T) { locktest.Explore(t, newLocker) }

func newLocker(_ *testing.T, env locktest.Env) lockbench.Locker {
	return &locker{client: redislock.New(env.Redis), owner: env.Owner}
}

// TestWhole has only leases of whole milliseconds asked for: what the library makes of others shows in TestExplore.
func TestWhole(t *testing.T) {
	locktest.Explore(t, newLocker, locktest.WithLeaseUnit(time.Millisecond))
}

func TestRun(t *testing.T) {
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Getenv("LIBRARIES_REDIS")})
	t.Cleanup(func() { client.Close() })
	locktest.Run(t, func(*testing.T) lockbench.Locker { return &locker{client: redislock.New(client)} })
}

// A locker names its locks after their owner where that has a name.
type locker struct {
	client *redislock.Client
	owner  string
	locks  int
}

func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lock, err := l.client.Obtain(ctx, key, opt.TTL, &redislock.Options{Token: l.token()})
	if err != nil {
		return nil, told(err, lockbench.ErrNotAcquired)
	}
	return lease{lock}, nil
}

// token is another one each time. Of two owners, the one of either may begin that of the other.
func (l *locker) token() string {
	if l.owner == "" {
		return "" // the library makes one
	}
	l.locks++
	return fmt.Sprintf("%d/%s", l.locks, l.owner)
}

type lease struct{ lock *redislock.Lock }

func (l lease) Release(ctx context.Context) error {
	return told(l.lock.Release(ctx), lockbench.ErrNotHeld)
}

func (l lease) Extend(ctx context.Context, ttl time.Duration) error {
	return told(l.lock.Refresh(ctx, ttl, nil), lockbench.ErrNotHeld)
}

// told gives what the library says its meaning.
func told(err, meaning error) error {
	if errors.Is(err, redislock.ErrNotObtained) || errors.Is(err, redislock.ErrLockNotHeld) {
		return fmt.Errorf("%w: %w", meaning, err)
	}
	return err
}
