package servicetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// An access is one read or write of a guarded store, and whether it is admitted.
type access struct {
	write    bool
	by       lockbench.Standing
	version  uint64 // written, or to be read
	admitted bool
}

// Records tests records, with each guard. It calls open several times; the records that it returns are the
// same ones, and are closed.
func Records(t *testing.T, open func() design.Records) {
	t.Run("all guards", func(t *testing.T) { keepsTheSame(t, opened(t, open)) })
	t.Run("at the same time", func(t *testing.T) { admitsOne(t, opened(t, open)) })
	read := func(fence, version uint64, admitted bool) access {
		return access{false, lockbench.Standing{Fence: fence}, version, admitted}
	}
	write := func(fence, base, version uint64, admitted bool) access {
		return access{true, lockbench.Standing{Fence: fence, Base: base}, version, admitted}
	}
	for _, c := range []struct {
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
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, opened(t, open), c.name, c.guard, c.plays)
		})
	}
}

// opened returns the records, which t closes.
func opened(t *testing.T, open func() design.Records) design.Records {
	r := open()
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// play plays accesses to a record.
func play(t *testing.T, plain design.Records, key string, guard lockbench.Guard, plays []access) {
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

// admitsOne lets clients write at the same time on the version that all of them read: one is admitted.
func admitsOne(t *testing.T, plain design.Records) {
	store, err := plain.Guarded(lockbench.CompareGuard)
	if err != nil {
		t.Fatal(err)
	}
	var admitted atomic.Int64
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			err := store.(lockbench.GuardedStore).WriteGuarded(t.Context(), "contended", lockbench.Record{Version: uint64(i) + 1}, lockbench.Standing{})
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
}

// keepsTheSame checks that each kind of store reads the records that the others wrote.
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
