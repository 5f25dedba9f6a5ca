package setnxgetset_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design/onredis"
	setnxgetset "github.com/lockbench/lockbench/impls/setnx-getset"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

// A fault is something that a document's design does wrong, shown one command at
// a time.
type fault struct {
	name string
	show func(*designtest.Scene, *designtest.Clock)
}

// noon is the time of clocks at the beginning of a scene, off a whole second if
// that matters.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// showAll plays every fault of the named design on every kind of server, each
// owner in a process of its own, all on one clock.
func showAll(t *testing.T, name string, faults []fault) {
	designtest.Each(t, func(t *testing.T, env onredis.Environment) {
		for _, d := range setnxgetset.Designs() {
			for _, f := range faults {
				if d.Name != name {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					clock := designtest.NewClock(noon)
					env.Now = clock.Now
					f.show(designtest.NewScene(t, d, env, 4), clock)
				})
			}
		}
	})
}

// stored returns the lock's value, and how long it has to live: -1 is for ever.
func stored(s *designtest.Scene) (string, time.Duration) {
	s.Helper()
	value, err := s.Admin.Get(s.Context(), s.Env.Prefix+designtest.Key).Result()
	if err != nil {
		s.Fatalf("read the lock's key: %v", err)
	}
	return value, s.Keys()[s.Env.Prefix+designtest.Key]
}

// store puts value in the lock's key, without expiry.
func store(s *designtest.Scene, value any) {
	s.Helper()
	if err := s.Admin.Set(s.Context(), s.Env.Prefix+designtest.Key, value, 0).Err(); err != nil {
		s.Fatalf("write the lock's key: %v", err)
	}
}

// immortal fails the test unless the lock's key is there for ever.
func immortal(s *designtest.Scene) {
	s.Helper()
	if _, left := stored(s); left != -1 {
		s.Errorf("the key has %v left, want no expiry", left)
	}
}

// unknown fails the test if err tells more than that something went wrong.
func unknown(s *designtest.Scene, err error) {
	s.Helper()
	for _, told := range []error{lockbench.ErrNotAcquired, lockbench.ErrNotHeld, lockbench.ErrNoEffect} {
		if err == nil || errors.Is(err, told) {
			s.Errorf("got error %v, want one that leaves the outcome unknown", err)
		}
	}
}

// plainDEL is the fault of every lock that is released by a DEL without a check.
func plainDEL(s *designtest.Scene, _ *designtest.Clock) {
	a, b, c := s.Locker(), s.Locker(), s.Locker()
	late := s.Acquire(a)
	s.Expire()
	s.Acquire(b)
	s.Release(late) // not told that it had lost the lock
	s.Acquire(c)    // beside b
}

func TestNaiveFaults(t *testing.T) {
	showAll(t, "setnx-getset/naive", []fault{
		{"dies between SETNX and EXPIRE: held for ever", func(s *designtest.Scene, _ *designtest.Clock) {
			a, b := s.Locker(), s.Locker()
			stop := s.Gate.Stop("EXPIRE")
			outcome := s.Begin(a)
			<-stop.Reached
			stop.Drop()
			unknown(s, (<-outcome).Err)
			immortal(s)
			s.Refused(b)
		}},
		{"loses the reply of SETNX: held for ever", func(s *designtest.Scene, _ *designtest.Clock) {
			a, b := s.Locker(), s.Locker()
			s.Gate.LoseReply("SETNX")
			unknown(s, (<-s.Begin(a)).Err)
			immortal(s)
			s.Refused(b)
		}},
		{"deletes the next holder's lock", plainDEL},
	})
}
