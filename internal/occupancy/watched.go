package occupancy

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// watchedLease is a lease with a holder that the monitor watches.
type watchedLease struct {
	lockbench.Wrapped
	locker  *monitored
	holding *holding // shared by the leases of one nested hold
	own     holding  // memory for grip, if this lease was the first
}

func (l *watchedLease) Release(ctx context.Context) error {
	l.holding.site.leave(l.holding)
	return l.released(l.Lease.Release(ctx))
}

func (l *watchedLease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	if _, ok := lockbench.Ability[lockbench.DelayedReleaser](l.Lease); !ok {
		return l.Wrapped.ReleaseAfter(ctx, d)
	}
	l.holding.site.leave(l.holding)
	return l.released(l.Wrapped.ReleaseAfter(ctx, d))
}

// released enters again if this was an inner level of a hold that lasts.
func (l *watchedLease) released(err error) error {
	g := l.holding
	g.depth--
	if err == nil && g.depth > 0 {
		g.site.enter(g)
		return nil
	}
	l.locker.drop(g)
	return err
}

// Extend stays out during the call, and afterwards unless it certainly
// succeeded.
func (l *watchedLease) Extend(ctx context.Context, ttl time.Duration) error {
	if _, ok := lockbench.Ability[lockbench.Extender](l.Lease); !ok {
		return l.Wrapped.Extend(ctx, ttl)
	}
	g := l.holding
	g.site.leave(g)
	called := time.Since(l.locker.monitor.base)
	err := l.Wrapped.Extend(ctx, ttl)
	if err == nil {
		g.until = min(called+ttl, l.locker.until(l.Lease, called, lockbench.Options{TTL: ttl}))
		g.site.enter(g)
	}
	return err
}
