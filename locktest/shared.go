package locktest

import (
	"context"
	"sync"

	"github.com/lockbench/lockbench"
)

// memory is what the lock under test guards: records in memory, away from the
// service that the lock is on, so that this puts nobody's calls in order.
type memory struct {
	mu      sync.Mutex
	records map[string]lockbench.Record
}

// Read implements lockbench.Store.
func (m *memory) Read(_ context.Context, key string) (lockbench.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key], nil
}

// Write implements lockbench.Store.
func (m *memory) Write(_ context.Context, key string, r lockbench.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[key] = r
	return nil
}
