package outside

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
	"github.com/redis/go-redis/v9"
)

type locker struct{ Mutex }

func (l locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	token, err := l.Lock(ctx, key, opt.TTL)
	if errors.Is(err, ErrTaken) {
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
	}
	return lease{l.Mutex, key, token}, err
}

type lease struct {
	Mutex
	key, token string
}

func (l lease) Release(ctx context.Context) error {
	err := l.Unlock(ctx, l.key, l.token)
	if errors.Is(err, ErrLost) {
		return fmt.Errorf("%w: %w", lockbench.ErrNotHeld, err)
	}
	return err
}

func TestSound(t *testing.T)      { tested(t, Sound) }
func TestPlainDel(t *testing.T)   { tested(t, PlainDel) }
func TestNoLease(t *testing.T)    { tested(t, NoLease) }
func TestSeconds(t *testing.T)    { tested(t, Seconds) }
func TestSilent(t *testing.T)     { tested(t, Silent) }
func TestGetThenSet(t *testing.T) { tested(t, GetThenSet) }

func tested(t *testing.T, lock func(*redis.Client) Mutex) {
	t.Run("Explore", func(t *testing.T) {
		locktest.Explore(t, func(_ *testing.T, env locktest.Env) lockbench.Locker { return locker{lock(env.Redis)} })
	})
	t.Run("Run", func(t *testing.T) {
		t.Parallel()
		client := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Getenv("REDIS_SOCKET")})
		t.Cleanup(func() { client.Close() })
		locktest.Run(t, func(*testing.T) lockbench.Locker { return locker{lock(client)} })
	})
}
