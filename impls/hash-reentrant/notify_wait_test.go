package hashreentrant_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

func TestNotifyWakesTheWaiterAtOnce(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		p, _ := s.process()
		a, _ := s.locker()
		held := s.acquire(a, minute)
		var waiters []<-chan result
		for range 3 { // of one process, so that one wakes the next
			waiters = append(waiters, s.acquireInBackground(s.Context(), p.Locker(design.Blind), patience))
		}
		synctest.Wait()
		began := time.Now()
		s.release(held)
		for range waiters {
			s.release(s.first(waiters))
		}
		if got := time.Since(began); got != 0 {
			s.Errorf("granted %v after the release, want at once", got)
		}
	})
}

// first returns the lease of the first waiter that was granted the lock.
func (s *scene) first(waiters []<-chan result) lockbench.Lease {
	s.Helper()
	for {
		synctest.Wait()
		for _, w := range waiters {
			select {
			case r := <-w:
				s.want(r.err, nil)
				return r.lease
			default:
			}
		}
		time.Sleep(time.Second)
	}
}

// A release that comes before the subscription is not missed.
func TestNotifyReleaseBeforeTheSubscription(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		a, _ := s.locker()
		env, subscribe := keepBackSubscribe(s.env)
		s.env = env
		b, _ := s.locker()
		held := s.acquire(a, minute)
		got := s.acquireInBackground(s.Context(), b, patience)
		<-subscribe.reached
		began := time.Now()
		s.release(held)
		close(subscribe.proceed)
		s.want((<-got).err, nil)
		if waited := time.Since(began); waited != 0 {
			s.Errorf("granted %v after the release, want at once", waited)
		}
	})
}

// Without a message the end of the crashed owner's lease wakes.
func TestNotifyWaitsNoLongerThanTheLease(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		p, _ := s.process()
		b, _ := s.locker()
		s.acquire(p.Locker(design.Blind), minute)
		p.Close() // dies
		began := time.Now()
		s.acquire(b, patience)
		if waited := time.Since(began); waited > minute.TTL+time.Second {
			s.Errorf("granted after %v, want within the crashed owner's lease", waited)
		}
	})
}

// Nor does a subscription that never comes about keep a waiter.
func TestNotifyWaitsWithoutSubscription(t *testing.T) {
	onServers(t, repaired, func(s *scene) {
		p, _ := s.process()
		env, subscribe := keepBackSubscribe(s.env)
		s.env = env
		b, _ := s.locker()
		s.acquire(p.Locker(design.Blind), lockbench.Options{TTL: 50 * time.Millisecond})
		p.Close()
		s.acquire(b, patience)
		close(subscribe.proceed)
	})
}

// A waiter with a cut connection subscribes again, and checks whether it missed a
// release.
func TestNotifyListensAgain(t *testing.T) {
	onServers(t, repaired, func(s *scene) {
		a, _ := s.locker()
		b, _ := s.locker()
		held := s.acquire(a, minute)
		got := s.acquireInBackground(s.Context(), b, patience)
		for len(s.admin.PubSubChannels(s.Context(), s.server()+"*").Val()) == 0 {
			time.Sleep(time.Millisecond)
		}
		if s.admin.ClientKillByFilter(s.Context(), "TYPE", "pubsub").Err() != nil {
			s.Skip("the server cannot cut connections")
		}
		s.release(held)
		s.want((<-got).err, nil)
	})
}

// One message wakes one waiter of a process. When that one stops waiting it wakes
// the next, which would otherwise sleep for the lease that it read first.
func TestNotifyHandsTheWakeUpOn(t *testing.T) {
	inBubble(t, "notify", func(s *scene) {
		p, _ := s.process()
		q, _ := s.process()
		held := s.acquire(p.Locker(design.Blind), lockbench.Options{TTL: time.Hour})
		brief := s.acquireInBackground(s.Context(), q.Locker(design.Blind), lockbench.Options{TTL: time.Minute, Wait: 5 * time.Second})
		synctest.Wait()
		patient := s.acquireInBackground(s.Context(), q.Locker(design.Blind), patience)
		synctest.Wait()
		began := time.Now()
		s.want(held.(lockbench.Extender).Extend(s.Context(), time.Minute), nil)
		p.Close() // dies
		s.want((<-brief).err, lockbench.ErrNotAcquired)
		s.want((<-patient).err, nil)
		if waited := time.Since(began); waited > time.Minute+time.Second {
			s.Errorf("granted after %v, want within the crashed owner's minute", waited)
		}
	})
}

func TestNotifyGivesUpInTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		cancel time.Duration
		want   error
	}{
		{"wait over", time.Hour, lockbench.ErrNotAcquired},
		{"cancelled", time.Second, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, "notify", func(s *scene) {
				a, _ := s.locker()
				b, _ := s.locker()
				held := s.acquire(a, minute)
				ctx, cancel := context.WithCancel(s.Context())
				defer cancel()
				time.AfterFunc(c.cancel, cancel)
				began := time.Now()
				_, err := b.Acquire(ctx, key, lockbench.Options{TTL: time.Minute, Wait: 10 * time.Second})
				s.want(err, c.want)
				if waited, want := time.Since(began), min(c.cancel, 10*time.Second); waited != want {
					s.Errorf("gave up after %v, want %v", waited, want)
				}
				synctest.Wait()
				if got := s.admin.PubSubChannels(s.Context(), s.env.Prefix+"*").Val(); len(got) != 0 {
					s.Errorf("still subscribed to %v", got)
				}
				s.release(held)
				time.Sleep(time.Hour)
				s.release(s.acquire(a, minute))
			})
		})
	}
}

func TestNotifyKeepsOneConnectionForListening(t *testing.T) {
	onServers(t, repaired, func(s *scene) {
		s.env.Pool = 2
		p, _ := s.process()
		held := s.acquire(p.Locker(design.Blind), minute)
		waiters := []<-chan result{
			s.acquireInBackground(s.Context(), p.Locker(design.Blind), patience),
			s.acquireInBackground(s.Context(), p.Locker(design.Blind), patience),
		}
		s.release(held)
		for range waiters {
			select {
			case r := <-waiters[0]:
				s.want(r.err, nil)
				s.release(r.lease)
			case r := <-waiters[1]:
				s.want(r.err, nil)
				s.release(r.lease)
			}
		}
	})
}
