package locktest_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// A pool has the sessions of a server. A lock lasts as long as its session, and a session may lock
// a key repeatedly, as with PostgreSQL's advisory locks. Sessions go to the keys of one side of a
// case only: in real time a death and the next acquire follow each other so closely that no other
// side comes between.
type pool struct {
	mu   sync.Mutex
	idle map[string][]*session // by side; the last one is taken first
	held map[string]*session
}

// side returns the name of the side of a key.
func side(key string) string {
	return strings.Join(append(strings.Split(key, "/"), "", "", "")[:4], "/")
}

type session struct{ locks map[string]int }

// try locks key in a session of the pool.
func (p *pool) try(key string) (*session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, idle := &session{map[string]int{}}, p.idle[side(key)]
	if last := len(idle) - 1; last >= 0 {
		s, p.idle[side(key)] = idle[last], idle[:last]
	}
	if by := p.held[key]; by != nil && by != s {
		p.idle[side(key)] = append(p.idle[side(key)], s)
		return nil, lockbench.ErrNotAcquired
	}
	p.held[key] = s
	s.locks[key]++
	return s, nil
}

// unlock unlocks key once, and returns the session to the pool.
func (p *pool) unlock(key string, s *session) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[key] != s {
		return lockbench.ErrNotHeld
	}
	if s.locks[key]--; s.locks[key] == 0 {
		delete(p.held, key)
	}
	p.idle[side(key)] = append(p.idle[side(key)], s)
	return nil
}

// pooled is an owner of a lock that takes a session from a pool for each hold.
type pooled struct {
	*pool
	leaves bool // Close returns sessions with their locks
	mine   map[*pooledLease]bool
}

type pooledLease struct {
	of      *pooled
	key     string
	session *session
}

// Acquire implements lockbench.Locker.
func (l *pooled) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	for over := time.Now().Add(opt.Wait); ; time.Sleep(time.Millisecond) {
		s, err := l.try(key)
		if err == nil {
			lease := &pooledLease{l, key, s}
			l.mine[lease] = true
			return lease, nil
		}
		if ctx.Err() != nil || !time.Now().Before(over) {
			return nil, err
		}
	}
}

// Release implements lockbench.Lease.
func (l *pooledLease) Release(context.Context) error {
	delete(l.of.mine, l)
	return l.of.unlock(l.key, l.session)
}

// Close implements io.Closer.
func (l *pooled) Close() error {
	for lease := range l.mine {
		if l.leaves {
			l.mu.Lock()
			l.idle[side(lease.key)] = append(l.idle[side(lease.key)], lease.session)
			l.mu.Unlock()
			continue
		}
		_ = lease.Release(context.Background())
	}
	return nil
}

// TestPooledSessions checks that a lock is caught if its Close returns its session to a pool
// without unlocking the key, although the next owner that is given this session is granted the key.
// A lock that unlocks the key must pass.
func TestPooledSessions(t *testing.T) {
	for name, leaves := range map[string]bool{"returned with its lock": true, "unlocked": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &pool{idle: map[string][]*session{}, held: map[string]*session{}}
				trial := tried(t, func() (lockbench.Locker, error) {
					return &pooled{p, leaves, map[*pooledLease]bool{}}, nil
				}, locktest.WithSession())
				if leaves {
					wantBroken(t, trial, lockbench.Recovery.At(lockbench.Crash))
					return
				}
				if err := trial.Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
