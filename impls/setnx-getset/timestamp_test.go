package setnxgetset_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

// almost is just short of a second: clocks show whole seconds to this design.
const almost = 999 * time.Millisecond

func stamp(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func TestTimestampFaults(t *testing.T) {
	const lease = 10 * time.Second
	showAll(t, "setnx-getset/timestamp", []fault{
		{"stolen almost a second before the lease ends", func(s *designtest.Scene, clock *designtest.Clock) {
			s.TTL = lease
			clock.Advance(almost)
			s.Acquire(s.Locker())
			clock.Advance(lease - time.Second)
			s.Refused(s.Locker())
			clock.Advance(time.Millisecond) // 999 ms of the lease are left
			s.Acquire(s.Locker())
		}},
		{"cannot be released in the last second, and the owner is told that it lost", func(s *designtest.Scene, clock *designtest.Clock) {
			s.TTL = lease
			clock.Advance(almost)
			held := s.Acquire(s.Locker())
			clock.Advance(lease - almost)
			s.Want(held.Release(s.Context()), lockbench.ErrNotHeld)
			if got, _ := stored(s); got != stamp(noon) {
				s.Errorf("value %q, want the owner's stamp %q", got, stamp(noon))
			}
		}},
		{"a late GETSET stamps an older time, a third steals", func(s *designtest.Scene, clock *designtest.Clock) {
			s.TTL = lease
			loser, winner, third := s.Locker(), s.Locker(), s.Locker()
			store(s, stamp(noon.Add(-lease)))
			stop := s.Gate.Stop("GETSET")
			outcome := s.Begin(loser) // has read its clock
			<-stop.Reached
			clock.Advance(5 * time.Second)
			s.Acquire(winner)
			stop.Go()
			s.Want((<-outcome).Err, lockbench.ErrNotAcquired)
			immortal(s)
			clock.Advance(lease - 5*time.Second)
			s.Acquire(third) // 5 s of the winner's lease are left
		}},
		{"GET-then-DEL deletes another's fresh lock and reports success", func(s *designtest.Scene, _ *designtest.Clock) {
			a, b, c := s.Locker(), s.Locker(), s.Locker()
			late := s.Acquire(a)
			stop := s.Gate.Stop("DEL")
			released := make(chan error, 1)
			go func() { released <- late.Release(s.Context()) }()
			<-stop.Reached
			s.Expire()
			s.Acquire(b)
			stop.Go()
			s.Want(<-released, nil)
			s.Acquire(c) // beside b
		}},
		{"a release knows no owner", plainDEL},
		{"a clock ahead steals a live lock", func(s *designtest.Scene, clock *designtest.Clock) {
			s.Acquire(s.Locker())
			clock.Advance(s.TTL) // the server's stands still
			s.Acquire(s.Locker())
		}},
	})
}

func TestTimestampIsNotToBlameFor(t *testing.T) {
	showAll(t, "setnx-getset/timestamp", []fault{
		{"dying before EXPIRE", func(s *designtest.Scene, clock *designtest.Clock) {
			a, b := s.Locker(), s.Locker()
			store(s, stamp(noon.Add(-s.TTL)))
			stop := s.Gate.Stop("EXPIRE")
			outcome := s.Begin(a)
			<-stop.Reached
			stop.Drop()
			unknown(s, (<-outcome).Err)
			immortal(s)
			s.Refused(b)
			clock.Advance(s.TTL)
			s.Release(s.Acquire(b))
		}},
		{"a key that vanishes between SET and GET", func(s *designtest.Scene, _ *designtest.Clock) {
			a, b := s.Locker(), s.Locker()
			store(s, stamp(noon))
			get, getset := s.Gate.Stop("GET"), s.Gate.Stop("GETSET")
			outcome := s.Begin(a)
			<-get.Reached
			s.Expire()
			get.Go()
			<-getset.Reached // a missing stamp counts as long expired
			s.Acquire(b)
			getset.Go()
			s.Want((<-outcome).Err, lockbench.ErrNotAcquired)
			immortal(s) // b's TTL is gone, its stamp decides
		}},
	})
}
