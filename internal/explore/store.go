package explore

import (
	"context"

	"github.com/lockbench/lockbench"
)

// An accessor is the access of an actor to the store. Each access is a step, which is made even if
// the context of the caller has ended.
type accessor struct {
	actor *actor
	store lockbench.Store
}

// Read implements lockbench.Store.
func (s accessor) Read(_ context.Context, key string) (lockbench.Record, error) {
	s.actor.park("read the record of "+key, true)
	return s.store.Read(context.Background(), key)
}

// Write implements lockbench.Store.
func (s accessor) Write(_ context.Context, key string, r lockbench.Record) error {
	s.actor.park("write the record of "+key, true)
	return s.store.Write(context.Background(), key, r)
}

// guardedAccessor is an accessor of a store behind a guard.
type guardedAccessor struct {
	accessor
	guarded lockbench.GuardedStore
}

// ReadGuarded implements lockbench.GuardedStore.
func (s guardedAccessor) ReadGuarded(_ context.Context, key string, fence uint64) (lockbench.Record, error) {
	s.actor.park("read the record of "+key, true)
	return s.guarded.ReadGuarded(context.Background(), key, fence)
}

// WriteGuarded implements lockbench.GuardedStore.
func (s guardedAccessor) WriteGuarded(_ context.Context, key string, r lockbench.Record, by lockbench.Standing) error {
	s.actor.park("write the record of "+key, true)
	return s.guarded.WriteGuarded(context.Background(), key, r, by)
}

// storeOf is the store for an actor.
func (w *world) storeOf(a *actor) lockbench.Store {
	one := accessor{a, w.guarded}
	if g, is := w.guarded.(lockbench.GuardedStore); is {
		return guardedAccessor{one, g}
	}
	return one
}
