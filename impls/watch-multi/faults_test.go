package watchmulti_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	watchmulti "github.com/lockbench/lockbench/impls/watch-multi"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

const key = "report"

// minute is a lease that no test outlives.
var minute = lockbench.Options{TTL: time.Minute}

// A clock stands still until it is moved. All processes of a scene share it.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.ns.Load()) }
func (c *clock) advance(d time.Duration) { c.ns.Add(int64(d)) }

// A scene is a server with processes of one design around it.
type scene struct {
	*testing.T
	design design.Design
	env    onredis.Environment
	admin  *redis.Client
	clock  *clock
	pids   int
}

// eachScene plays a fault with every variant on every server.
func eachScene(t *testing.T, play func(s *scene)) {
	designtest.Each(t, func(t *testing.T, env onredis.Environment) {
		for _, d := range watchmulti.Designs() {
			t.Run(d.Name, func(t *testing.T) {
				t.Parallel() // some wait for a second to be over
				s := &scene{T: t, design: d, env: env, admin: designtest.Admin(t, env), clock: &clock{}}
				s.clock.ns.Store(time.Now().UnixNano())
				s.env.Prefix += t.Name() + ":"
				s.env.Now = s.clock.now
				play(s)
			})
		}
	})
}

// process opens one more process, with an identity of its own.
func (s *scene) process() (design.Process, *designtest.Gate) {
	s.Helper()
	env, gate := designtest.Through(s.env)
	s.pids++
	env.PID = s.pids
	p, err := s.design.Open(env.General())
	if err != nil {
		s.Fatalf("open: %v", err)
	}
	s.Cleanup(func() { p.Close() })
	return p, gate
}

// locker is the only thread of one more process.
func (s *scene) locker() (lockbench.Locker, *designtest.Gate) {
	p, gate := s.process()
	return p.Locker(design.Blind), gate
}

func (s *scene) acquire(l lockbench.Locker, opt lockbench.Options) lockbench.Lease {
	s.Helper()
	held, err := l.Acquire(s.Context(), key, opt)
	if err != nil {
		s.Fatalf("acquire: %v", err)
	}
	return held
}

func (s *scene) release(held lockbench.Lease) {
	s.Helper()
	s.want(held.Release(s.Context()), nil)
}

func (s *scene) refused(l lockbench.Locker) {
	s.Helper()
	_, err := l.Acquire(s.Context(), key, minute)
	s.want(err, lockbench.ErrNotAcquired)
}

func (s *scene) want(got, want error) {
	s.Helper()
	if !errors.Is(got, want) {
		s.Errorf("got error %v, want %v", got, want)
	}
}

// server is the lock's key on the server.
func (s *scene) server() string { return s.env.Prefix + "lock@" + key }

// expire takes the key away, as its expiry would.
func (s *scene) expire() {
	s.Helper()
	s.want(s.admin.Del(s.Context(), s.server()).Err(), nil)
}

type result struct {
	lease lockbench.Lease
	err   error
}

func (s *scene) acquireInBackground(l lockbench.Locker, opt lockbench.Options) <-chan result {
	got := make(chan result, 1)
	go func() {
		held, err := l.Acquire(s.Context(), key, opt)
		got <- result{held, err}
	}()
	return got
}

// failExec lets l begin a transaction, lets meanwhile change the lock before its
// EXEC, and stops it before the second step after HSETNX's grant.
func (s *scene) failExec(l lockbench.Locker, gate *designtest.Gate, meanwhile func()) (<-chan result, designtest.Stop) {
	exec, second := gate.Stop("MULTI"), gate.Stop("HSET")
	got := s.acquireInBackground(l, minute)
	<-exec.Reached
	meanwhile()
	exec.Go()
	<-second.Reached
	return got, second
}

// Fault (a): two clients, no failure, both granted.
func TestGrantByHSETNXIsStolenBeforeItsSecondStep(t *testing.T) {
	eachScene(t, func(s *scene) {
		a, gate := s.locker()
		b, _ := s.locker()
		first, second := s.failExec(a, gate, func() { s.release(s.acquire(b, minute)) })
		s.acquire(b, minute)
		second.Go()
		if r := <-first; r.err != nil {
			s.Errorf("the first got %v, want a lease beside the second's", r.err)
		}
	})
}

// Fault (b): the second step of an overtaken holder ends the next lease.
func TestLateSecondStepDeletesTheNextHoldersKey(t *testing.T) {
	eachScene(t, func(s *scene) {
		a, gate := s.locker()
		b, _ := s.locker()
		c, _ := s.locker()
		exec, second := gate.Stop("MULTI"), gate.Stop("HSET")
		first := s.acquireInBackground(a, lockbench.Options{TTL: time.Millisecond})
		<-exec.Reached
		exec.Go()
		<-second.Reached
		for s.admin.Exists(s.Context(), s.server()).Val() == 1 { // it ends at the next whole second
			time.Sleep(5 * time.Millisecond)
		}
		s.clock.advance(time.Second)
		s.acquire(b, minute)
		s.refused(c)
		second.Go()
		if r := <-first; r.err != nil {
			s.Errorf("the first got %v, want its long past lease", r.err)
		}
		s.acquire(c, minute)
	})
}

// Fault (c), both policies: the delay is set after the first look.
func TestReleaseDelayIsMissedBetweenLookAndTransaction(t *testing.T) {
	eachScene(t, func(s *scene) {
		a, _ := s.locker()
		b, gate := s.locker()
		held := s.acquire(a, lockbench.Options{TTL: time.Second})
		s.clock.advance(time.Second)
		watch := gate.Stop("WATCH")
		got := s.acquireInBackground(b, minute)
		<-watch.Reached
		s.want(held.(lockbench.DelayedReleaser).ReleaseAfter(s.Context(), time.Hour), lockbench.ErrLate)
		watch.Go()
		if r := <-got; r.err != nil {
			s.Errorf("got %v, want a grant an hour early", r.err)
		}
	})
}

// The delay holds if nothing comes between.
func TestReleaseDelayKeepsOthersOut(t *testing.T) {
	eachScene(t, func(s *scene) {
		a, _ := s.locker()
		b, _ := s.locker()
		s.want(s.acquire(a, minute).(lockbench.DelayedReleaser).ReleaseAfter(s.Context(), time.Hour), nil)
		s.refused(b)
		s.refused(a)
		s.clock.advance(time.Hour)
		s.release(s.acquire(b, minute))
	})
}

// Fault (c), policy 0: less than a second of waiting is none, and HSETNX does not
// look at the lease.
func TestGiveUpComesUpToASecondEarly(t *testing.T) {
	eachScene(t, func(s *scene) {
		if s.design.Name != "watch-multi/give-up" {
			s.Skip("policy 0 only")
		}
		a, _ := s.locker()
		b, _ := s.locker()
		s.want(s.acquire(a, minute).(lockbench.DelayedReleaser).ReleaseAfter(s.Context(), 900*time.Millisecond), nil)
		s.acquire(b, lockbench.Options{TTL: time.Minute, Wait: time.Second}) // the clock stands still
	})
}

// Fault (d): the threads of a process are one owner.
func TestThreadsShareOneIdentity(t *testing.T) {
	eachScene(t, func(s *scene) {
		p, _ := s.process()
		a, b := p.Locker(design.Blind), p.Locker(design.Blind)
		c, _ := s.locker()
		late := s.acquire(a, minute)
		s.refused(b)
		s.expire()
		s.acquire(b, minute)
		s.refused(c)
		s.release(late) // of a; it frees b's lock, and a is told that all is well
		s.acquire(c, minute)
	})
}

// Fault (d): a dead thread's leftover refuses its own process, not others.
func TestStaleOwnIdentityRefusesItsProcess(t *testing.T) {
	eachScene(t, func(s *scene) {
		p, _ := s.process()
		c, _ := s.locker()
		s.acquire(p.Locker(design.Blind), minute)
		s.clock.advance(time.Hour)
		s.refused(p.Locker(design.Blind))
		s.acquire(c, minute)
	})
}

// Why recovery is not claimed: the key has no expiry, so nothing ends this.
func TestDeathAfterHSETNXLeavesAKeyWithoutExpiry(t *testing.T) {
	eachScene(t, func(s *scene) {
		p, gate := s.process()
		b, _ := s.locker()
		first, second := s.failExec(p.Locker(design.Blind), gate, func() {
			s.acquire(b, minute)
			s.expire()
		})
		second.Drop()
		if r := <-first; r.err == nil || errors.Is(r.err, lockbench.ErrNoEffect) {
			s.Errorf("got error %v, want one that leaves the outcome open", r.err)
		}
		if left := s.admin.PTTL(s.Context(), s.server()).Val(); left != -1 {
			s.Errorf("time left %v, want none set", left)
		}
		s.clock.advance(24 * time.Hour)
		s.refused(p.Locker(design.Blind))
		s.acquire(b, minute)
	})
}

// Fault (e): the answer to a late release depends on whether the key still
// exists.
func TestLateReleaseAnswers(t *testing.T) {
	for _, c := range []struct {
		name      string
		meanwhile func(s *scene, other lockbench.Locker)
		want      error
	}{
		{"in time", func(*scene, lockbench.Locker) {}, nil},
		{"overran alone", func(s *scene, _ lockbench.Locker) { s.clock.advance(time.Minute) }, lockbench.ErrLate},
		{"overran alone, key expired", func(s *scene, _ lockbench.Locker) { s.expire() }, lockbench.ErrNotHeld},
		{"overran and lost", func(s *scene, other lockbench.Locker) {
			s.clock.advance(time.Minute)
			s.acquire(other, minute)
		}, lockbench.ErrNotHeld},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachScene(t, func(s *scene) {
				a, _ := s.locker()
				b, _ := s.locker()
				held := s.acquire(a, minute)
				c.meanwhile(s, b)
				s.want(held.(lockbench.Extender).Extend(s.Context(), 2*time.Minute), c.want)
				if c.want == nil {
					s.refused(b)
				}
			})
			eachScene(t, func(s *scene) {
				a, _ := s.locker()
				b, _ := s.locker()
				held := s.acquire(a, minute)
				c.meanwhile(s, b)
				s.want(held.Release(s.Context()), c.want)
			})
		})
	}
}

// Fault (f): a lease that ends in the server's past is none.
func TestLaggingClockGrantsNothing(t *testing.T) {
	eachScene(t, func(s *scene) {
		b, _ := s.locker()
		s.env.Now = func() time.Time { return s.clock.now().Add(-time.Hour) }
		a, _ := s.locker()
		s.acquire(a, minute)
		s.acquire(b, minute)
	})
}

// A failed request that only reads has no effect, and its error says so.
func TestFailuresBeforeTheTransactionHaveNoEffect(t *testing.T) {
	for _, command := range []string{"HGET", "WATCH", "HGETALL"} {
		t.Run(command, func(t *testing.T) {
			eachScene(t, func(s *scene) {
				a, gate := s.locker()
				gate.LoseReply(command)
				_, err := a.Acquire(s.Context(), key, minute)
				s.want(err, lockbench.ErrNoEffect)
			})
		})
	}
}
