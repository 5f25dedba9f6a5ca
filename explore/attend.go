package explore

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// attended is a Locker whose calls the scheduler sees: it can end their contexts,
// and knows what the owner believes to hold.
type attended struct {
	actor *actor
	inner lockbench.Locker
}

// enter begins a call.
func (a *actor) enter(ctx context.Context) context.Context {
	a.call = call{under: true}
	if a.world.cancels {
		ctx, a.call.cancel = context.WithCancel(ctx)
	}
	return ctx
}

func (a *actor) leave() {
	a.world.turns.Load()
	if a.call.cancel != nil {
		a.call.cancel()
	}
	a.call = call{}
}

// Acquire implements lockbench.Locker.
func (l attended) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	a, begun := l.actor, time.Now()
	ctx = a.enter(ctx)
	inner, err := l.inner.Acquire(ctx, key, opt)
	a.leave()
	if inner == nil || err != nil {
		return inner, err
	}
	held := &attendedLease{actor: a, inner: inner, key: key}
	a.believe(key, inner, held.until(begun, opt.TTL))
	return held, nil
}

// attendedLease implements every ability and passes each on to the lease within.
type attendedLease struct {
	actor *actor
	inner lockbench.Lease
	key   string
}

// until is the end of validity of what was asked for at begun.
func (l *attendedLease) until(begun time.Time, ttl time.Duration) time.Time {
	if v, ok := lockbench.Ability[lockbench.Validator](l.inner); ok {
		if from, granted := v.Valid(); !from.IsZero() && !from.Before(begun) {
			return from.Add(granted)
		}
	}
	if granted := l.actor.world.cfg.Design.Granted; granted != nil {
		ttl = granted(ttl)
	}
	return begun.Add(ttl)
}

// Unwrap lets lockbench.Ability see what the lease within can do.
func (l *attendedLease) Unwrap() lockbench.Lease { return l.inner }

// Release implements lockbench.Lease.
func (l *attendedLease) Release(ctx context.Context) error {
	ctx = l.actor.enter(ctx)
	err := l.inner.Release(ctx)
	l.released(err)
	return err
}

func (l *attendedLease) released(err error) {
	l.actor.leave()
	if !errors.Is(err, lockbench.ErrNoEffect) {
		l.actor.doubt(l.key, errors.Is(err, lockbench.ErrNotHeld))
	}
}

var errNoAbility = errors.New("the lease cannot do this; hint: look for the ability with lockbench.Ability")

// ReleaseAfter implements lockbench.DelayedReleaser.
func (l *attendedLease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	inner, ok := lockbench.Ability[lockbench.DelayedReleaser](l.inner)
	if !ok {
		return errNoAbility
	}
	ctx = l.actor.enter(ctx)
	err := inner.ReleaseAfter(ctx, d)
	l.released(err)
	return err
}

// Extend implements lockbench.Extender.
func (l *attendedLease) Extend(ctx context.Context, ttl time.Duration) error {
	inner, ok := lockbench.Ability[lockbench.Extender](l.inner)
	if !ok {
		return errNoAbility
	}
	begun := time.Now()
	ctx = l.actor.enter(ctx)
	err := inner.Extend(ctx, ttl)
	l.actor.leave()
	switch {
	case err == nil:
		l.actor.prolong(l.key, l.until(begun, ttl))
	case errors.Is(err, lockbench.ErrNotHeld):
		l.actor.doubt(l.key, true)
	}
	return err
}

// TTL implements lockbench.TTLer.
func (l *attendedLease) TTL(ctx context.Context) (time.Duration, error) {
	inner, ok := lockbench.Ability[lockbench.TTLer](l.inner)
	if !ok {
		return 0, errNoAbility
	}
	return inner.TTL(ctx)
}

// Fence implements lockbench.Fencer.
func (l *attendedLease) Fence() uint64 {
	if inner, ok := lockbench.Ability[lockbench.Fencer](l.inner); ok {
		return inner.Fence()
	}
	return 0
}

// Lost implements lockbench.Watcher.
func (l *attendedLease) Lost() <-chan struct{} {
	if inner, ok := lockbench.Ability[lockbench.Watcher](l.inner); ok {
		return inner.Lost()
	}
	return nil
}

// Valid implements lockbench.Validator.
func (l *attendedLease) Valid() (from time.Time, granted time.Duration) {
	if inner, ok := lockbench.Ability[lockbench.Validator](l.inner); ok {
		return inner.Valid()
	}
	return time.Time{}, 0
}

// observed passes on what the design reports of one owner, and notes what a renewal
// makes of its hold.
type observed struct {
	design.Observer
	actor *actor
}

// Renewing implements design.Observer.
func (o observed) Renewing(key string) func(time.Duration, error) {
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

// store is the guarded record of each key, in memory. Each access is a step.
type store struct{ records map[string]lockbench.Record }

// accessor is the store as one actor reaches it.
type accessor struct {
	actor *actor
	store *store
}

// Read implements lockbench.Store.
func (s accessor) Read(_ context.Context, key string) (lockbench.Record, error) {
	s.actor.park("read the record of "+key, true)
	return s.store.records[key], nil
}

// Write implements lockbench.Store.
func (s accessor) Write(_ context.Context, key string, r lockbench.Record) error {
	s.actor.park("write the record of "+key, true)
	s.store.records[key] = r
	return nil
}
