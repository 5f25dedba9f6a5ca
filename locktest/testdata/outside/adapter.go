package outside

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench"
)

// A Locker is the lock, as lockbench has them.
type Locker struct{ Mutex }

// Acquire implements lockbench.Locker.
func (l Locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
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

// Release implements lockbench.Lease.
func (l lease) Release(ctx context.Context) error {
	err := l.Unlock(ctx, l.key, l.token)
	if errors.Is(err, ErrLost) {
		return fmt.Errorf("%w: %w", lockbench.ErrNotHeld, err)
	}
	return err
}
