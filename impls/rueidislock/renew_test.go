package rueidislock_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/rueidislock"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

// A renewal is an observer's report of one.
type renewal struct {
	granted time.Duration
	err     error
}

// observer passes renewals on.
type observer struct {
	designtest.Attempts
	renewals chan renewal
}

func (o *observer) Renewing(string) func(time.Duration, error) {
	return func(granted time.Duration, err error) { o.renewals <- renewal{granted, err} }
}

// TestRenewalsAreSeen checks that the library's renewals in the background are reported as they
// occur, and that the owner is notified of the loss of its keys. Leases are longer on a machine
// that is too busy to renew short ones in time.
func TestRenewalsAreSeen(t *testing.T) {
	for _, d := range rueidislock.Patient() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			s := designtest.NewScene(t, d, designtest.Private(t, d), 1)
			for ttl := 400 * time.Millisecond; ; ttl *= 2 {
				if ttl > time.Minute {
					t.Fatalf("no lease was renewed three times, for about %v each", ttl/2)
				}
				if renewed(s, ttl) {
					return
				}
			}
		})
	}
}

// renewed waits for a lease to be renewed three times, and then for its owner to be told of
// its loss; false when it is lost before, or a renewal took long.
func renewed(s *designtest.Scene, ttl time.Duration) bool {
	seen := &observer{renewals: make(chan renewal, 1000)}
	held, err := s.Open(s.Env).Locker(seen).Acquire(s.Context(), designtest.Key, lockbench.Options{TTL: ttl})
	if err != nil {
		s.Fatal(err)
	}
	w, _ := lockbench.Ability[lockbench.Watcher](held)
	for range 3 {
		select {
		case r := <-seen.renewals:
			if r.err != nil || r.granted <= 0 || r.granted > ttl+ttl/4 { // keys are renewed one after another
				s.Logf("renewed for %v, error %v, want about %v at most", r.granted, r.err, ttl)
				s.Expire()
				return false
			}
		case <-w.Lost():
			return false
		}
	}
	s.Expire()
	<-w.Lost()
	s.Want(held.Release(s.Context()), lockbench.ErrNotHeld)
	return true
}

// TestAWaitEnds checks that a wait that is over is a refusal, and that the library's lock does not
// end with the context of the acquire.
func TestAWaitEnds(t *testing.T) {
	for _, d := range rueidislock.Patient() {
		t.Run(d.Name, func(t *testing.T) {
			s := designtest.NewScene(t, d, designtest.Private(t, d), 2)
			s.TTL = time.Minute
			held := s.Acquire(s.Locker())
			_, err := s.Locker().Acquire(t.Context(), designtest.Key, lockbench.Options{TTL: s.TTL, Wait: 50 * time.Millisecond})
			s.Want(err, lockbench.ErrNotAcquired)
			w, _ := lockbench.Ability[lockbench.Watcher](held)
			select {
			case <-w.Lost():
				t.Error("the holder lost its lock")
			default:
			}
			s.Release(held)
			if len(s.Keys()) != 0 {
				t.Errorf("keys left: %v", s.Keys())
			}
		})
	}
}

var _ design.Observer = (*observer)(nil)
