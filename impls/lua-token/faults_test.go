package luatoken

import (
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

// showAll plays every scene for the named design on every kind of server, each
// owner in a process of its own.
func showAll(t *testing.T, name string, scenes map[string]func(*designtest.Scene)) {
	designtest.Each(t, func(t *testing.T, env onredis.Environment) {
		for title, show := range scenes {
			t.Run(title, func(t *testing.T) { show(designtest.NewScene(t, find(t, name), env, 3)) })
		}
	})
}

func find(t testing.TB, name string) design.Design {
	t.Helper()
	for _, d := range Designs() {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no design %q", name)
	return design.Design{}
}

// left returns the time left of the lock's key: -1 is for ever, 0 means that there is none.
func left(s *designtest.Scene) time.Duration {
	return s.Keys()[s.Env.Prefix+designtest.Key]
}

// stored returns the lock's value.
func stored(s *designtest.Scene) string {
	s.Helper()
	value, err := s.Admin.Get(s.Context(), s.Env.Prefix+designtest.Key).Result()
	if err != nil {
		s.Fatalf("read the lock's key: %v", err)
	}
	return value
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

// warm makes the server learn the scripts, so that the next EVALSHA succeeds.
func warm(s *designtest.Scene) { s.Release(s.Acquire(s.Locker())) }

// fraction is the fault of both lua-token/expire and token: the script raises an error after
// its SETNX took effect, which the caller gets to see as a refusal.
func fraction(ttl time.Duration) func(*designtest.Scene) {
	return func(s *designtest.Scene) {
		a, b := s.Locker(), s.Locker()
		s.TTL = ttl
		s.Want((<-s.Begin(a)).Err, lockbench.ErrNotAcquired)
		if got := left(s); got != -1 {
			s.Errorf("the key has %v left, want no expiry", got)
		}
		s.TTL = time.Second
		s.Refused(b)
	}
}

// lostReply is the fault of both lua-token/expire and token: a refusal, and the lock is set.
func lostReply(s *designtest.Scene) {
	warm(s)
	s.Gate.LoseReply("EVALSHA")
	s.Refused(s.Locker())
	if got := left(s); got <= 0 || got > s.TTL {
		s.Errorf("the key has %v left, want it set for the lease of %v", got, s.TTL)
	}
}

func TestExpireFaults(t *testing.T) {
	showAll(t, "lua-token/expire", map[string]func(*designtest.Scene){
		"deletes the next holder's lock": func(s *designtest.Scene) {
			a, b, c := s.Locker(), s.Locker(), s.Locker()
			late := s.Acquire(a)
			s.Expire()
			s.Acquire(b)
			s.Release(late) // not told that it had lost the lock
			s.Acquire(c)    // beside b
		},
		"half a second":              fraction(500 * time.Millisecond),
		"one second and nine tenths": fraction(1900 * time.Millisecond),
		"no time at all is granted, and there is no key": func(s *designtest.Scene) {
			s.TTL = 0
			s.Acquire(s.Locker())
			if n := len(s.Keys()); n != 0 {
				s.Errorf("%d keys, want none", n)
			}
		},
		"a lost reply becomes a refusal": lostReply,
	})
}

func TestTokenFaults(t *testing.T) {
	showAll(t, "lua-token/token", map[string]func(*designtest.Scene){
		"half a second":                  fraction(500 * time.Millisecond),
		"a lost reply becomes a refusal": lostReply,
		"the loser is not told": func(s *designtest.Scene) {
			late := s.Acquire(s.Locker())
			s.Expire()
			s.Acquire(s.Locker())
			s.Release(late)
		},
		"a late unlock frees the object's next lock": func(s *designtest.Scene) {
			warm(s)
			a, b := s.Locker(), s.Locker()
			held := s.Acquire(a)
			value := stored(s)
			arrive := s.Gate.Delay("EVALSHA")
			unknown(s, held.Release(s.Context()))
			s.Expire()
			s.Acquire(a)
			if got := stored(s); got != value {
				s.Errorf("second lock's value %q, want the first one's %q", got, value)
			}
			s.Want(arrive(), nil)
			s.Acquire(b) // beside a
		},
		"an unlock whose reply was lost cannot be repeated": func(s *designtest.Scene) {
			warm(s)
			held := s.Acquire(s.Locker())
			stop := s.Gate.Stop("EVALSHA")
			go func() { <-stop.Reached; stop.Drop() }()
			unknown(s, held.Release(s.Context()))
			s.Want(held.Release(s.Context()), lockbench.ErrNotHeld)
			if got := left(s); got <= 0 {
				s.Errorf("the key has %v left, want it held to the lease's end", got)
			}
		},
		"an object that lost its lock unnoticed refuses its owner": func(s *designtest.Scene) {
			a := s.Locker()
			held := s.Acquire(a)
			s.Expire()
			s.Refused(a)
			s.Release(held)
			s.Acquire(a)
		},
	})
}

func TestOptionsFaults(t *testing.T) {
	showAll(t, "lua-token/options", map[string]func(*designtest.Scene){
		"locking a lost lock takes it anew and says yes": func(s *designtest.Scene) {
			a, b := s.Locker(), s.Locker()
			s.Acquire(a)
			s.Expire()
			s.Release(s.Acquire(b)) // b was inside
			s.Release(s.Acquire(a))
		},
		"a late unlock frees the refreshed lock": func(s *designtest.Scene) {
			warm(s)
			a, b := s.Locker(), s.Locker()
			arrive := s.Gate.Delay("EVALSHA")
			unknown(s, s.Acquire(a).Release(s.Context()))
			s.Acquire(a)
			s.Want(arrive(), nil)
			s.Acquire(b) // beside a
		},
	})
}

func TestOptionsRefreshes(t *testing.T) {
	showAll(t, "lua-token/options", map[string]func(*designtest.Scene){
		"by the same token and from now on": func(s *designtest.Scene) {
			a := s.Locker()
			s.Acquire(a)
			value := stored(s)
			s.TTL = time.Hour
			s.Acquire(a)
			if got := stored(s); got != value || left(s) < time.Hour/2 {
				s.Errorf("value %q with %v left, want %q for an hour", got, left(s), value)
			}
		},
		"and keeps the old token when locking anew fails": func(s *designtest.Scene) {
			a, b := s.Locker(), s.Locker()
			held := s.Acquire(a)
			s.Expire()
			others := s.Acquire(b)
			s.Refused(a)
			s.Want(held.Release(s.Context()), lockbench.ErrNotHeld)
			s.Release(others)
		},
	})
}

// A request that could not be sent is distinguished from one with an unknown outcome, except
// by lua-token/expire and token, which catch everything.
func TestNoServer(t *testing.T) {
	want := map[string]error{
		"lua-token/expire":   lockbench.ErrNotAcquired,
		"lua-token/token":    lockbench.ErrNotAcquired,
		"lua-token/options":  lockbench.ErrNoEffect,
		"lua-token/strategy": lockbench.ErrNoEffect,
		"lua-token/fenced":   lockbench.ErrNoEffect,
		"lua-token/batched":  lockbench.ErrNoEffect,
	}
	for _, d := range Designs() {
		t.Run(d.Name, func(t *testing.T) {
			env := designtest.Embedded(t)
			env.Redis.Addr = "127.0.0.1:1" // nothing listens there
			env.Redis.DialerRetries = 1
			s := designtest.NewScene(t, d, env, 1)
			s.Want((<-s.Begin(s.Locker())).Err, want[d.Name])
		})
	}
}
