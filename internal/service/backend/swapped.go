package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// A Swapper is a store of values that can be replaced if nobody else has replaced them. It is safe for
// concurrent use.
type Swapper interface {
	// Get returns the value of a key and its revision, which is zero if there is none.
	Get(ctx context.Context, key string) (value []byte, revision int64, err error)
	// Swap replaces the value of a key if its revision is still this one, and reports whether it was.
	// An error leaves the outcome unknown unless it wraps lockbench.ErrNoEffect.
	Swap(ctx context.Context, key string, value []byte, revision int64) (swapped bool, err error)
	Close() error
}

// Swapped returns records that are values of a store.
func Swapped(by Swapper) design.Records { return swapped{by} }

type swapped struct{ by Swapper }

// A stored record is one with the highest fence that was shown for it.
type stored struct {
	Value          int64
	Version, Fence uint64
}

func (s stored) record() lockbench.Record {
	return lockbench.Record{Value: s.Value, Version: s.Version}
}

// Close implements [design.Records].
func (r swapped) Close() error { return r.by.Close() }

// Read implements [lockbench.Store].
func (r swapped) Read(ctx context.Context, key string) (lockbench.Record, error) {
	now, _, err := r.get(ctx, key)
	if err != nil {
		return lockbench.Record{}, fmt.Errorf("read record of %q: %w", key, err)
	}
	return now.record(), nil
}

// get returns the stored record of a key. Its errors wrap lockbench.ErrNoEffect.
func (r swapped) get(ctx context.Context, key string) (now stored, revision int64, err error) {
	value, revision, err := r.by.Get(ctx, key)
	if err == nil && revision > 0 {
		err = json.Unmarshal(value, &now)
	}
	if err != nil && !errors.Is(err, lockbench.ErrNoEffect) {
		err = fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return now, revision, err
}

// update changes the stored record of a key by change, which may refuse. It returns the record.
func (r swapped) update(ctx context.Context, key string, change func(*stored) error) (lockbench.Record, error) {
	for {
		now, revision, err := r.get(ctx, key)
		if err != nil {
			return lockbench.Record{}, err
		}
		before := now
		if err := change(&now); err != nil {
			return lockbench.Record{}, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
		}
		if now == before {
			return now.record(), nil
		}
		value, err := json.Marshal(now)
		if err != nil {
			return lockbench.Record{}, err
		}
		done, err := r.by.Swap(ctx, key, value, revision)
		if done || err != nil {
			return now.record(), err
		}
	}
}

// write writes a record if guard permits it.
func (r swapped) write(ctx context.Context, key string, to lockbench.Record, guard func(*stored) error) error {
	_, err := r.update(ctx, key, func(now *stored) error {
		if err := guard(now); err != nil {
			return err
		}
		now.Value, now.Version = to.Value, to.Version
		return nil
	})
	return Writing(key, err)
}

// Write implements [lockbench.Store].
func (r swapped) Write(ctx context.Context, key string, to lockbench.Record) error {
	return r.write(ctx, key, to, func(*stored) error { return nil })
}

// Guarded implements [design.Records].
func (r swapped) Guarded(by lockbench.Guard) (lockbench.Store, error) {
	return design.ByGuard(by, r, fencedSwapped{r}, comparedSwapped{r})
}

// show returns a change that notes a fence, and refuses one that is lower than one shown before.
func show(fence uint64) func(*stored) error {
	return func(now *stored) error {
		if fence < now.Fence {
			return fmt.Errorf("%w: fence %d", lockbench.ErrStale, fence)
		}
		now.Fence = fence
		return nil
	}
}

type fencedSwapped struct{ swapped }

// ReadGuarded implements [lockbench.GuardedStore].
func (r fencedSwapped) ReadGuarded(ctx context.Context, key string, fence uint64) (lockbench.Record, error) {
	now, err := r.update(ctx, key, show(fence))
	return now, Reading(key, err)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r fencedSwapped) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	return r.write(ctx, key, to, show(by.Fence))
}

type comparedSwapped struct{ swapped }

// ReadGuarded implements [lockbench.GuardedStore].
func (r comparedSwapped) ReadGuarded(ctx context.Context, key string, _ uint64) (lockbench.Record, error) {
	return r.Read(ctx, key)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r comparedSwapped) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	return r.write(ctx, key, to, func(now *stored) error {
		if now.Version != by.Base {
			return fmt.Errorf("%w: version %d", lockbench.ErrStale, by.Base)
		}
		return nil
	})
}
