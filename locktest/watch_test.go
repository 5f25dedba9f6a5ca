package locktest

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// TestWaitingForAMutexIsSeen makes a goroutine of a bubble wait for a mutex.
func TestWaitingForAMutexIsSeen(t *testing.T) {
	if got := waiting(); len(got) > 0 {
		t.Fatalf("before: %q", got)
	}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		mu.Lock()
		var ended sync.WaitGroup
		ended.Go(func() { mu.Lock() })
		locked := map[string]int{}
		for range 2 {
			for len(waiting()) == 0 {
				runtime.Gosched()
			}
			locked = again(locked, waiting())
		}
		if len(locked) != 1 {
			t.Errorf("got %v, want one goroutine", locked)
		}
		for g, n := range locked {
			if n != 2 {
				t.Errorf("%s was seen %d times, want 2", g, n)
			}
		}
		mu.Unlock()
		ended.Wait()
	})
	if got := again(map[string]int{"goroutine 1": 3}, nil); len(got) > 0 {
		t.Errorf("what waits no more is still counted: %v", got)
	}
}
