package locktest

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestWaitingForAMutexIsSeen makes a goroutine of a bubble wait for a mutex, first while another one
// goes on, and then while all wait.
func TestWaitingForAMutexIsSeen(t *testing.T) {
	if got, busy := waiting(); len(got) > 0 || busy {
		t.Fatalf("before: %q, busy: %t", got, busy)
	}
	var mu sync.Mutex
	mu.Lock()
	var idle atomic.Bool
	var outside sync.WaitGroup
	outside.Go(func() {
		defer mu.Unlock()
		defer idle.Store(true)
		for waiters := 0; waiters == 0; runtime.Gosched() {
			got, busy := waiting()
			waiters = len(got)
			if waiters > 0 && !busy {
				t.Error("a goroutine that goes on is not seen")
			}
		}
		idle.Store(true)
		locked := map[string]int{}
		for range 2 {
			got, busy := waiting()
			for len(got) == 0 || busy {
				runtime.Gosched()
				got, busy = waiting()
			}
			locked = again(locked, got)
		}
		if counts := slices.Collect(maps.Values(locked)); !slices.Equal(counts, []int{2}) {
			t.Errorf("got %v, want one goroutine, seen twice", locked)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var ended sync.WaitGroup
		ended.Go(func() {
			mu.Lock()
			defer mu.Unlock()
		})
		for !idle.Load() {
			runtime.Gosched()
		}
		ended.Wait()
	})
	outside.Wait()
	if got := again(map[string]int{"goroutine 1": 3}, nil); len(got) > 0 {
		t.Errorf("what waits no more is still counted: %v", got)
	}
}
