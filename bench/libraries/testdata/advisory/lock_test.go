// Package advisory tests github.com/allisson/go-pglock/v3, PostgreSQL's advisory locks, by an adapter as its users would
// write it.
package advisory

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"os"
	"testing"
	"time"

	pglock "github.com/allisson/go-pglock/v3"
	_ "github.com/lib/pq"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// TestRun: each owner is a process with a pool of connections of its own, which outlives its locks.
func TestRun(t *testing.T) {
	locktest.Run(t, func(*testing.T) lockbench.Locker {
		db, err := sql.Open("postgres", os.Getenv("LIBRARIES_POSTGRES"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return &locker{db: db, locks: map[string]*pglock.Lock{}}
	}, locktest.WithSession(), locktest.WithPolling(poll))
}

// poll is how often a waiter asks.
const poll = 10 * time.Millisecond

// A locker has a lock of the library for each key, with a session of its own, until it is closed.
type locker struct {
	db    *sql.DB
	locks map[string]*pglock.Lock
}

func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lock, err := l.of(ctx, key)
	if err != nil {
		return nil, err
	}
	for over := time.Now().Add(opt.Wait); ; time.Sleep(poll) {
		granted, err := lock.Lock(ctx)
		switch {
		case err != nil:
			return nil, err
		case granted:
			return lease{lock}, nil
		case !time.Now().Before(over):
			return nil, lockbench.ErrNotAcquired
		}
	}
}

func (l *locker) of(ctx context.Context, key string) (*pglock.Lock, error) {
	if lock, ok := l.locks[key]; ok {
		return lock, nil
	}
	id := fnv.New64a()
	id.Write([]byte(key))
	lock, err := pglock.NewLock(ctx, int64(id.Sum64()), l.db)
	if err != nil {
		return nil, err
	}
	l.locks[key] = &lock
	return &lock, nil
}

// Close implements io.Closer. The library's Close is to release all locks.
func (l *locker) Close() (err error) {
	for _, lock := range l.locks {
		err = errors.Join(err, lock.Close())
	}
	return err
}

type lease struct{ lock *pglock.Lock }

func (l lease) Release(ctx context.Context) error { return l.lock.Unlock(ctx) }
