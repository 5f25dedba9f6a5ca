package backend_test

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

// forgetful is a service that keeps no records.
type forgetful struct{ design.Service }

// TestRecords tests the records of a private server, if there is one, of the embedded server, in memory
// and in a store of values.
func TestRecords(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) design.Service{
		"private":  func(t *testing.T) design.Service { return servertest.Start(t) },
		"embedded": startEmbedded,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			servicetest.Records(t, func() design.Records { return backend.RecordsOf(s, "p:") })
		})
	}
	t.Run("memory", func(t *testing.T) {
		all := backend.RecordsOf(forgetful{}, "p:")
		servicetest.Records(t, func() design.Records { return all })
	})
	t.Run("swapped", func(t *testing.T) {
		all := &values{of: map[string]value{}}
		servicetest.Records(t, func() design.Records { return backend.Swapped(all) })
	})
}

// values is a [backend.Swapper] in memory. Of the attempts to swap, every other one comes too late.
type values struct {
	mu    sync.Mutex
	of    map[string]value
	swaps int
}

type value struct {
	bytes    []byte
	revision int64
}

// Get implements [backend.Swapper].
func (v *values) Get(_ context.Context, key string) ([]byte, int64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.of[key].bytes, v.of[key].revision, nil
}

// Swap implements [backend.Swapper].
func (v *values) Swap(_ context.Context, key string, to []byte, revision int64) (bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.swaps++; v.swaps%2 == 1 {
		return false, nil
	}
	now := v.of[key]
	if now.revision != revision || bytes.Equal(now.bytes, to) {
		return false, nil
	}
	v.of[key] = value{to, revision + 1}
	return true, nil
}

// Close implements [backend.Swapper].
func (v *values) Close() error { return nil }

func startEmbedded(t *testing.T) design.Service {
	s, err := servers.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
