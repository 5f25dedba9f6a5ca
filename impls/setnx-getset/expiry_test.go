package setnxgetset_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	setnxgetset "github.com/lockbench/lockbench/impls/setnx-getset"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

// value is the value that setnx-getset/expiry stores for a lock held until t.
func value(t time.Time) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli())))
}

func TestExpiryFaults(t *testing.T) {
	const lease, tolerance = 10 * time.Second, time.Second
	showAll(t, "setnx-getset/expiry", []fault{
		{"deletes the next holder's lock", plainDEL},
		{"a slow loser shortens the winner's lock, a third steals it", func(s *designtest.Scene, clock *designtest.Clock) {
			s.TTL = lease
			loser, winner, third := s.Locker(), s.Locker(), s.Locker()
			store(s, value(noon.Add(-1)))
			stop := s.Gate.Stop("GETSET")
			outcome := s.Begin(loser) // has read its clock
			<-stop.Reached
			clock.Advance(5 * time.Second)
			s.Acquire(winner)
			stop.Go()
			s.Want((<-outcome).Err, lockbench.ErrNotAcquired)
			immortal(s)
			clock.Advance(lease + tolerance - 5*time.Second)
			s.Refused(third) // not yet past by the loser's value
			clock.Advance(time.Millisecond)
			s.Acquire(third) // 5 s of the winner's lease and tolerance are left
		}},
		{"a release between GET and GETSET leaves a key that nobody holds", func(s *designtest.Scene, clock *designtest.Clock) {
			slow, quick, third := s.Locker(), s.Locker(), s.Locker()
			store(s, value(noon.Add(-time.Hour)))
			stop := s.Gate.Stop("GETSET")
			outcome := s.Begin(slow)
			<-stop.Reached
			s.Release(s.Acquire(quick))
			stop.Go()
			s.Want((<-outcome).Err, lockbench.ErrNotAcquired)
			immortal(s)
			s.Refused(third)
			clock.Advance(s.TTL + tolerance + time.Millisecond)
			s.Acquire(third)
		}},
		{"a lost reply becomes a refusal while the lock stays set", func(s *designtest.Scene, _ *designtest.Clock) {
			s.Gate.LoseReply("SETNX")
			s.Refused(s.Locker())
			immortal(s)
		}},
		{"a clock ahead by more than the tolerance steals a live lock", func(s *designtest.Scene, clock *designtest.Clock) {
			s.TTL = lease
			s.Acquire(s.Locker())
			clock.Advance(lease + tolerance + time.Millisecond) // the server's stands still
			s.Acquire(s.Locker())
		}},
	})
}

func TestExpiryRepairsRecovery(t *testing.T) {
	showAll(t, "setnx-getset/expiry", []fault{
		{"died before EXPIRE: free after lease and tolerance", func(s *designtest.Scene, clock *designtest.Clock) {
			a, b := s.Locker(), s.Locker()
			stop := s.Gate.Stop("EXPIRE")
			outcome := s.Begin(a)
			<-stop.Reached
			stop.Drop()
			s.Want((<-outcome).Err, lockbench.ErrNotAcquired)
			if got, _ := stored(s); got != value(noon.Add(s.TTL+time.Second)) {
				s.Errorf("value %x, want now + lease + 1 s as 8 bytes of ms", got)
			}
			clock.Advance(s.TTL + time.Second)
			s.Refused(b)
			clock.Advance(time.Millisecond)
			s.Acquire(b)
		}},
	})
}

// A waiter of expiry keeps its connection while it sleeps; one of naive does not.
func TestWaiterKeepsItsConnection(t *testing.T) {
	wantErr := map[string]error{
		"setnx-getset/naive":     nil,
		"setnx-getset/timestamp": nil,
		"setnx-getset/expiry":    lockbench.ErrNoEffect,
	}
	for _, d := range setnxgetset.Designs() {
		t.Run(d.Name, func(t *testing.T) {
			env := designtest.Embedded(t)
			env.Pool = 1
			env.Redis.PoolTimeout = 300 * time.Millisecond
			s := designtest.NewScene(t, d, env, 1)
			held := s.Acquire(s.Locker())
			waiter, seen := s.Owner()
			granted := make(chan error, 1)
			go func() {
				_, err := waiter.Acquire(s.Context(), designtest.Key, lockbench.Options{TTL: s.TTL, Wait: time.Minute})
				granted <- err
			}()
			for len(seen.Starts()) < 2 { // it has slept once, and does again
				_ = design.Sleep(s.Context(), time.Millisecond)
			}
			s.Want(held.Release(s.Context()), wantErr[d.Name])
			s.Expire()
			s.Want(<-granted, nil)
		})
	}
}
