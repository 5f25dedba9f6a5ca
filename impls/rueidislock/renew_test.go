package rueidislock_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/designtest"
	"github.com/lockbench/lockbench/impls/rueidislock"
)

// A renewal is what an observer was told of one.
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

// TestRenewalsAreSeen: what the library does in the background is told as it comes about,
// and the owner is told of the loss of its keys.
func TestRenewalsAreSeen(t *testing.T) {
	for _, d := range rueidislock.Patient() {
		t.Run(d.Name, func(t *testing.T) {
			s := designtest.NewScene(t, d, designtest.Private(t, d), 1)
			seen := &observer{renewals: make(chan renewal, 1000)}
			const ttl = 400 * time.Millisecond
			const atOnce = 100 * time.Millisecond // keys are renewed one after another
			held, err := s.Open(s.Env).Locker(seen).Acquire(t.Context(), designtest.Key, lockbench.Options{TTL: ttl})
			if err != nil {
				t.Fatal(err)
			}
			w, _ := lockbench.Ability[lockbench.Watcher](held)
			for range 3 {
				select {
				case r := <-seen.renewals:
					if r.err != nil || r.granted <= 0 || r.granted > ttl+atOnce {
						t.Errorf("renewed for %v, error %v, want about %v at most", r.granted, r.err, ttl)
					}
				case <-w.Lost():
					t.Skip("the machine was too busy for it to be renewed in time")
				}
			}
			s.Expire()
			<-w.Lost()
			s.Want(held.Release(t.Context()), lockbench.ErrNotHeld)
		})
	}
}

// TestAWaitEnds: it is refused when it is over, and the library's lock does not end with
// the context of the acquire.
func TestAWaitEnds(t *testing.T) {
	for _, d := range rueidislock.Patient() {
		t.Run(d.Name, func(t *testing.T) {
			s := designtest.NewScene(t, d, designtest.Private(t, d), 2)
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
