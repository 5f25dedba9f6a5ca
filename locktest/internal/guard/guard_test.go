package guard

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
)

// stubborn is a lock that returns from Acquire when it is let, whatever its context.
type stubborn chan struct{}

func (s stubborn) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	<-s
	return nil, lockbench.ErrNotAcquired
}

// TestStandstill checks that a call whose context has ended is not taken to hang because the machine
// stands still for longer than the patience: in one of the steps of the wait, or in all but the last.
// A call that does not return in any step hangs.
func TestStandstill(t *testing.T) {
	for name, returns := range map[string]int{"in the first step": 1, "in the last step": steps, "never": steps + 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hangs := false
				lock := make(stubborn)
				g := New(lock, time.Second, func(error) { hangs = true })
				n := 0
				g.after = func(d time.Duration) <-chan time.Time {
					if n++; n == returns {
						close(lock)
						synctest.Wait()
					}
					return time.After(1000 * d)
				}
				_, err := g.Acquire(t.Context(), "k", lockbench.Options{})
				if want := returns > steps; hangs != want || (err == nil) {
					t.Errorf("got hangs %t, error %v; want hangs %t", hangs, err, want)
				}
				if returns > steps {
					close(lock)
				}
				g.Close()
			})
		})
	}
}
