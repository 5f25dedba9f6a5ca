package hashreentrant_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// documented are the variants that have the document's faults.
var documented = []string{"plain", "watchdog"}

func TestInterruptedWaitCountsAsGranted(t *testing.T) {
	onServers(t, documented, func(s *scene) {
		p, _ := s.process()
		held := s.acquire(p.Locker(design.Blind), minute)
		seen := &renewals{}
		seen.First = make(chan struct{})
		ctx, cancel := context.WithCancel(s.Context())
		got := s.acquireInBackground(ctx, p.Locker(seen), patience)
		<-seen.First
		// Whether the first try or the sleep is on, the reply to it comes: a
		// cancelled context does not end the wait for one.
		time.Sleep(20 * time.Millisecond)
		cancel()
		r := <-got
		if r.err != nil {
			s.Fatalf("got error %v, want a lease that is nobody's", r.err)
		}
		s.release(r.lease)
		s.refused(p.Locker(design.Blind))
		s.release(held)
	})
}

func TestShorterNestedLeaseShortensTheOuterOne(t *testing.T) {
	onServers(t, documented, func(s *scene) {
		l, _ := s.locker()
		s.acquire(l, minute)
		s.acquire(l, twoSecs)
		if got := s.left(); got > twoSecs.TTL {
			s.Errorf("%v left of a minute, want at most %v", got, twoSecs.TTL)
		}
	})
}

func TestRetryAfterALostReplyCountsTwice(t *testing.T) {
	onServers(t, documented, func(s *scene) {
		a, gate := s.locker()
		b, _ := s.locker()
		gate.LoseReply("EVALSHA")
		_, err := a.Acquire(s.Context(), key, minute)
		s.open(err)
		s.release(s.acquire(a, minute))
		s.refused(b)
	})
}

func TestRetriedInnerReleaseFreesTheOuterHold(t *testing.T) {
	onServers(t, documented, func(s *scene) {
		a, gate := s.locker()
		b, _ := s.locker()
		s.acquire(a, minute)
		inner := s.acquire(a, minute)
		gate.LoseReply("EVALSHA")
		s.open(inner.Release(s.Context()))
		s.release(inner)
		s.acquire(b, minute)
	})
}

func TestLoserIsNotTold(t *testing.T) {
	onServers(t, documented, func(s *scene) {
		a, _ := s.locker()
		b, _ := s.locker()
		gone, taken := s.acquire(a, minute), lockbench.Lease(nil)
		s.expire()
		s.release(gone)
		taken = s.acquire(a, minute)
		s.expire()
		s.acquire(b, minute)
		s.release(taken)
		s.refused(a)
	})
}

// Five waiters keep the five connections, so that the holder cannot unlock, nor the
// watchdog renew; and that ends the watchdog.
func TestWaitersKeepTheConnectionsFromTheHolder(t *testing.T) {
	// Not in virtual time: go-redis waits for a connection by timers, and passes them from one
	// bubble to another.
	onServers(t, documented, func(s *scene) {
		s.Parallel() // a renewal is due after 1.7 s
		waitersKeepConnections(s)
	})
}

// waitersKeepConnections has a holder get no connection for its release nor for a renewal.
func waitersKeepConnections(s *scene) {
	opt := *s.env.Redis
	opt.PoolTimeout = 20 * time.Millisecond
	s.env.Redis = &opt
	p, gate := s.process()
	seen := &renewals{}
	held := s.acquire(p.Locker(seen), patience)
	ctx, cancel := context.WithCancel(s.Context())
	sent := len(gate.Seen())
	var waiters []<-chan result
	for range 5 {
		trying := &renewals{}
		trying.First = make(chan struct{})
		waiters = append(waiters, s.acquireInBackground(ctx, p.Locker(trying), patience))
		<-trying.First
	}
	for len(gate.Seen()) < sent+5 { // a client that has sent a command waits for the reply, or sleeps: either way it has a connection
		time.Sleep(time.Millisecond)
	}
	s.want(held.Release(s.Context()), lockbench.ErrNoEffect)
	if s.design.Renews {
		for seen.count(redis.ErrPoolTimeout) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}
	cancel()
	for _, w := range waiters {
		<-w
	}
}

func TestWatchdogKeepsAnOrdinaryLease(t *testing.T) {
	inBubble(t, "watchdog", func(s *scene) {
		p, _ := s.process()
		b, _ := s.locker()
		seen := &renewals{}
		held := s.acquire(p.Locker(seen), twoSecs)
		time.Sleep(time.Minute)
		s.refused(b)
		s.release(held)
		if got := seen.count(nil); got < 30 {
			s.Errorf("%d renewals in a minute, want one every 1733 ms", got)
		}
		s.acquire(b, minute)
	})
}

func TestWatchdogIsTooSlowForAShortLease(t *testing.T) {
	inBubble(t, "watchdog", func(s *scene) {
		p, _ := s.process()
		b, _ := s.locker()
		s.acquire(p.Locker(design.Blind), lockbench.Options{TTL: time.Second})
		time.Sleep(2 * 1733 * time.Millisecond) // always by the second interval
		s.acquire(b, minute)
	})
}

func TestWatchdogEndsAtItsFirstError(t *testing.T) {
	inBubble(t, "watchdog", func(s *scene) {
		p, gate := s.process()
		b, _ := s.locker()
		seen := &renewals{}
		s.acquire(p.Locker(seen), twoSecs)
		gate.LoseReply("EVALSHA")
		time.Sleep(time.Minute)
		if ok, all := seen.count(nil), len(seen.results); ok != 0 || all != 1 {
			s.Errorf("%d renewals, %d of them ok, want one that failed and no other", all, ok)
		}
		s.acquire(b, minute)
	})
}

// A thread dies, its process lives: it is renewed for ever.
func TestWatchdogRenewsForADeadThread(t *testing.T) {
	inBubble(t, "watchdog", func(s *scene) {
		p, _ := s.process()
		b, _ := s.locker()
		s.acquire(p.Locker(design.Blind), twoSecs)
		time.Sleep(time.Duration(longtest.Times(10, 60)) * time.Minute)
		s.refused(b)
		p.Close() // the process dies too
		time.Sleep(twoSecs.TTL)
		s.acquire(b, minute)
	})
}

func TestUnlockOfALostLockLeavesItsEntry(t *testing.T) {
	inBubble(t, "watchdog", func(s *scene) {
		p, _ := s.process()
		seen := &renewals{}
		held := s.acquire(p.Locker(seen), twoSecs)
		s.expire()
		s.release(held)
		time.Sleep(time.Minute)
		if got := seen.count(lockbench.ErrNotHeld); got < 30 {
			s.Errorf("%d renewals in vain after the release, want one every 1733 ms", got)
		}
	})
}

// The registry knows keys, not owners: the removal that belongs to one owner's unlock
// removes the entry of the next, which locked between the two.
func TestRemovalTakesTheNextOwnersEntry(t *testing.T) {
	inBubble(t, "watchdog", func(s *scene) {
		slow := &slowReply{}
		s.env = slow.through(s.env)
		p, _ := s.process()
		c, _ := s.locker()
		a, b := p.Locker(design.Blind), p.Locker(design.Blind)
		held := s.acquire(a, twoSecs)
		resume := slow.next()
		released := make(chan error, 1)
		go func() { released <- held.Release(s.Context()) }()
		time.Sleep(time.Millisecond) // virtual: the DEL is done, its reply under way
		s.acquire(b, twoSecs)
		resume()
		s.want(<-released, nil)
		time.Sleep(time.Minute)
		s.acquire(c, minute)
	})
}

// A slowReply keeps back the reply to one request.
type slowReply struct{ hold chan struct{} }

// next keeps back the reply to the next request until resume is called.
func (r *slowReply) next() (resume func()) {
	hold := make(chan struct{})
	r.hold = hold
	return func() { close(hold) }
}

func (r *slowReply) through(env onredis.Environment) onredis.Environment {
	opt := *env.Redis
	dial := opt.Dialer
	opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		inner, err := dial(ctx, network, addr)
		return &slowConn{Conn: inner, slow: r}, err
	}
	env.Redis = &opt
	return env
}

type slowConn struct {
	net.Conn
	slow *slowReply
	hold chan struct{}
}

func (c *slowConn) Write(b []byte) (int, error) {
	c.hold, c.slow.hold = c.slow.hold, nil
	return c.Conn.Write(b)
}

func (c *slowConn) Read(b []byte) (int, error) {
	if c.hold != nil {
		<-c.hold
	}
	return c.Conn.Read(b)
}
