package rueidislock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/rueidislock"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

// TestAReleaseWithoutAnswerFails checks that a release whose keys the library could not remove, of
// which the library says nothing, is an error rather than a success or a loss, and that the next
// lock of the same owner is released without one.
func TestAReleaseWithoutAnswerFails(t *testing.T) {
	for _, d := range rueidislock.Patient() {
		if d.Name == "rueidislock/tracking" {
			continue // it renews all the time, and would lose the answer to a renewal
		}
		t.Run(d.Name, func(t *testing.T) {
			s := designtest.NewScene(t, d, designtest.Private(t, d), 1)
			s.TTL = time.Minute
			l := s.Locker()
			s.Release(s.Acquire(l)) // the script is loaded

			held := s.Acquire(l)
			s.Gate.LoseReply("EVALSHA")
			err := held.Release(t.Context())
			if err == nil || errors.Is(err, lockbench.ErrNotHeld) {
				t.Errorf("release without an answer: %v, want an error of unknown outcome", err)
			}
			s.Expire()
			s.Release(s.Acquire(l))
		})
	}
}
