package explore

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// A trackedLocker is a Locker that reports its calls to the scheduler. So the scheduler can end
// their contexts, and learns when the owner believes to hold a lock.
type trackedLocker struct {
	actor *actor
	inner lockbench.Locker
}

// enter begins a call that asks for a lease of ttl, or for none.
func (a *actor) enter(ctx context.Context, ttl time.Duration) context.Context {
	a.world.count.Load()
	a.call, a.asked = call{inCall: true}, ttl
	if a.world.cancels {
		ctx, a.call.cancel = context.WithCancel(ctx)
	}
	return ctx
}

func (a *actor) leave() {
	a.world.count.Load()
	if a.call.cancel != nil {
		a.call.cancel()
	}
	a.call = call{}
}

// Acquire implements lockbench.Locker.
func (l trackedLocker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	a, begun := l.actor, time.Now()
	ctx = a.enter(ctx, opt.TTL)
	inner, err := l.inner.Acquire(ctx, key, opt)
	a.leave()
	if inner == nil || err != nil {
		return inner, err
	}
	held := &trackedLease{lockbench.Wrapped{Lease: inner}, a, key}
	a.believe(key, inner, held.until(begun, opt.TTL))
	return held, nil
}

// trackedLease is a grant to a tracked owner.
type trackedLease struct {
	lockbench.Wrapped
	actor *actor
	key   string
}

// until returns the end of validity of a lease that was requested at begun.
func (l *trackedLease) until(begun time.Time, ttl time.Duration) time.Time {
	if v, ok := lockbench.Ability[lockbench.Validator](l.Lease); ok {
		if from, granted := v.Valid(); !from.IsZero() && !from.Before(begun) {
			return from.Add(granted)
		}
	}
	if granted := l.actor.world.cfg.Design.Granted; granted != nil {
		ttl = granted(ttl)
	}
	return begun.Add(ttl)
}

// Release implements lockbench.Lease.
func (l *trackedLease) Release(ctx context.Context) error {
	ctx = l.actor.enter(ctx, 0)
	err := l.Lease.Release(ctx)
	l.released(err)
	return err
}

func (l *trackedLease) released(err error) {
	l.actor.leave()
	if !errors.Is(err, lockbench.ErrNoEffect) {
		l.actor.doubt(l.key, errors.Is(err, lockbench.ErrNotHeld))
	}
}

// ReleaseAfter implements lockbench.DelayedReleaser.
func (l *trackedLease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	ctx = l.actor.enter(ctx, 0)
	err := l.Wrapped.ReleaseAfter(ctx, d)
	l.released(err)
	return err
}

// Extend implements lockbench.Extender.
func (l *trackedLease) Extend(ctx context.Context, ttl time.Duration) error {
	begun := time.Now()
	ctx = l.actor.enter(ctx, ttl)
	err := l.Wrapped.Extend(ctx, ttl)
	l.actor.leave()
	switch {
	case err == nil:
		l.actor.prolong(l.key, l.until(begun, ttl))
	case errors.Is(err, lockbench.ErrNotHeld):
		l.actor.doubt(l.key, true)
	}
	return err
}

// endIfOverdue ends the context of the current call, if it is to be over before the call. The record
// has begun the call by then, so that the end of the context is on record within it.
func (a *actor) endIfOverdue(ctx context.Context) (context.Context, func()) {
	if a.overdue {
		a.overdue = false
		a.world.endContext(a)
	}
	return ctx, func() {}
}

// A beliefObserver passes on the design's reports about one owner, and updates the owner's beliefs
// after renewals.
type beliefObserver struct {
	design.Observer
	actor *actor
}

// Renewing implements design.Observer.
func (o beliefObserver) Renewing(key string) func(time.Duration, error) {
	begun := time.Now()
	done := o.Observer.Renewing(key)
	return func(granted time.Duration, err error) {
		done(granted, err)
		switch {
		case err == nil && granted > 0:
			o.actor.prolong(key, begun.Add(granted))
		case errors.Is(err, lockbench.ErrNotHeld):
			o.actor.doubt(key, true)
		}
	}
}
