package design

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// Around returns inner with begin before each of its acquires, and before each release and extend of
// its leases. begin returns the context of the call, and end is called after it.
func Around(inner lockbench.Locker, begin func(context.Context) (calling context.Context, end func())) lockbench.Locker {
	return aroundLocker{inner, begin}
}

type aroundLocker struct {
	inner lockbench.Locker
	begin func(context.Context) (context.Context, func())
}

// Acquire implements lockbench.Locker.
func (l aroundLocker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	ctx, end := l.begin(ctx)
	defer end()
	lease, err := l.inner.Acquire(ctx, key, opt)
	if lease == nil || err != nil {
		return lease, err
	}
	return &aroundLease{lockbench.Wrapped{Lease: lease}, l.begin}, nil
}

type aroundLease struct {
	lockbench.Wrapped
	begin func(context.Context) (context.Context, func())
}

// Release implements lockbench.Lease.
func (l *aroundLease) Release(ctx context.Context) error {
	ctx, end := l.begin(ctx)
	defer end()
	return l.Lease.Release(ctx)
}

// ReleaseAfter implements lockbench.DelayedReleaser.
func (l *aroundLease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	ctx, end := l.begin(ctx)
	defer end()
	return l.Wrapped.ReleaseAfter(ctx, d)
}

// Extend implements lockbench.Extender.
func (l *aroundLease) Extend(ctx context.Context, ttl time.Duration) error {
	ctx, end := l.begin(ctx)
	defer end()
	return l.Wrapped.Extend(ctx, ttl)
}
