//go:build unix

package postgrestest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/locktest"
)

// session is an owner of PostgreSQL's advisory locks: a connection of its own, which frees them
// when it ends.
type session struct {
	conn *pgx.Conn
	held map[string]bool // keys that a second acquire of the session would nest in
	// keep takes the connection when the owner ends, as a pool would; nil closes it.
	keep func(*pgx.Conn)
}

// Acquire implements lockbench.Locker.
func (s *session) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	for over := time.Now().Add(opt.Wait); ; {
		lease, err := s.try(ctx, key)
		if lease != nil || err != nil || !time.Now().Before(over) {
			return refused(lease, err)
		}
		pause := time.NewTimer(time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, ctx.Err())
		}
	}
}

func refused(lease lockbench.Lease, err error) (lockbench.Lease, error) {
	if lease == nil && err == nil {
		return nil, lockbench.ErrNotAcquired
	}
	return lease, err
}

// try makes one try; neither a lease nor an error is a refusal.
func (s *session) try(ctx context.Context, key string) (lockbench.Lease, error) {
	if s.held[key] {
		return nil, nil
	}
	var granted bool
	if err := s.conn.QueryRow(ctx, "select pg_try_advisory_lock(hashtextextended($1, 0))", key).Scan(&granted); err != nil {
		return nil, err
	}
	if !granted {
		return nil, nil
	}
	s.held[key] = true
	return lease{s, key}, nil
}

// Close implements io.Closer.
func (s *session) Close() error {
	if s.keep != nil {
		s.keep(s.conn)
		return nil
	}
	return s.conn.Close(context.Background())
}

// A lease is a hold of a session.
type lease struct {
	*session
	key string
}

// Release implements lockbench.Lease.
func (l lease) Release(ctx context.Context) error {
	var released bool
	if err := l.conn.QueryRow(ctx, "select pg_advisory_unlock(hashtextextended($1, 0))", l.key).Scan(&released); err != nil {
		return err
	}
	delete(l.held, l.key)
	if !released {
		return lockbench.ErrNotHeld
	}
	return nil
}

// times is the number of tests of each lock, and timesLong that number in long tests.
const times, timesLong = 1, 20

// TestAdvisoryLocks checks that a session lock passes, and that one with a Close that returns the
// session to the pool, with its holds, is caught.
func TestAdvisoryLocks(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for leases to end")
	}
	config := start(t)
	for _, c := range []struct {
		name   string
		pooled bool
	}{{"closed", false}, {"left in the pool", true}} {
		t.Run(c.name, func(t *testing.T) {
			for range longtest.Times(times, timesLong) {
				trial := tried(t, config, c.pooled)
				cell := lockbench.Recovery.At(lockbench.Crash)
				recovered, err := trial.Cells[cell], trial.Tests[cell].Err
				switch {
				case c.pooled && recovered.Verdict != checker.Broken:
					t.Errorf("recovery@crash: got %v (%s), want it broken; all: %v", recovered.Verdict, recovered.Note, trial.Err())
				case c.pooled && strings.Contains(err.Error(), "lease of"):
					t.Errorf("a lease was granted: %v", err)
				case !c.pooled && (trial.Err() != nil || recovered.Verdict != checker.Held):
					t.Errorf("recovery@crash is %v; %v", recovered.Verdict, trial.Err())
				}
			}
		})
	}
}

// tried tests the lock once, in sessions that end afterwards.
func tried(t *testing.T, config *pgx.ConnConfig, pooled bool) locktest.Result {
	t.Helper()
	var mu sync.Mutex
	var pool []*pgx.Conn
	defer func() {
		for _, conn := range pool {
			_ = conn.Close(context.Background())
		}
	}()
	keep := func(conn *pgx.Conn) {
		mu.Lock()
		defer mu.Unlock()
		pool = append(pool, conn)
	}
	if !pooled {
		keep = nil
	}
	trial, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) {
		conn, err := pgx.ConnectConfig(t.Context(), config)
		return &session{conn: conn, held: map[string]bool{}, keep: keep}, err
	}, locktest.WithSession(), locktest.WithHistories(t.TempDir()), locktest.WithTTL(200*time.Millisecond), locktest.WithPatience(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return trial
}
