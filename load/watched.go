package load

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
)

// errNoAbility answers a call that [lockbench.Ability] would have kept back.
var errNoAbility = errors.New("the lease cannot do this; hint: look for the ability with lockbench.Ability")

// watchedLease is a lease whose holder the witness watches. It implements every
// ability and passes each on.
type watchedLease struct {
	locker *witnessed
	inner  lockbench.Lease
	grip   *grip // shared by the leases of one nested hold
	own    grip  // the memory of it, when this lease was the first
}

// Unwrap lets lockbench.Ability see what the lease within can do.
func (l *watchedLease) Unwrap() lockbench.Lease { return l.inner }

func (l *watchedLease) Release(ctx context.Context) error {
	l.grip.site.leave(l.grip)
	return l.released(l.inner.Release(ctx))
}

func (l *watchedLease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	inner, ok := lockbench.Ability[lockbench.DelayedReleaser](l.inner)
	if !ok {
		return errNoAbility
	}
	l.grip.site.leave(l.grip)
	return l.released(inner.ReleaseAfter(ctx, d))
}

// released goes in again when this was an inner level of a hold that lasts.
func (l *watchedLease) released(err error) error {
	g := l.grip
	g.depth--
	if err == nil && g.depth > 0 {
		g.site.enter(g)
		return nil
	}
	l.locker.drop(g)
	return err
}

// Extend stays out during the call, and after it unless it certainly succeeded.
func (l *watchedLease) Extend(ctx context.Context, ttl time.Duration) error {
	inner, ok := lockbench.Ability[lockbench.Extender](l.inner)
	if !ok {
		return errNoAbility
	}
	g := l.grip
	g.site.leave(g)
	called := time.Since(l.locker.witness.base)
	err := inner.Extend(ctx, ttl)
	if err == nil {
		g.until = min(called+ttl, l.locker.until(l.inner, called, lockbench.Options{TTL: ttl}))
		l.locker.enter(g)
	}
	return err
}

func (l *watchedLease) TTL(ctx context.Context) (time.Duration, error) {
	if inner, ok := lockbench.Ability[lockbench.TTLer](l.inner); ok {
		return inner.TTL(ctx)
	}
	return 0, errNoAbility
}

func (l *watchedLease) Fence() uint64 {
	if inner, ok := lockbench.Ability[lockbench.Fencer](l.inner); ok {
		return inner.Fence()
	}
	return 0
}

func (l *watchedLease) Valid() (from time.Time, granted time.Duration) {
	if inner, ok := lockbench.Ability[lockbench.Validator](l.inner); ok {
		return inner.Valid()
	}
	return time.Time{}, 0
}

func (l *watchedLease) Lost() <-chan struct{} {
	if inner, ok := lockbench.Ability[lockbench.Watcher](l.inner); ok {
		return inner.Lost()
	}
	return nil
}
