package locktest_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/locktest"
)

// watchdog is an owner of a lock in memory that renews its leases by itself, every third of a
// lease, until it is closed. Closing ends its Lost channels, as rueidislock's does.
type watchdog struct {
	*service
	ctx   context.Context
	close context.CancelFunc
	done  sync.WaitGroup
	// before is called before each renewal; false skips it. nil always renews.
	before func(ctx context.Context) bool
	frees  bool // Close releases the holds, as rueidislock's may
}

func newWatchdog(s *service) *watchdog {
	ctx, cancel := context.WithCancel(context.Background())
	return &watchdog{service: s, ctx: ctx, close: cancel}
}

// Acquire implements lockbench.Locker.
func (w *watchdog) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := w.service.Acquire(ctx, key, opt)
	if err != nil {
		return nil, err
	}
	held, end := context.WithCancel(w.ctx)
	l := &watchedLease{memoryLease: lease.(*memoryLease), held: held, end: end}
	w.done.Go(func() { w.renew(l, opt.TTL) })
	return l, nil
}

func (w *watchdog) renew(l *watchedLease, ttl time.Duration) {
	defer l.end()
	tick := time.NewTicker(ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-l.held.Done():
			if w.frees && w.ctx.Err() != nil {
				_ = l.memoryLease.Release(context.Background()) // an owner that released it before need not learn of this
			}
			return
		case <-tick.C:
		}
		if w.before != nil && !w.before(l.held) || !l.prolong(ttl) {
			return
		}
	}
}

// prolong is a sound renewal.
func (l *memoryLease) prolong(ttl time.Duration) bool {
	s := l.service
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.held[l.key] != l || !now.Before(l.until) {
		return false
	}
	l.until = now.Add(ttl)
	return true
}

// Close implements io.Closer.
func (w *watchdog) Close() error {
	w.close()
	w.done.Wait()
	return nil
}

// watchedLease tells its owner of its loss.
type watchedLease struct {
	*memoryLease
	held context.Context
	end  context.CancelFunc
}

// Lost implements lockbench.Watcher.
func (l *watchedLease) Lost() <-chan struct{} { return l.held.Done() }

// Release implements lockbench.Lease.
func (l *watchedLease) Release(ctx context.Context) error {
	l.end()
	return l.memoryLease.Release(ctx)
}

// TestDeathReportsNoLoss checks that a lease that ends with the death of its owner is no loss that
// the owner reported.
func TestDeathReportsNoLoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(faults{})
		trial := tried(t, func() (lockbench.Locker, error) { return newWatchdog(s), nil })
		if err := trial.Err(); err != nil {
			t.Error(err)
		}
		wantHeld(t, trial, lockbench.Recovery.At(lockbench.Crash))
	})
}

// TestCloseMayRelease checks that a lock that releases its holds when it is closed is not accused
// of losing leases too early.
func TestCloseMayRelease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(faults{})
		trial := tried(t, func() (lockbench.Locker, error) {
			w := newWatchdog(s)
			w.frees = true
			return w, nil
		})
		if err := trial.Err(); err != nil {
			t.Error(err)
		}
		wantHeld(t, trial, lockbench.Recovery.At(lockbench.Crash))
	})
}

// lasting is an owner of a lock with leases that last for an hour, so that it counts as one that
// renews. Closing it changes nothing.
type lasting struct{ *service }

func (l lasting) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	opt.TTL = time.Hour
	return l.service.Acquire(ctx, key, opt)
}

func (l lasting) Close() error { return nil }

// TestLeasesThatOutliveTheirOwnersAreFound checks that a key that stays taken after its owner's
// death is found.
func TestLeasesThatOutliveTheirOwnersAreFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(faults{})
		trial := tried(t, func() (lockbench.Locker, error) { return lasting{s}, nil })
		wantBroken(t, trial, lockbench.Recovery.At(lockbench.Crash))
	})
}

// TestLossThatNeverWasIsFound checks that a live owner that reports a loss without a cause is
// found.
func TestLossThatNeverWasIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(faults{})
		trial := tried(t, func() (lockbench.Locker, error) {
			w := newWatchdog(s)
			w.before = func(context.Context) bool { return false }
			return w, nil
		})
		wantBroken(t, trial, lockbench.LossReported.At(0))
	})
}

// wantHeld asserts that cell was tested and held.
func wantHeld(t *testing.T, trial locktest.Result, cell lockbench.Cell) {
	t.Helper()
	if c := testOf(trial, cell); c.Verdict != checker.Held || c.Err != nil {
		t.Errorf("%s: got %v (%s) with error %v, want it held", cell, c.Verdict, c.Note, c.Err)
	}
}

// rueidisLocker is the adapter of a user of rueidislock.
type rueidisLocker struct{ rueidislock.Locker }

// Acquire implements lockbench.Locker.
func (l rueidisLocker) Acquire(ctx context.Context, key string, _ lockbench.Options) (lockbench.Lease, error) {
	held, cancel, err := l.TryWithContext(context.WithoutCancel(ctx), key)
	if err != nil {
		return nil, refusedBy(err)
	}
	return rueidisLease{held, cancel}, nil
}

func refusedBy(err error) error {
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
	}
	return err
}

// Close implements io.Closer.
func (l rueidisLocker) Close() error { l.Locker.Close(); return nil }

type rueidisLease struct {
	held   context.Context
	cancel context.CancelFunc
}

// Lost implements lockbench.Watcher.
func (l rueidisLease) Lost() <-chan struct{} { return l.held.Done() }

// Release implements lockbench.Lease.
func (l rueidisLease) Release(context.Context) error {
	if l.held.Err() != nil {
		return lockbench.ErrNotHeld
	}
	l.cancel()
	return nil
}

func dialUnix(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
	return d.DialContext(ctx, "unix", addr)
}

// TestTryRueidislock checks on a real server that the death of rueidislock's owners is tested, and
// accuses nobody.
func TestTryRueidislock(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for leases to end")
	}
	opt := servertest.Start(t).Options()
	t.Parallel()
	for range longtest.Times(1, 12) {
		diesSoundly(t, func(lease time.Duration) (lockbench.Locker, error) {
			l, err := rueidislock.NewLocker(rueidislock.LockerOption{
				ClientOption:   rueidis.ClientOption{InitAddress: []string{opt.Addr}, DialCtxFn: dialUnix},
				KeyMajority:    1,
				KeyValidity:    lease,
				NoLoopTracking: true,
			})
			return rueidisLocker{l}, err
		})
	}
}

// An exploredRueidis is the adapter of a user of rueidislock in virtual time, where each lease asked for
// needs a library of its own.
type exploredRueidis struct {
	env  locktest.Env
	each map[time.Duration]rueidisLocker
}

// Acquire implements lockbench.Locker.
func (e exploredRueidis) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	l, made := e.each[opt.TTL]
	if !made {
		inner, err := rueidislock.NewLocker(rueidislock.LockerOption{
			ClientOption: rueidis.ClientOption{
				InitAddress: []string{"127.0.0.1:6379"}, DisableCache: true, AlwaysRESP2: true, DisableRetry: true, ForceSingleClient: true, PipelineMultiplex: -1,
				DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
					return e.env.Dial(ctx, "tcp", addr)
				},
			},
			KeyMajority: 1, KeyValidity: opt.TTL, NoLoopTracking: true,
		})
		if err != nil {
			return nil, err
		}
		l = rueidisLocker{inner}
		e.each[opt.TTL] = l
	}
	return l.Acquire(ctx, key, opt)
}

// Close implements io.Closer.
func (e exploredRueidis) Close() error {
	for _, l := range e.each {
		_ = l.Close()
	}
	return nil
}

// TestExploreRueidislock checks that a lock that gives the key back if a renewal is not answered, and
// tells its owner, is not accused of a lease that is too short when nothing goes wrong: the fault
// struck between two calls, and no renewal is on record.
func TestExploreRueidislock(t *testing.T) {
	if !alone(t, 1200, 3000) {
		return
	}
	r, err := locktest.Check(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
		return exploredRueidis{env, map[time.Duration]rueidisLocker{}}
	}, locktest.WithClientRetries(0))
	if err != nil {
		t.Fatal(err)
	}
	broken := r.Cells.With(checker.Broken)
	for _, cell := range []lockbench.Cell{lockbench.LeaseKept.At(0), lockbench.LossReported.At(0)} {
		if slices.Contains(broken, cell) {
			t.Errorf("%s is broken: %v", cell, r.Tests[cell].Err)
		}
	}
	if cell := lockbench.LossReported.At(lockbench.LostReply); !slices.Contains(broken, cell) {
		t.Errorf("%s is not broken: no fault struck a renewal", cell)
	}
}

// diesSoundly asserts that the death of owners is tested and nothing is broken. If the machine is too slow for a lease, so
// that the library's timeouts end its calls and nothing is tested, it tries a longer one.
func diesSoundly(t *testing.T, newLocker func(lease time.Duration) (lockbench.Locker, error)) {
	t.Helper()
	var trial locktest.Result
	var err error
	for lease := time.Second; lease <= 16*time.Second; lease *= 2 {
		trial, err = locktest.Try(t.Context(), func() (lockbench.Locker, error) { return newLocker(lease) }, locktest.WithRenewal(),
			locktest.WithTTL(lease), locktest.WithHistories(t.TempDir()), locktest.WithCases(lockbench.Recovery.At(lockbench.Crash)))
		slow := errors.Is(err, context.DeadlineExceeded) || err == nil && testOf(trial, lockbench.Recovery.At(lockbench.Crash)).Verdict == checker.Untested
		if !slow {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := trial.Err(); err != nil {
		t.Error(err)
	}
	wantHeld(t, trial, lockbench.Recovery.At(lockbench.Crash))
}
