// Package etcd tests go.etcd.io/etcd/client/v3/concurrency, by an adapter as its users would write it.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// TestRun: leases are whole seconds.
func TestRun(t *testing.T) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Getenv("LIBRARIES_ETCD")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	locktest.Run(t, func(*testing.T) lockbench.Locker { return &locker{client: client} },
		locktest.WithRenewal(), locktest.WithLeaseUnit(time.Second), locktest.WithWaking())
}

// A locker has a session for each acquire, which it stops renewing when it is closed.
type locker struct {
	client   *clientv3.Client
	sessions []*concurrency.Session
}

func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	session, err := concurrency.NewSession(l.client, concurrency.WithTTL(int(opt.TTL/time.Second)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	mutex := concurrency.NewMutex(session, "/"+key+"/")
	if err := lock(ctx, mutex, opt.Wait); err != nil {
		session.Close()
		return nil, err
	}
	l.sessions = append(l.sessions, session)
	return lease{session, mutex}, nil
}

// lock waits, or tries once.
func lock(ctx context.Context, mutex *concurrency.Mutex, wait time.Duration) error {
	if wait == 0 {
		err := mutex.TryLock(ctx)
		if errors.Is(err, concurrency.ErrLocked) {
			return fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
		}
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := mutex.Lock(waiting)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
	}
	return err
}

// Close implements io.Closer.
func (l *locker) Close() error {
	for _, session := range l.sessions {
		session.Orphan()
	}
	return nil
}

type lease struct {
	session *concurrency.Session
	mutex   *concurrency.Mutex
}

// Lost implements lockbench.Watcher.
func (l lease) Lost() <-chan struct{} { return l.session.Done() }

func (l lease) Release(ctx context.Context) error {
	select {
	case <-l.session.Done():
		return lockbench.ErrNotHeld
	default:
	}
	err := l.mutex.Unlock(ctx)
	return errors.Join(err, l.session.Close())
}
