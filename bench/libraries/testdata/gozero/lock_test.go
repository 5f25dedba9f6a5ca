// Package gozero tests the Redis lock of github.com/zeromicro/go-zero, by an adapter as its users would write it.
package gozero

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/zeromicro/go-zero/core/stores/redis"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

func TestRun(t *testing.T) {
	store := redis.MustNewRedis(redis.RedisConf{Host: os.Getenv("LIBRARIES_ADDRESS"), Type: redis.NodeType})
	locktest.Run(t, func(*testing.T) lockbench.Locker { return locker{store} }, locktest.WithLeaseUnit(time.Second))
}

type locker struct{ store *redis.Redis }

func (l locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lock := redis.NewRedisLock(l.store, key)
	lock.SetExpire(int(opt.TTL / time.Second))
	ok, err := lock.AcquireCtx(ctx)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, lockbench.ErrNotAcquired
	}
	return lease{lock}, nil
}

type lease struct{ lock *redis.RedisLock }

func (l lease) Release(ctx context.Context) error {
	ok, err := l.lock.ReleaseCtx(ctx)
	if err == nil && !ok {
		return lockbench.ErrNotHeld
	}
	return err
}
