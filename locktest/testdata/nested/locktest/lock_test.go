package locktest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"example.org/stock"
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

func TestLock(t *testing.T) {
	locktest.Explore(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
		return locker{stock.Mutex{Client: env.Redis}}
	})
}

// A locker is the lock, as lockbench has them.
type locker struct{ stock.Mutex }

func (l locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	token, err := l.Lock(ctx, key, opt.TTL)
	if errors.Is(err, stock.ErrTaken) {
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
	}
	return lease{l.Mutex, key, token}, err
}

type lease struct {
	stock.Mutex
	key, token string
}

func (l lease) Release(ctx context.Context) error {
	err := l.Unlock(ctx, l.key, l.token)
	if errors.Is(err, stock.ErrLost) {
		return fmt.Errorf("%w: %w", lockbench.ErrNotHeld, err)
	}
	return err
}
