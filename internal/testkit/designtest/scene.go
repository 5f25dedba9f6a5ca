package designtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// Key is the lock of scenes.
const Key = "scene"

// A Scene is the environment of a case: owners of one design, on a lock of their
// own, behind a gate. Only one goroutine may use it at a time.
type Scene struct {
	*testing.T
	// TTL is the lease that Acquire asks for: at first 2 s, which every design can
	// grant exactly, and longer than a case takes.
	TTL time.Duration
	// Env is the environment of the processes, Gate the gate that their commands
	// pass.
	Env  onredis.Environment
	Gate *Gate
	// Admin connects to the server directly, not through the gate.
	Admin *redis.Client

	design    design.Design
	admins    []*redis.Client // Admin, and clients of the other servers
	processes []design.Process
	owners    int
}

// NewScene opens processes of d that share nothing but the server; they are
// closed when t ends.
func NewScene(t *testing.T, d design.Design, env onredis.Environment, processes int) *Scene {
	t.Helper()
	s := &Scene{T: t, TTL: 2 * time.Second, design: d, Admin: Admin(t, env)}
	s.admins = append(s.admins, s.Admin)
	for _, opt := range env.Others {
		s.admins = append(s.admins, Admin(t, onredis.Environment{Redis: opt}))
	}
	s.Env, s.Gate = Through(env)
	s.Env.Prefix += t.Name() + ":"
	for i := range processes {
		at := s.Env
		at.PID += i
		s.Open(at)
	}
	return s
}

// Admin returns a client of env's server for the test itself, closed at its end.
func Admin(t testing.TB, env onredis.Environment) *redis.Client {
	client := redis.NewClient(env.Redis)
	t.Cleanup(func() { client.Close() })
	return client
}

// Open adds a process that lives in env.
func (s *Scene) Open(env onredis.Environment) design.Process {
	s.Helper()
	p, err := s.design.Open(env.General())
	if err != nil {
		s.Fatalf("open %s: %v", s.design.Name, err)
	}
	s.Cleanup(func() {
		if err := p.Close(); err != nil {
			s.Errorf("close %s: %v", s.design.Name, err)
		}
	})
	s.processes = append(s.processes, p)
	return p
}

// Granted is the lease that the design should give for ttl.
func (s *Scene) Granted(ttl time.Duration) time.Duration {
	if s.design.Granted == nil {
		return ttl
	}
	return s.design.Granted(ttl)
}

// Owner makes one more owner, in the next process, round robin.
func (s *Scene) Owner() (lockbench.Locker, *Attempts) {
	seen := &Attempts{First: make(chan struct{})}
	p := s.processes[s.owners%len(s.processes)]
	s.owners++
	return p.Locker(seen), seen
}

// Locker is Owner for tests without attempts.
func (s *Scene) Locker() lockbench.Locker {
	l, _ := s.Owner()
	return l
}

// Acquire makes l take the lock, and ends the test if it cannot.
func (s *Scene) Acquire(l lockbench.Locker) lockbench.Lease {
	s.Helper()
	held, err := l.Acquire(s.Context(), Key, lockbench.Options{TTL: s.TTL, Metadata: "note"})
	if err != nil {
		s.Fatalf("acquire: %v", err)
	}
	return held
}

// Release releases held, and fails the test on any error.
func (s *Scene) Release(held lockbench.Lease) {
	s.Helper()
	if err := held.Release(s.Context()); err != nil {
		s.Errorf("release: %v", err)
	}
}

// Refused fails the test unless l, trying once, is refused.
func (s *Scene) Refused(l lockbench.Locker) {
	s.Helper()
	held, err := l.Acquire(s.Context(), Key, lockbench.Options{TTL: s.TTL})
	s.Want(err, lockbench.ErrNotAcquired)
	if held != nil {
		s.Errorf("refused, yet got a lease")
	}
}

// Want fails the test unless got wraps want.
func (s *Scene) Want(got, want error) {
	s.Helper()
	if !errors.Is(got, want) {
		s.Errorf("got error %v, want %v", got, want)
	}
}

// Keys returns the scene's keys on the servers, with the time left on the last
// server that has each; without the counter of grants, which outlives them.
func (s *Scene) Keys() map[string]time.Duration {
	s.Helper()
	left := map[string]time.Duration{}
	for _, admin := range s.admins {
		names, err := admin.Keys(s.Context(), s.Env.Prefix+"*").Result()
		for _, name := range names {
			if s.design.Fences && strings.HasSuffix(name, ":fence") {
				continue
			}
			left[name] = admin.PTTL(s.Context(), name).Val()
		}
		if err != nil {
			s.Fatalf("keys: %v", err)
		}
	}
	return left
}

// Expire removes every key of the scene, as its expiry would.
func (s *Scene) Expire() {
	s.Helper()
	for name := range s.Keys() {
		for _, admin := range s.admins {
			if err := admin.Del(s.Context(), name).Err(); err != nil {
				s.Fatalf("expire %s: %v", name, err)
			}
		}
	}
}

// Mortal fails the case if a key has no expiry.
func (s *Scene) Mortal() {
	s.Helper()
	for name, left := range s.Keys() {
		if left == -1 { // PTTL of a key without expiry
			s.Errorf("key %s has no expiry", name)
		}
	}
}

// An Outcome is the result of an Acquire.
type Outcome struct {
	Lease lockbench.Lease
	Err   error
}

// Begin makes l try once to take the lock, in the background. The caller must
// receive the outcome.
func (s *Scene) Begin(l lockbench.Locker) <-chan Outcome {
	done := make(chan Outcome, 1)
	ttl := s.TTL
	go func() {
		held, err := l.Acquire(s.Context(), Key, lockbench.Options{TTL: ttl})
		done <- Outcome{held, err}
	}()
	return done
}

// cancelled returns a context that has ended.
func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
