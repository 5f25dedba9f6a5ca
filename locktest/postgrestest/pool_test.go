//go:build unix

package postgrestest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locktest"
)

// A pool has idle sessions. The last one that came back is taken first, as in database/sql. Sessions go
// to the keys of one side of a case only: on a busy machine, others come between a death and the next
// acquire.
type pool struct {
	config *pgx.ConnConfig
	mu     sync.Mutex
	idle   map[string][]*pgx.Conn // by side
}

// side returns the name of the side of a key.
func side(key string) string {
	return strings.Join(append(strings.Split(key, "/"), "", "", "")[:4], "/")
}

// take returns a session for key.
func (p *pool) take(ctx context.Context, key string) (*pgx.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.idle[side(key)]
	if last := len(idle) - 1; last >= 0 {
		p.idle[side(key)] = idle[:last]
		return idle[last], nil
	}
	return pgx.ConnectConfig(ctx, p.config)
}

// put takes the session of key back.
func (p *pool) put(key string, conn *pgx.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle[side(key)] = append(p.idle[side(key)], conn)
}

// A pooled is an owner of advisory locks that takes a session from a pool for each hold.
type pooled struct {
	pool   *pool
	leaves bool // Close returns sessions with their locks, as go-pglock 3.0.0 does
	holds  map[string]*pgx.Conn
}

// Acquire implements lockbench.Locker.
func (p *pooled) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	for over := time.Now().Add(opt.Wait); ; time.Sleep(time.Millisecond) {
		lease, err := p.try(ctx, key)
		if lease != nil || err != nil || !time.Now().Before(over) {
			return refused(lease, err)
		}
	}
}

// try makes one try; neither a lease nor an error is a refusal.
func (p *pooled) try(ctx context.Context, key string) (lockbench.Lease, error) {
	if p.holds[key] != nil {
		return nil, nil
	}
	conn, err := p.pool.take(ctx, key)
	if err != nil {
		return nil, err
	}
	var granted bool
	err = conn.QueryRow(ctx, "select pg_try_advisory_lock(hashtextextended($1, 0))", key).Scan(&granted)
	if err != nil || !granted {
		p.pool.put(key, conn)
		return nil, err
	}
	p.holds[key] = conn
	return pooledLease{p, key}, nil
}

// Close implements io.Closer.
func (p *pooled) Close() (err error) {
	for key, conn := range p.holds {
		if !p.leaves {
			_, failed := conn.Exec(context.Background(), "select pg_advisory_unlock(hashtextextended($1, 0))", key)
			err = errors.Join(err, failed)
		}
		p.pool.put(key, conn)
	}
	return err
}

type pooledLease struct {
	*pooled
	key string
}

// Release implements lockbench.Lease.
func (l pooledLease) Release(ctx context.Context) error {
	conn, released := l.holds[l.key], false
	if conn == nil {
		return lockbench.ErrNotHeld
	}
	delete(l.holds, l.key)
	err := conn.QueryRow(ctx, "select pg_advisory_unlock(hashtextextended($1, 0))", l.key).Scan(&released)
	l.pool.put(l.key, conn)
	if err == nil && !released {
		err = lockbench.ErrNotHeld
	}
	return err
}

// TestPooledSessions checks that a lock that takes its sessions from a pool passes, and that one
// with a Close that returns them with their locks is caught, though the next acquire may get one.
func TestPooledSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for leases to end")
	}
	config := start(t)
	for name, leaves := range map[string]bool{"unlocked": false, "locked": true} {
		t.Run(name, func(t *testing.T) {
			pool := &pool{config: config, idle: map[string][]*pgx.Conn{}}
			defer func() {
				for _, idle := range pool.idle {
					for _, conn := range idle {
						_ = conn.Close(context.Background())
					}
				}
			}()
			trial, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) {
				return &pooled{pool, leaves, map[string]*pgx.Conn{}}, nil
			}, locktest.WithSession(), locktest.WithHistories(t.TempDir()), locktest.WithTTL(200*time.Millisecond), locktest.WithPatience(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			want := checker.Held
			if leaves {
				want = checker.Broken
			}
			if f := trial.Cells[lockbench.Recovery.At(lockbench.Crash)]; f.Verdict != want {
				t.Errorf("recovery@crash: got %v (%s), want %v; all: %v", f.Verdict, f.Note, want, trial.Err())
			}
		})
	}
}
