package designtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/go-redis/v9"
)

// lease is asked for where a case does not care: whole seconds, so that every
// design can grant it as asked, and longer than a case takes.
const lease = 2 * time.Second

// key is the lock that cases are about.
const key = "stage"

// A stage is where a case plays: owners of one design, on keys of its own.
type stage struct {
	*testing.T
	design    design.Design
	env       design.Environment
	gate      *Gate
	admin     *redis.Client
	processes []design.Process
	owners    int
}

// newStage opens processes of d that share nothing but the server.
func newStage(t *testing.T, d design.Design, env design.Environment, processes int) *stage {
	t.Helper()
	s := &stage{T: t, design: d, admin: Admin(t, env)}
	s.env, s.gate = Through(env)
	s.env.Prefix += t.Name() + ":"
	for i := range processes {
		at := s.env
		at.PID += i
		p, err := d.Open(at)
		if err != nil {
			t.Fatalf("open %s: %v", d.Name, err)
		}
		t.Cleanup(func() {
			if err := p.Close(); err != nil {
				t.Errorf("close %s: %v", d.Name, err)
			}
		})
		s.processes = append(s.processes, p)
	}
	return s
}

// Admin returns a client of env's server for the test itself, closed at its end.
func Admin(t testing.TB, env design.Environment) *redis.Client {
	client := redis.NewClient(env.Redis)
	t.Cleanup(func() { client.Close() })
	return client
}

// granted is the lease that the design should give when ttl is asked for.
func (s *stage) granted(ttl time.Duration) time.Duration {
	if s.design.Granted == nil {
		return ttl
	}
	return s.design.Granted(ttl)
}

// owner makes one more owner, in the next process, round robin.
func (s *stage) owner() (lockbench.Locker, *Attempts) {
	seen := &Attempts{First: make(chan struct{})}
	p := s.processes[s.owners%len(s.processes)]
	s.owners++
	return p.Locker(seen), seen
}

func (s *stage) locker() lockbench.Locker {
	l, _ := s.owner()
	return l
}

func (s *stage) acquire(l lockbench.Locker) lockbench.Lease {
	s.Helper()
	held, err := l.Acquire(s.Context(), key, lockbench.Options{TTL: lease, Metadata: "note"})
	if err != nil || held == nil {
		s.Fatalf("acquire: got lease %v, error %v", held, err)
	}
	return held
}

func (s *stage) release(held lockbench.Lease) {
	s.Helper()
	if err := held.Release(s.Context()); err != nil {
		s.Errorf("release: %v", err)
	}
}

func (s *stage) refused(l lockbench.Locker) {
	s.Helper()
	held, err := l.Acquire(s.Context(), key, lockbench.Options{TTL: lease})
	s.want(err, lockbench.ErrNotAcquired)
	if held != nil {
		s.Errorf("refused, yet got a lease")
	}
}

func (s *stage) want(got, want error) {
	s.Helper()
	if !errors.Is(got, want) {
		s.Errorf("got error %v, want %v", got, want)
	}
}

// keys returns what stands on the server for this stage, with the time left.
func (s *stage) keys() map[string]time.Duration {
	s.Helper()
	left := map[string]time.Duration{}
	names, err := s.admin.Keys(s.Context(), s.env.Prefix+"*").Result()
	for _, name := range names {
		left[name] = s.admin.PTTL(s.Context(), name).Val()
	}
	if err != nil {
		s.Fatalf("keys: %v", err)
	}
	return left
}

// expire takes every key of the stage away, as their expiry would.
func (s *stage) expire() {
	s.Helper()
	for name := range s.keys() {
		if err := s.admin.Del(s.Context(), name).Err(); err != nil {
			s.Fatalf("expire %s: %v", name, err)
		}
	}
}

// mortal fails the case if a key would stay for ever.
func (s *stage) mortal() {
	s.Helper()
	for name, left := range s.keys() {
		if left == -1 { // PTTL of a key without expiry
			s.Errorf("key %s has no expiry", name)
		}
	}
}

// Attempts is a [design.Observer] that keeps the start of each attempt.
type Attempts struct {
	First chan struct{} // closed at the first one, when not nil

	mu     sync.Mutex
	starts []time.Time
}

// Attempt implements design.Observer.
func (a *Attempts) Attempt(string) time.Time {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.starts) == 0 && a.First != nil {
		close(a.First)
	}
	a.starts = append(a.starts, now)
	return now
}

// Renewing implements design.Observer.
func (a *Attempts) Renewing(string) func(time.Duration, error) {
	return func(time.Duration, error) {}
}

// Starts returns the starts of the attempts so far, in order.
func (a *Attempts) Starts() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.starts)
}

// cancelled returns a context that has ended.
func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
