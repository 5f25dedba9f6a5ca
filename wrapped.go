package lockbench

import (
	"context"
	"errors"
	"time"
)

// errNoAbility is returned by a call of an ability that [Ability] does not report.
var errNoAbility = errors.New("the lease cannot do this; hint: look for the ability with lockbench.Ability")

// Wrapped is the inner lease of a decorator of leases: the decorator embeds it and
// overrides some methods; all others pass calls on. [Ability] reports the abilities
// of the inner lease; calling one that it lacks returns an error or the zero value.
type Wrapped struct{ Lease }

// Unwrap returns the inner lease.
func (w *Wrapped) Unwrap() Lease { return w.Lease }

// Extend implements [Extender].
func (w *Wrapped) Extend(ctx context.Context, ttl time.Duration) error {
	if inner, ok := w.Lease.(Extender); ok {
		return inner.Extend(ctx, ttl)
	}
	return errNoAbility
}

// TTL implements [TTLer].
func (w *Wrapped) TTL(ctx context.Context) (time.Duration, error) {
	if inner, ok := w.Lease.(TTLer); ok {
		return inner.TTL(ctx)
	}
	return 0, errNoAbility
}

// Fence implements [Fencer].
func (w *Wrapped) Fence() uint64 {
	if inner, ok := w.Lease.(Fencer); ok {
		return inner.Fence()
	}
	return 0
}

// Lost implements [Watcher].
func (w *Wrapped) Lost() <-chan struct{} {
	if inner, ok := w.Lease.(Watcher); ok {
		return inner.Lost()
	}
	return nil
}

// Valid implements [Validator].
func (w *Wrapped) Valid() (from time.Time, granted time.Duration) {
	if inner, ok := w.Lease.(Validator); ok {
		return inner.Valid()
	}
	return time.Time{}, 0
}

// ReleaseAfter implements [DelayedReleaser].
func (w *Wrapped) ReleaseAfter(ctx context.Context, d time.Duration) error {
	if inner, ok := w.Lease.(DelayedReleaser); ok {
		return inner.ReleaseAfter(ctx, d)
	}
	return errNoAbility
}
