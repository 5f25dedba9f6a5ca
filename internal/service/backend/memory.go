package backend

import (
	"context"
	"fmt"
	"sync"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// Memory keeps records in the driver's own memory.
type Memory struct {
	mu      sync.Mutex
	records map[string]lockbench.Record
	fences  map[string]uint64 // the highest fence shown for each record
}

// NewMemory returns a Memory without records.
func NewMemory() *Memory {
	return &Memory{records: map[string]lockbench.Record{}, fences: map[string]uint64{}}
}

// Clear forgets all records and all fences.
func (m *Memory) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.records)
	clear(m.fences)
}

// Read implements [lockbench.Store].
func (m *Memory) Read(_ context.Context, key string) (lockbench.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key], nil
}

// Write implements [lockbench.Store].
func (m *Memory) Write(ctx context.Context, key string, r lockbench.Record) error {
	return m.update(ctx, key, r, func() error { return nil })
}

// update writes r unless ctx is over or a guard refuses it. The guard is called with m.mu
// held.
func (m *Memory) update(ctx context.Context, key string, r lockbench.Record, guard func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := ctx.Err()
	if err == nil {
		err = guard()
	}
	if err != nil {
		return fmt.Errorf("write record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
	}
	m.records[key] = r
	return nil
}

// Guarded implements [design.Records].
func (m *Memory) Guarded(by lockbench.Guard) (lockbench.Store, error) {
	return design.ByGuard(by, m, fencedMemory{m}, comparedMemory{m})
}

// Close implements [design.Records].
func (m *Memory) Close() error { return nil }

// show notes that a fence was shown for a record, and refuses it if a higher one was shown
// before. The caller holds m.mu.
func (m *Memory) show(key string, fence uint64) error {
	if fence < m.fences[key] {
		return fmt.Errorf("%w: fence %d", lockbench.ErrStale, fence)
	}
	m.fences[key] = fence
	return nil
}

type fencedMemory struct{ *Memory }

// ReadGuarded implements [lockbench.GuardedStore].
func (m fencedMemory) ReadGuarded(_ context.Context, key string, fence uint64) (lockbench.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.show(key, fence); err != nil {
		return lockbench.Record{}, fmt.Errorf("read record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
	}
	return m.records[key], nil
}

// WriteGuarded implements [lockbench.GuardedStore].
func (m fencedMemory) WriteGuarded(ctx context.Context, key string, r lockbench.Record, by lockbench.Standing) error {
	return m.update(ctx, key, r, func() error { return m.show(key, by.Fence) })
}

type comparedMemory struct{ *Memory }

// ReadGuarded implements [lockbench.GuardedStore].
func (m comparedMemory) ReadGuarded(ctx context.Context, key string, _ uint64) (lockbench.Record, error) {
	return m.Read(ctx, key)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (m comparedMemory) WriteGuarded(ctx context.Context, key string, r lockbench.Record, by lockbench.Standing) error {
	return m.update(ctx, key, r, func() error {
		if m.records[key].Version != by.Base {
			return fmt.Errorf("%w: version %d", lockbench.ErrStale, by.Base)
		}
		return nil
	})
}
