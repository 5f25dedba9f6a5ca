package locktest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// A stubborn lock refuses a number of tries, grants one, and fails from then on.
type stubborn struct {
	refusals int
	waits    []time.Duration // asked for
	closed   bool
}

var errFailed = errors.New("failed")

func (s *stubborn) Acquire(_ context.Context, _ string, opt lockbench.Options) (lockbench.Lease, error) {
	s.waits = append(s.waits, opt.Wait)
	s.refusals--
	switch {
	case s.refusals >= 0:
		return nil, lockbench.ErrNotAcquired
	case s.refusals == -1:
		return freed{}, nil
	}
	return nil, errFailed
}

func (s *stubborn) Close() error {
	s.closed = true
	return nil
}

type freed struct{}

func (freed) Release(context.Context) error { return nil }

// attempts counts the observed attempts.
type attempts struct {
	design.Observer
	n int
}

func (a *attempts) Attempt(string) time.Time {
	a.n++
	return time.Now()
}

func TestTheHarnessWaits(t *testing.T) {
	for _, c := range []struct {
		name     string
		refusals int
		wait     time.Duration
		want     error
		attempts int
	}{
		{"granted at once", 0, 0, nil, 1},
		{"refused once", 1, 0, lockbench.ErrNotAcquired, 1},
		{"granted after a wait", 3, time.Second, nil, 4},
		{"refused after a wait", 100, time.Second, lockbench.ErrNotAcquired, 11},
		{"an error ends the wait", -1, time.Second, errFailed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lock, seen := &stubborn{refusals: c.refusals}, &attempts{}
				began := time.Now()
				lease, err := waiter{lock, seen, tryEvery}.Acquire(t.Context(), "k", lockbench.Options{TTL: time.Minute, Wait: c.wait})
				if !errors.Is(err, c.want) || (lease == nil) != (c.want != nil) {
					t.Errorf("got lease %v, error %v, want error %v", lease, err, c.want)
				}
				if waited := time.Since(began); waited > c.wait {
					t.Errorf("waited %v, want no more than %v", waited, c.wait)
				}
				if diff := cmp.Diff(lock.waits, make([]time.Duration, c.attempts)); diff != "" || seen.n != c.attempts {
					t.Errorf("%d attempts told, want %d; waits asked of the lock (-got +want):\n%s", seen.n, c.attempts, diff)
				}
			})
		})
	}
}

func TestProcess(t *testing.T) {
	var owners []string
	locks := []*stubborn{{}, {}}
	p := open(t, func(_ *testing.T, env Env) lockbench.Locker {
		owners = append(owners, env.Owner)
		return locks[len(owners)-1]
	}, onredis.Environment{Redis: &redis.Options{Addr: "127.0.0.1:1"}, Environment: design.Environment{Host: "h", PID: 7}})
	p.owner()
	p.owner()
	if diff := cmp.Diff(owners, []string{"h-7", "h-7-1"}); diff != "" {
		t.Errorf("owners (-got +want):\n%s", diff)
	}
	if err := p.close(); err != nil || !locks[0].closed || !locks[1].closed {
		t.Errorf("close: error %v, owners closed: %t, %t", err, locks[0].closed, locks[1].closed)
	}
	if err := p.client.Ping(t.Context()).Err(); !errors.Is(err, redis.ErrClosed) {
		t.Errorf("after close the client says %v, want that it is closed", err)
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stuck atomic.Int32
		a := watch(func() { stuck.Add(1) })
		for range 10 {
			a.seen()
			time.Sleep(patience - 1)
		}
		if stuck.Load() != 0 {
			t.Error("stuck, although there were signs of life")
		}
		time.Sleep(2 * patience)
		synctest.Wait()
		if n := stuck.Load(); n != 1 {
			t.Errorf("called %d times that it is stuck, want once", n)
		}
		a.stop()
	})
}
