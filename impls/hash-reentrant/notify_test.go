package hashreentrant_test

import (
	"errors"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

var repaired = []string{"notify"}

func TestNotifyRenewsAnyLease(t *testing.T) {
	for _, ttl := range []time.Duration{50 * time.Millisecond, 2 * time.Second, time.Minute} {
		t.Run(ttl.String(), func(t *testing.T) {
			inBubble(t, "notify", func(s *scene) {
				p, _ := s.process()
				b, _ := s.locker()
				seen := &renewals{}
				held := s.acquire(p.Locker(seen), lockbench.Options{TTL: ttl})
				time.Sleep(20 * ttl)
				s.refused(b)
				if got := seen.count(nil); got < 59 || got > 61 {
					s.Errorf("%d renewals in 20 leases, want one every third of a lease", got)
				}
				s.release(held)
				s.lost(held, false)
				s.acquire(b, minute)
			})
		})
	}
}

func TestNotifySurvivesErrors(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		b, _ := s.locker()
		cut := &outage{}
		s.env = cut.through(s.env)
		p, _ := s.process()
		held := s.acquire(p.Locker(design.Blind), twoSecs)
		for range 10 {
			cut.down.Store(true)
			time.Sleep(time.Second)
			cut.down.Store(false)
			time.Sleep(time.Second)
		}
		s.refused(b)
		s.lost(held, false)
		s.release(held)
	})
}

func TestNotifyTellsOfAnOutageThatOutlastsTheLease(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		b, _ := s.locker()
		cut := &outage{}
		s.env = cut.through(s.env)
		p, _ := s.process()
		began := time.Now()
		held := s.acquire(p.Locker(design.Blind), twoSecs)
		cut.down.Store(true)
		<-held.(lockbench.Watcher).Lost()
		if got := time.Since(began); got > twoSecs.TTL {
			s.Errorf("told %v after the acquire, want within the lease", got)
		}
		cut.down.Store(false)
		time.Sleep(time.Second)
		s.want(held.(lockbench.Extender).Extend(s.Context(), time.Minute), lockbench.ErrNotHeld)
		s.acquire(b, minute)
		s.want(held.Release(s.Context()), lockbench.ErrNotHeld)
		s.refused(p.Locker(design.Blind))
	})
}

// A hold that was given up as lost may still be on the server.
func TestNotifyReleasesLate(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		b, _ := s.locker()
		cut := &outage{}
		s.env = cut.through(s.env)
		p, _ := s.process()
		held := s.acquire(p.Locker(design.Blind), twoSecs)
		cut.down.Store(true)
		s.want(s.admin.Persist(s.Context(), s.server()).Err(), nil)
		<-held.(lockbench.Watcher).Lost()
		cut.down.Store(false)
		time.Sleep(2 * time.Second) // until the pool dials again
		s.want(held.Release(s.Context()), lockbench.ErrLate)
		s.acquire(b, minute)
	})
}

func TestNotifyTellsOfALossAtTheNextRenewal(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		p, _ := s.process()
		b, _ := s.locker()
		seen := &renewals{}
		outer := s.acquire(p.Locker(seen), twoSecs)
		s.expire()
		s.acquire(b, minute)
		<-outer.(lockbench.Watcher).Lost()
		synctest.Wait()
		if got := seen.count(lockbench.ErrNotHeld); got != 1 {
			s.Errorf("%d renewals told of the loss, want 1", got)
		}
		s.want(outer.Release(s.Context()), lockbench.ErrNotHeld)
		s.refused(p.Locker(design.Blind))
	})
}

func TestNotifyDoesNotHideALossFromANestedAcquire(t *testing.T) {
	onServers(t, repaired, func(s *scene) {
		a, _ := s.locker()
		outer := s.acquire(a, minute)
		s.expire()
		_, err := a.Acquire(s.Context(), key, minute)
		s.want(err, lockbench.ErrNotHeld)
		s.lost(outer, true)
		fresh := s.acquire(a, minute)
		s.want(outer.Release(s.Context()), lockbench.ErrNotHeld)
		s.lost(fresh, false)
		s.release(fresh)
	})
}

func TestNotifyNestingNeverShortens(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		a, _ := s.locker()
		b, _ := s.locker()
		outer := s.acquire(a, minute)
		inner := s.acquire(a, twoSecs)
		if got := s.left(); got <= twoSecs.TTL {
			s.Errorf("%v left of a minute after a nested acquire for %v", got, twoSecs.TTL)
		}
		longest := s.acquire(a, lockbench.Options{TTL: time.Hour})
		s.release(longest)
		s.release(inner)
		time.Sleep(24 * time.Hour)
		s.refused(b)
		s.release(outer)
		s.acquire(b, minute)
	})
}

func TestNotifyUndoesAnAcquireWhoseReplyWasLost(t *testing.T) {
	onServers(t, repaired, func(s *scene) {
		a, gate := s.locker()
		b, _ := s.locker()
		gate.LoseReply("EVALSHA")
		_, err := a.Acquire(s.Context(), key, minute)
		s.open(err)
		s.release(s.acquire(b, minute))
		s.release(s.acquire(a, minute))
		s.release(s.acquire(b, minute)) // one level, one release
	})
}

// An acquire that the server runs after it was undone may be taken over by its
// owner.
func TestNotifyAcquireThatArrivesLate(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		a, gate := s.locker()
		b, _ := s.locker()
		arrive := gate.Delay("EVALSHA")
		_, err := a.Acquire(s.Context(), key, twoSecs)
		s.open(err)
		s.want(arrive(), nil)
		s.refused(b)
		s.release(s.acquire(a, minute))
		s.acquire(b, minute)
	})
}

// If nobody does, it ends with its lease.
func TestNotifyLateAcquireEndsWithItsLease(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		a, gate := s.locker()
		b, _ := s.locker()
		arrive := gate.Delay("EVALSHA")
		_, err := a.Acquire(s.Context(), key, twoSecs)
		s.open(err)
		s.want(arrive(), nil)
		s.refused(b)
		time.Sleep(twoSecs.TTL)
		s.acquire(b, minute)
	})
}

// Requests of an earlier hold do not affect a later one of the same owner.
func TestNotifyLateRequestsMeetTheLaterHold(t *testing.T) {
	for _, c := range []struct {
		name string
		late func(s *scene, a lockbench.Locker, delay func() func() error) (arrive func() error)
	}{
		{"acquire", func(s *scene, a lockbench.Locker, delay func() func() error) func() error {
			arrive := delay()
			_, err := a.Acquire(s.Context(), key, minute)
			s.open(err)
			return arrive
		}},
		{"release", func(s *scene, a lockbench.Locker, delay func() func() error) func() error {
			held := s.acquire(a, minute)
			arrive := delay()
			s.open(held.Release(s.Context()))
			return arrive
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onServers(t, repaired, func(s *scene) {
				a, gate := s.locker()
				b, _ := s.locker()
				arrive := c.late(s, a, func() func() error { return gate.Delay("EVALSHA") })
				held := s.acquire(a, minute)
				s.want(arrive(), nil)
				s.refused(b)
				s.want(held.(lockbench.Extender).Extend(s.Context(), time.Minute), nil)
				s.release(held)
				s.acquire(b, minute)
			})
		})
	}
}

func TestNotifyReleasesMayBeRepeated(t *testing.T) {
	onServers(t, repaired, func(s *scene) {
		a, gate := s.locker()
		b, _ := s.locker()
		outer := s.acquire(a, minute)
		inner := s.acquire(a, minute)
		gate.LoseReply("EVALSHA")
		s.open(inner.Release(s.Context()))
		s.release(inner)
		s.refused(b)
		gate.LoseReply("EVALSHA")
		s.open(outer.Release(s.Context()))
		s.want(outer.Release(s.Context()), lockbench.ErrNotHeld)
		s.acquire(b, minute)
	})
}

// A release that was never sent leaves the level. If it is not repeated, the loss that
// follows is told.
func TestNotifyReleaseWithoutEffect(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		b, _ := s.locker()
		cut := &outage{}
		s.env = cut.through(s.env)
		p, _ := s.process()
		a := p.Locker(design.Blind)
		repeated := s.acquire(a, twoSecs)
		s.inOutage(cut, repeated, func() { s.want(repeated.Release(s.Context()), lockbench.ErrNoEffect) })
		s.refused(b)
		s.release(repeated)
		left := s.acquire(a, twoSecs)
		s.inOutage(cut, left, func() { s.want(left.Release(s.Context()), lockbench.ErrNoEffect) })
		<-left.(lockbench.Watcher).Lost()
		time.Sleep(time.Millisecond)
		s.acquire(b, minute)
	})
}

// inOutage does something while no connection can be had.
func (s *scene) inOutage(cut *outage, held lockbench.Lease, do func()) {
	cut.down.Store(true)
	defer cut.down.Store(false)
	var dial *net.OpError
	for !errors.As(s.ttl(held), &dial) { // use up the connections that there are
	}
	do()
}

func (s *scene) ttl(held lockbench.Lease) error {
	_, err := held.(lockbench.TTLer).TTL(s.Context())
	return err
}

func TestNotifyRenewalInFlightDoesNotReviveWhatWasReleased(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		p, gate := s.process()
		seen := &renewals{}
		held := s.acquire(p.Locker(seen), twoSecs)
		renewal := gate.Stop("EVALSHA")
		<-renewal.Reached
		s.release(held)
		renewal.Go()
		synctest.Wait()
		if got := s.admin.Exists(s.Context(), s.server()).Val(); got != 0 {
			s.Errorf("the lock is there again")
		}
		if got := seen.count(lockbench.ErrNotHeld); got != 0 {
			s.Errorf("told of a loss that was a release")
		}
		s.lost(held, false)
	})
}

func TestNotifyRenewalInFlightDoesNotShortenAnExtend(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		p, gate := s.process()
		held := s.acquire(p.Locker(design.Blind), twoSecs)
		renewal := gate.Stop("EVALSHA")
		<-renewal.Reached
		s.want(held.(lockbench.Extender).Extend(s.Context(), time.Hour), nil)
		renewal.Go()
		synctest.Wait()
		if got := s.left(); got < 59*time.Minute {
			s.Errorf("%v left of an hour", got)
		}
		time.Sleep(24 * time.Hour)
		s.release(held)
	})
}

func TestNotifyExtendWhoseReplyWasLost(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		p, gate := s.process()
		held := s.acquire(p.Locker(design.Blind), minute)
		gate.LoseReply("EVALSHA")
		s.open(held.(lockbench.Extender).Extend(s.Context(), time.Second))
		time.Sleep(time.Hour) // it may have shortened the lease
		s.lost(held, false)
		s.release(held)
	})
}

// A late answer to an extend leaves less than a third of the lease: the next renewal
// comes before its end.
func TestNotifyRenewsInTimeAfterAnExtendThatWasAnsweredLate(t *testing.T) {
	for _, left := range []time.Duration{1100 * time.Millisecond, 900 * time.Millisecond, time.Millisecond} {
		t.Run(left.String(), func(t *testing.T) {
			inBubble(t, "notify", func(s *scene) {
				p, gate := s.process()
				b, _ := s.locker()
				held := s.acquire(p.Locker(design.Blind), minute)
				extend := gate.Stop("EVALSHA")
				extended := make(chan error)
				go func() { extended <- held.(lockbench.Extender).Extend(s.Context(), 3*time.Second) }()
				<-extend.Reached
				time.Sleep(3*time.Second - left)
				extend.Go()
				s.want(<-extended, nil)
				time.Sleep(time.Minute)
				s.lost(held, false)
				s.refused(b)
				s.release(held)
			})
		})
	}
}

// An owner that vanished in a process that lives: its lease cannot be reached.
func TestNotifyStopsRenewingWhatNobodyCanReach(t *testing.T) {
	onServers(t, repaired, func(s *scene) {
		p, _ := s.process()
		s.acquire(p.Locker(design.Blind), lockbench.Options{TTL: 300 * time.Millisecond})
		for s.admin.Exists(s.Context(), s.server()).Val() == 1 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
}
