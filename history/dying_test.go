package history

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/lockbench/lockbench"
)

// watchable is a lease that the test can lose.
type watchable struct{ lost chan struct{} }

func (w watchable) Lost() <-chan struct{}       { return w.lost }
func (watchable) Release(context.Context) error { return nil }
func (w watchable) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	return w, nil
}

// TestDyingReportsNoLoss: a notice of loss is recorded, unless the client is being ended.
func TestDyingReportsNoLoss(t *testing.T) {
	for dying, want := range map[bool]int{false: 1, true: 0} {
		synctest.Test(t, func(t *testing.T) {
			var file bytes.Buffer
			r, err := NewRecorder(&file, Header{Design: "d"})
			if err != nil {
				t.Fatal(err)
			}
			c, w := r.Client(1, 1), watchable{make(chan struct{})}
			if _, err := c.Locker(w).Acquire(t.Context(), "k", lockbench.Options{TTL: 1}); err != nil {
				t.Fatal(err)
			}
			if dying {
				c.Dying()
			}
			close(w.lost)
			synctest.Wait()
			c.Die("")
			if err := r.Close(Trailer{}); err != nil {
				t.Fatal(err)
			}
			src, err := NewSource(&file)
			if err != nil {
				t.Fatal(err)
			}
			losses, deaths := 0, 0
			for ev, err := range src.Events() {
				switch {
				case err != nil:
					t.Fatal(err)
				case ev.Op != nil && ev.Op.Kind == Lost:
					losses++
				case ev.Op != nil && ev.Op.Kind == Death:
					deaths++
				}
			}
			if losses != want || deaths == 0 {
				t.Errorf("dying %v: %d notices of loss, %d deaths, want %d and a death", dying, losses, deaths, want)
			}
		})
	}
}
