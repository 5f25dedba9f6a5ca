package occupancy

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// A watchedLease is a lease of an owner that the monitor watches.
type watchedLease struct {
	lockbench.Wrapped
	locker  *monitoredLocker
	holding *holding // shared by the leases of one nested hold
	own     holding  // memory for holding, if this is the first lease of the hold
}

func (l *watchedLease) Release(ctx context.Context) error {
	l.holding.section.leave(l.holding)
	return l.released(l.Lease.Release(ctx))
}

func (l *watchedLease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	if _, ok := lockbench.Ability[lockbench.DelayedReleaser](l.Lease); !ok {
		return l.Wrapped.ReleaseAfter(ctx, d)
	}
	l.holding.section.leave(l.holding)
	return l.released(l.Wrapped.ReleaseAfter(ctx, d))
}

// released enters again if an inner level of a nested hold was released.
func (l *watchedLease) released(err error) error {
	g := l.holding
	g.depth--
	if err == nil && g.depth > 0 {
		g.section.enter(g)
		return nil
	}
	l.locker.drop(g)
	return err
}

// Extend leaves the critical section during the call, and enters it again only if the call
// succeeded.
func (l *watchedLease) Extend(ctx context.Context, ttl time.Duration) error {
	if _, ok := lockbench.Ability[lockbench.Extender](l.Lease); !ok {
		return l.Wrapped.Extend(ctx, ttl)
	}
	g := l.holding
	g.section.leave(g)
	called := time.Since(l.locker.monitor.base)
	err := l.Wrapped.Extend(ctx, ttl)
	if err == nil {
		g.until = min(called+ttl, l.locker.until(l.Lease, called, lockbench.Options{TTL: ttl}))
		g.section.enter(g)
	}
	return err
}
