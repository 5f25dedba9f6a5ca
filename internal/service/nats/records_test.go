package nats_test

import (
	"errors"
	"testing"

	"github.com/lockbench/lockbench"
)

func record(value int64, version uint64) lockbench.Record {
	return lockbench.Record{Value: value, Version: version}
}

// TestGuards checks that a guarded store refuses what has been overtaken, and admits the rest.
func TestGuards(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		name     string
		guard    lockbench.Guard
		by       []lockbench.Standing // of writes of the versions 1<<63 + 1, 2 ...
		admitted []bool
	}{
		{"rising fences", lockbench.FenceGuard, []lockbench.Standing{{Fence: 1}, {Fence: 2}, {Fence: 2}}, []bool{true, true, true}},
		{"a lower fence", lockbench.FenceGuard, []lockbench.Standing{{Fence: 10}, {Fence: 9}, {Fence: 11}}, []bool{true, false, true}},
		{"versions", lockbench.CompareGuard, []lockbench.Standing{{}, {Base: 1<<63 + 1}, {Base: 1<<63 + 1}}, []bool{true, true, false}},
		{"no version", lockbench.CompareGuard, []lockbench.Standing{{Base: 5}, {}, {}}, []bool{false, true, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			records := s.Records("test:")
			defer records.Close()
			store, err := records.Guarded(c.guard)
			if err != nil {
				t.Fatal(err)
			}
			guarded := store.(lockbench.GuardedStore)
			var want lockbench.Record
			for i, by := range c.by {
				next := record(int64(-i), 1<<63+uint64(i)+1)
				err := guarded.WriteGuarded(t.Context(), c.name, next, by)
				if refused := errors.Is(err, lockbench.ErrStale) && errors.Is(err, lockbench.ErrNoEffect); refused == c.admitted[i] || !refused && err != nil {
					t.Errorf("write %d: %v, want admitted: %t", i+1, err, c.admitted[i])
				}
				if c.admitted[i] {
					want = next
				}
			}
			if got, err := guarded.Read(t.Context(), c.name); got != want || err != nil {
				t.Errorf("got %v, error %v, want %v", got, err, want)
			}
			if got, err := guarded.ReadGuarded(t.Context(), c.name, 20); got != want || err != nil {
				t.Errorf("guarded: got %v, error %v, want %v", got, err, want)
			}
			if c.guard != lockbench.FenceGuard {
				return
			}
			if _, err := guarded.ReadGuarded(t.Context(), c.name, 19); !errors.Is(err, lockbench.ErrStale) {
				t.Errorf("after fence 20: %v, want that 19 is refused", err)
			}
		})
	}
	if _, err := s.Records("test:").Guarded("moat"); err == nil {
		t.Error("a guard of no known name: no error")
	}
}
