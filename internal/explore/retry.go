package explore

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench"
)

// A retryLocker repeats a call without an answer once, like a driver that takes a lost connection
// for a request that was not sent (the default of go-redis). The history has both attempts as one
// call.
type retryLocker struct{ inner lockbench.Locker }

// Acquire implements lockbench.Locker.
func (l retryLocker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := l.inner.Acquire(ctx, key, opt)
	if unanswered(ctx, err) {
		lease, err = l.inner.Acquire(ctx, key, opt)
	}
	if err != nil || lease == nil {
		return lease, err
	}
	return &retryLease{lockbench.Wrapped{Lease: lease}}, nil
}

type retryLease struct{ lockbench.Wrapped }

// Release implements lockbench.Lease.
func (l *retryLease) Release(ctx context.Context) error {
	err := l.Lease.Release(ctx)
	if unanswered(ctx, err) {
		err = l.Lease.Release(ctx)
	}
	return err
}

// unanswered reports whether err says nothing about the lock, and the call may be repeated.
func unanswered(ctx context.Context, err error) bool {
	for _, answer := range []error{lockbench.ErrNotAcquired, lockbench.ErrNotHeld, lockbench.ErrLate} {
		if errors.Is(err, answer) {
			return false
		}
	}
	return err != nil && ctx.Err() == nil
}
