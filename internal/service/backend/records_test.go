package backend_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/etcd"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// An access is one read or write of a guarded store, and whether it is admitted.
type access struct {
	write    bool
	by       lockbench.Standing
	version  uint64 // written, or to be read
	admitted bool
}

func TestGuards(t *testing.T) {
	read := func(fence, version uint64, admitted bool) access {
		return access{false, lockbench.Standing{Fence: fence}, version, admitted}
	}
	write := func(fence, base, version uint64, admitted bool) access {
		return access{true, lockbench.Standing{Fence: fence, Base: base}, version, admitted}
	}
	cases := []struct {
		name  string
		guard lockbench.Guard
		plays []access
	}{
		{"rising fences", lockbench.FenceGuard, []access{
			write(0, 0, 1, true), read(1, 1, true), write(1, 1, 2, true), write(1, 2, 3, true), read(2, 3, true), write(2, 3, 4, true)}},
		{"a lower fence", lockbench.FenceGuard, []access{
			write(7, 0, 1, true), write(6, 1, 2, false), read(6, 0, false), write(0, 1, 2, false), read(7, 1, true)}},
		{"a lower fence after a read alone", lockbench.FenceGuard, []access{
			read(1, 0, true), read(2, 0, true), write(1, 0, 1, false), write(2, 0, 2, true), read(3, 2, true)}},
		{"fences as numbers, not as text", lockbench.FenceGuard, []access{
			write(9, 0, 1, true), write(10, 1, 2, true), write(9, 2, 3, false)}},
		{"large fences", lockbench.FenceGuard, []access{
			write(1<<53-1, 0, 1, true), write(1<<53-2, 1, 2, false)}},
		{"the version read", lockbench.CompareGuard, []access{
			write(0, 0, 1, true), write(0, 1, 1<<63+1, true), write(0, 1, 3, false), write(0, 1<<63+1, 4, true), read(0, 4, true)}},
		{"neighbouring versions that a float has as one", lockbench.CompareGuard, []access{
			write(0, 0, 1<<60, true), write(0, 1<<60+1, 5, false), write(0, 1<<60, 6, true)}},
		{"a record that came meanwhile", lockbench.CompareGuard, []access{
			write(0, 0, 1, true), write(0, 0, 2, false)}},
		{"a version where there is no record", lockbench.CompareGuard, []access{
			write(0, 5, 1, false), write(0, 0, 2, true), read(0, 2, true)}},
	}
	eachRecords(t, func(t *testing.T, plain design.Records) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) { playGuarded(t, plain, c.guard, c.name, c.plays) })
		}
	})
}

// forgetful is a service that keeps no records.
type forgetful struct{ design.Service }

// eachRecords runs test with the records of private servers, of those that are installed, of the
// embedded server, and in memory.
func eachRecords(t *testing.T, test func(*testing.T, design.Records)) {
	for name, start := range map[string]func(t *testing.T) design.Service{
		"redis":    func(t *testing.T) design.Service { return servertest.Start(t) },
		"etcd":     func(t *testing.T) design.Service { return startPrivate(t, etcd.Backend{}) },
		"postgres": func(t *testing.T) design.Service { return startPrivate(t, postgres.Backend{}) },
		"embedded": startEmbedded,
		"memory":   func(*testing.T) design.Service { return forgetful{} },
	} {
		t.Run(name, func(t *testing.T) {
			plain := backend.RecordsOf(start(t), "p:")
			defer plain.Close()
			test(t, plain)
		})
	}
}

func startPrivate(t *testing.T, b design.Backend) design.Service {
	all, err := b.Open(t.Context(), nil, 1)
	servertest.Need(t, err)
	t.Cleanup(func() { _ = all[0].Close() })
	return all[0]
}

func startEmbedded(t *testing.T) design.Service {
	s, err := servers.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func playGuarded(t *testing.T, plain design.Records, guard lockbench.Guard, key string, plays []access) {
	guarded, err := plain.Guarded(guard)
	if err != nil {
		t.Fatal(err)
	}
	store := guarded.(lockbench.GuardedStore)
	for i, a := range plays {
		var err error
		var got lockbench.Record
		if a.write {
			err = store.WriteGuarded(t.Context(), key, lockbench.Record{Value: -3, Version: a.version}, a.by)
		} else {
			got, err = store.ReadGuarded(t.Context(), key, a.by.Fence)
		}
		if refused := errors.Is(err, lockbench.ErrStale) && errors.Is(err, lockbench.ErrNoEffect); refused == a.admitted || !refused && err != nil {
			t.Errorf("access %d: %v, want admitted: %v", i+1, err, a.admitted)
		}
		if !a.write && a.admitted && got.Version != a.version {
			t.Errorf("access %d: read version %d, want %d", i+1, got.Version, a.version)
		}
	}
}

// TestGuardsAreAtomic lets clients write at the same time on the version that all of them read: one is
// admitted.
func TestGuardsAreAtomic(t *testing.T) {
	eachRecords(t, func(t *testing.T, plain design.Records) {
		store, err := plain.Guarded(lockbench.CompareGuard)
		if err != nil {
			t.Fatal(err)
		}
		var admitted atomic.Int64
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() {
				err := store.(lockbench.GuardedStore).WriteGuarded(t.Context(), "k", lockbench.Record{Version: uint64(i) + 1}, lockbench.Standing{})
				if err == nil {
					admitted.Add(1)
				} else if !errors.Is(err, lockbench.ErrStale) {
					t.Error(err)
				}
			})
		}
		clients.Wait()
		if n := admitted.Load(); n != 1 {
			t.Errorf("%d clients were admitted, want 1", n)
		}
	})
}

// TestGuardsKeepTheSameRecords checks that each kind of store reads the records that the
// others wrote.
func TestGuardsKeepTheSameRecords(t *testing.T) {
	eachRecords(t, keepsTheSame)
}

func keepsTheSame(t *testing.T, plain design.Records) {
	want := lockbench.Record{Value: 12, Version: 3}
	if err := plain.Write(t.Context(), "k", want); err != nil {
		t.Fatal(err)
	}
	for _, guard := range lockbench.Guards() {
		store, err := plain.Guarded(guard)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := store.Read(t.Context(), "k"); err != nil || cmp.Diff(got, want) != "" {
			t.Errorf("%s: got %v, error %v, want %v", guard, got, err, want)
		}
		if _, is := store.(lockbench.GuardedStore); is != (guard != lockbench.NoGuard) {
			t.Errorf("%s: a guarded store: %v", guard, is)
		}
	}
	if _, err := plain.Guarded("moat"); err == nil {
		t.Error("a guard of no known name: no error")
	}
}
