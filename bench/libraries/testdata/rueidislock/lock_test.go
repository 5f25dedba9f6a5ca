// Package rueidislock tests github.com/redis/rueidis/rueidislock on one server, by an adapter as its users would write it.
package rueidislock

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// patience is how long the library gives a command: more than its 20 ms, for busy machines.
const patience = 500 * time.Millisecond

func TestRun(t *testing.T) {
	locktest.Run(t, func(*testing.T) lockbench.Locker { return &locker{lockers: map[time.Duration]rueidislock.Locker{}} },
		locktest.WithRenewal(), locktest.WithTimeout(patience))
}

// A locker has a Locker of the library for each lease asked for.
type locker struct {
	lockers map[time.Duration]rueidislock.Locker
}

func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	inner, err := l.of(opt.TTL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	held, cancel, err := inner.TryWithContext(context.WithoutCancel(ctx), key)
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
	}
	if err != nil {
		return nil, err
	}
	return lease{held, cancel}, nil
}

func (l *locker) of(ttl time.Duration) (rueidislock.Locker, error) {
	if inner, ok := l.lockers[ttl]; ok {
		return inner, nil
	}
	inner, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{os.Getenv("LIBRARIES_REDIS")}, DialCtxFn: dial},
		KeyMajority:  1, KeyValidity: ttl, TryNextAfter: patience, NoLoopTracking: true,
	})
	if err == nil {
		l.lockers[ttl] = inner
	}
	return inner, err
}

func dial(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
	return d.DialContext(ctx, "unix", addr)
}

// Close implements io.Closer.
func (l *locker) Close() error {
	for _, inner := range l.lockers {
		inner.Close()
	}
	return nil
}

type lease struct {
	held   context.Context
	cancel context.CancelFunc
}

// Lost implements lockbench.Watcher.
func (l lease) Lost() <-chan struct{} { return l.held.Done() }

func (l lease) Release(context.Context) error {
	if l.held.Err() != nil {
		return lockbench.ErrNotHeld
	}
	l.cancel()
	return nil
}
