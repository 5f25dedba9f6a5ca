// Package pglock tests cirello.io/pglock, locks with leases in a table of PostgreSQL, by an adapter as its users would
// write it.
package pglock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"cirello.io/pglock"
	_ "github.com/lib/pq"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// claims are with what the library's heartbeat is for, and without what the library does not promise: who asks for a key learns
// only by watching it for a lease that its owner is dead, so a single try is refused.
var claims = []string{"+exclusion@outlived", "-no-spurious-refusal", "-recovery"}

// leased is what every lock is leased for, whatever is asked for: the library goes by the lease of who asks, not by that of who
// holds the key, so that all have to be the same.
const leased = time.Second

func TestRun(t *testing.T) {
	db, err := sql.Open("postgres", os.Getenv("LIBRARIES_POSTGRES"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	client, err := pglock.New(db, pglock.WithLeaseDuration(leased), pglock.WithHeartbeatFrequency(leased/3))
	if err != nil {
		t.Fatal(err)
	}
	_ = client.CreateTable() // it may be there
	locktest.Run(t, func(*testing.T) lockbench.Locker { return &locker{client: client} }, locktest.WithRenewal(), locktest.WithClaims(claims...))
}

// A locker ends what it renews when it is closed.
type locker struct {
	client *pglock.Client
	ends   []context.CancelFunc
}

func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	from := time.Now()
	held, end := context.WithCancel(context.WithoutCancel(ctx)) // the library renews until it is over
	defer context.AfterFunc(ctx, end)()
	var options []pglock.LockOption
	over := time.AfterFunc(opt.Wait, end)
	if opt.Wait == 0 {
		over.Stop()
		options = append(options, pglock.FailIfLocked())
	}
	lock, err := l.client.AcquireContext(held, key, options...)
	if err == nil && opt.Wait > 0 && !over.Stop() {
		err = errors.Join(pglock.ErrNotAcquired, l.client.ReleaseContext(context.WithoutCancel(ctx), lock))
	}
	if err != nil {
		end()
		if errors.Is(err, pglock.ErrNotAcquired) {
			err = fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
		}
		return nil, err
	}
	l.ends = append(l.ends, end)
	return lease{l.client, lock, from}, nil
}

// Close implements io.Closer.
func (l *locker) Close() error {
	for _, end := range l.ends {
		end()
	}
	return nil
}

type lease struct {
	client *pglock.Client
	lock   *pglock.Lock
	from   time.Time
}

// Valid implements lockbench.Validator.
func (l lease) Valid() (time.Time, time.Duration) { return l.from, leased }

func (l lease) Release(ctx context.Context) error {
	err := l.client.ReleaseContext(ctx, l.lock)
	if errors.Is(err, pglock.ErrLockAlreadyReleased) {
		err = fmt.Errorf("%w: %w", lockbench.ErrNotHeld, err)
	}
	return err
}
