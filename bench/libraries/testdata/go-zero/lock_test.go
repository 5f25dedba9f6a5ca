// Package gozero tests the lock of github.com/zeromicro/go-zero/core/stores/redis, by an adapter as its users would write it.
package gozero

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// TestRun: leases are whole seconds, as SetExpire takes them.
func TestRun(t *testing.T) {
	logx.Disable()
	store := redis.New(os.Getenv("LIBRARIES_REDIS"))
	locktest.Run(t, func(*testing.T) lockbench.Locker { return locker{store} }, locktest.WithLeaseUnit(time.Second))
}

type locker struct{ store *redis.Redis }

func (l locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lock := redis.NewRedisLock(l.store, key)
	lock.SetExpire(int(opt.TTL / time.Second))
	switch granted, err := lock.AcquireCtx(ctx); {
	case err != nil:
		return nil, err
	case !granted:
		return nil, lockbench.ErrNotAcquired
	}
	return lease{lock}, nil
}

type lease struct{ lock *redis.RedisLock }

func (l lease) Release(ctx context.Context) error {
	switch released, err := l.lock.ReleaseCtx(ctx); {
	case err != nil:
		return err
	case !released:
		return lockbench.ErrNotHeld
	}
	return nil
}
