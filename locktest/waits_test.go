package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locktest"
)

// polls waits by a try every so often.
func polls(every time.Duration) faults {
	return faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		for over := time.Now().Add(opt.Wait); ; time.Sleep(min(every, time.Until(over))) {
			if lease, err := s.try(key, opt.TTL); err == nil || !time.Now().Before(over) || ctx.Err() != nil {
				return lease, err
			}
		}
	}}
}

// sleepsThrough tries once, and then sleeps until the end of its wait.
func sleepsThrough(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := s.try(key, opt.TTL)
	if err == nil || opt.Wait <= 0 {
		return lease, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(opt.Wait):
	}
	return nil, lockbench.ErrNotAcquired
}

// hastes tries once, regardless of its wait.
func hastes(_ context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
	return s.try(key, opt.TTL)
}

// usesUp waits by a number of tries that all owners share, and then does not wait any more, as
// redislock 0.9.1 does with one Options for all.
func usesUp(tries int64) faults {
	var left atomic.Int64
	left.Store(tries)
	return faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		for over := time.Now().Add(opt.Wait); ; time.Sleep(min(time.Millisecond, time.Until(over))) {
			if lease, err := s.try(key, opt.TTL); err == nil || !time.Now().Before(over) || ctx.Err() != nil || left.Add(-1) < 0 {
				return lease, err
			}
		}
	}}
}

// handsOver returns from a release only after a waiter was granted the key.
func handsOver() faults {
	return faults{release: func(_ context.Context, l *memoryLease) error {
		defer time.Sleep(10 * time.Millisecond)
		return l.free()
	}}
}

// grantsAtTheEnd returns a grant at the end of its wait.
func grantsAtTheEnd(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := s.wait(ctx, key, opt)
	if err != nil && opt.Wait > 0 && ctx.Err() == nil {
		return &memoryLease{service: s, key: key, until: time.Now().Add(opt.TTL)}, nil
	}
	return lease, err
}

// TestWaiting checks that waiters are judged by the declarations about them.
func TestWaiting(t *testing.T) {
	type options = []locktest.RunOption
	for _, c := range []struct {
		name    string
		faults  faults
		options options
		skipped string
		verdict checker.Verdict
		fails   string
	}{
		{"polls often", polls(time.Millisecond), nil, "", checker.Held, ""},
		{"polls often, is declared to wake", polls(time.Millisecond), options{locktest.WithWaking()}, "", checker.Held, ""},
		{"polls as declared", polls(5 * time.Second), options{locktest.WithPolling(5 * time.Second)}, "", checker.Held, ""},
		{"polls as seldom as may be", polls(10 * time.Second), options{locktest.WithPolling(10 * time.Second)}, "", checker.Held, ""},
		{"polls more seldom than declared", polls(3500 * time.Millisecond), options{locktest.WithPolling(time.Second)}, "", checker.Broken, "waited on"},
		{"polls, is declared to wake", polls(3 * time.Second), options{locktest.WithWaking()}, "", checker.Broken, "waited on"},
		{"never wakes", faults{acquire: sleepsThrough}, nil, "", checker.Broken, "waited on"},
		{"never wakes, is declared to", faults{acquire: sleepsThrough}, options{locktest.WithWaking()}, "", checker.Broken, "waited on"},
		{"never wakes, tolerates", faults{acquire: sleepsThrough}, options{locktest.WithTolerance(5 * time.Second)}, "", checker.Broken, "waited on"},
		{"answers a release late", handsOver(), nil, "no key was free for a waiter: ", checker.Untested, ""},
		{"waits at first", usesUp(500), nil, "the lock does not wait as it is told: ", checker.Untested, "though the lock had waited as it was told"},
		{"does not wait", faults{acquire: hastes}, nil, "the lock does not wait as it is told: ", checker.Untested, ""},
		{"does not wait, is declared to", faults{acquire: hastes}, options{locktest.WithPolling(time.Second)}, "the lock does not wait as it is told: ", checker.Untested,
			"is declared to wait: polls every 1s; but the lock does not wait"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newService(c.faults)
				trial := tried(t, func() (lockbench.Locker, error) { return s, nil }, append(c.options, locktest.WithCases(lockbench.WakeUp.At(0)))...)
				got := testOf(trial, lockbench.WakeUp.At(0))
				if got.Verdict != c.verdict || !strings.HasPrefix(got.Skipped, c.skipped) || (c.skipped == "") != (got.Skipped == "") {
					t.Errorf("got %v (%s), skipped %q, want %v, %q", got.Verdict, got.Note, got.Skipped, c.verdict, c.skipped)
				}
				if (c.fails == "") != (got.Err == nil) || got.Err != nil && !strings.Contains(got.Err.Error(), c.fails) {
					t.Errorf("got error %v, want %q", got.Err, c.fails)
				}
			})
		})
	}
}

// TestGrantedAtTheEnd checks that a lock is caught that grants a waiter the key at the end of its
// wait although another owner holds it.
func TestGrantedAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(faults{acquire: grantsAtTheEnd})
		trial := tried(t, func() (lockbench.Locker, error) { return s, nil }, locktest.WithCases(lockbench.WakeUp.At(0)))
		wantBroken(t, trial, lockbench.Exclusion.At(0))
	})
}

// TestWaitingInRealTime checks that, on a machine of any speed, waiters that poll as declared are
// not accused, and that a waiter that sleeps through a release is, unless the machine stood still.
func TestWaitingInRealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for waits to be over")
	}
	wakeUp := lockbench.WakeUp.At(0)
	for name, c := range map[string]struct {
		faults faults
		broken bool
	}{"polls": {polls(50 * time.Millisecond), false}, "sleeps through": {faults{acquire: sleepsThrough}, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(c.faults)
			trial, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil },
				locktest.WithPolling(50*time.Millisecond), locktest.WithCases(wakeUp), locktest.WithHistories(t.TempDir()))
			if errors.Is(err, locktest.ErrUntested) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			accused := len(trial.Cells.With(checker.Broken)) > 0 // also under a pause, the condition of standstills
			if accused != c.broken && !errors.Is(trial.Err(), locktest.ErrUntested) {
				t.Errorf("broken: %v, want %v; error %v", accused, c.broken, trial.Err())
			}
		})
	}
}

// beating is a lock that renews its leases every half lease, a limited number of times, and reports
// no end.
type beating struct {
	*service
	beats  int
	spares func(key string) bool // whether to renew holds of a key for ever; nil is never
	over   context.Context
	end    context.CancelFunc
	done   sync.WaitGroup
}

func newBeating(s *service, beats int) *beating {
	over, end := context.WithCancel(context.Background())
	return &beating{service: s, beats: beats, over: over, end: end}
}

// Acquire implements lockbench.Locker.
func (b *beating) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := b.service.Acquire(ctx, key, opt)
	if err != nil {
		return nil, err
	}
	l, beats := lease.(*memoryLease), b.beats
	if b.spares != nil && b.spares(key) {
		beats = 1000
	}
	b.done.Go(func() {
		tick := time.NewTicker(opt.TTL / 2)
		defer tick.Stop()
		for range beats {
			select {
			case <-b.over.Done():
				return
			case <-tick.C:
			}
			if !l.prolong(opt.TTL) {
				return
			}
		}
	})
	return l, nil
}

// Close implements io.Closer.
func (b *beating) Close() error {
	b.end()
	b.done.Wait()
	return nil
}

// TestRenewalsThatEnd checks that a lock that stops renewing a hold breaks its claim to be
// exclusive past its lease, and that one that goes on keeps it.
func TestRenewalsThatEnd(t *testing.T) {
	claims := locktest.WithClaims("+exclusion@outlived")
	for _, c := range []struct {
		beats   int
		options []locktest.RunOption
		want    checker.Verdict
		fails   string
	}{
		{1000, nil, checker.Held, ""},
		{1, nil, checker.Broken, "worked on past its validity"},
		{3, nil, checker.Broken, "worked on past its validity"},
		{1, []locktest.RunOption{locktest.WithTTL(4 * time.Second)}, checker.Broken, "worked on past its validity"},
	} {
		c.options = append(c.options, claims)
		t.Run(fmt.Sprintf("%d beats", c.beats), func(t *testing.T) { testBeats(t, c.beats, c.options, c.want, c.fails) })
	}
}

// TestDeclaredRenewalsThatEnd checks that a lock that is declared to renew is held to it: it breaks
// its claim if its holds end by themselves, unless a standstill of the server may be the reason, or
// only one hold ended so.
func TestDeclaredRenewalsThatEnd(t *testing.T) {
	declared := []locktest.RunOption{locktest.WithRenewal(), locktest.WithTTL(2 * time.Second), locktest.WithCases(lockbench.Exclusion.At(lockbench.Outlived))}
	for _, c := range []struct {
		beats   int
		options []locktest.RunOption
		want    checker.Verdict
		fails   string
	}{
		{1000, nil, checker.Held, ""},
		{3, nil, checker.Broken, "worked on past its validity"},
		{3, []locktest.RunOption{locktest.WithClaims("-exclusion@outlived")}, checker.Broken, ""},
	} {
		t.Run(fmt.Sprintf("%d beats", c.beats), func(t *testing.T) { testBeats(t, c.beats, append(c.options, declared...), c.want, c.fails) })
	}
}

// TestDoubtfulRenewals checks that a lock that is declared to renew is not accused for one hold that
// ended, nor for holds that ended while the server stood still, and that neither passes.
func TestDoubtfulRenewals(t *testing.T) {
	var ended atomic.Bool
	first := func(key string) bool {
		return !strings.Contains(key, "/renewed/") || !strings.HasSuffix(key, "/1") || !ended.CompareAndSwap(false, true)
	}
	stands := func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		if strings.HasSuffix(key, "/control") {
			time.Sleep(opt.TTL / 7)
		}
		return s.wait(ctx, key, opt)
	}
	for _, c := range []struct {
		faults faults
		spares func(string) bool
		want   string
	}{
		{faults{}, first, "one hold ended although it was to be renewed"},
		{faults{acquire: stands}, nil, "a hold ended although it was to be renewed, and the machine or the server stood still for an eighth of a lease"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(c.faults)
			trial := tried(t, func() (lockbench.Locker, error) {
				b := newBeating(s, 3)
				b.spares = c.spares
				return b, nil
			}, locktest.WithRenewal(), locktest.WithTTL(2*time.Second), locktest.WithCases(lockbench.Exclusion.At(lockbench.Outlived)))
			wantRenewals(t, trial, checker.Untested, "untested, "+c.want)
		})
	}
}

func testBeats(t *testing.T, beats int, options []locktest.RunOption, want checker.Verdict, fails string) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(faults{})
		trial := tried(t, func() (lockbench.Locker, error) { return newBeating(s, beats), nil }, options...)
		wantRenewals(t, trial, want, fails)
	})
}

// wantRenewals asserts the verdict on holds past their leases, and its error.
func wantRenewals(t *testing.T, trial locktest.Result, want checker.Verdict, fails string) {
	t.Helper()
	got := testOf(trial, lockbench.Exclusion.At(lockbench.Outlived))
	if got.Verdict != want {
		t.Errorf("got %v (%s), skipped %q, want %v", got.Verdict, got.Note, got.Skipped, want)
	}
	if (fails == "") != (got.Err == nil) || got.Err != nil && !strings.Contains(got.Err.Error(), fails) {
		t.Errorf("got error %v, want %q", got.Err, fails)
	}
}

// TestWaitersThatAreSound checks that locks that wait by themselves, and do not tell when they were
// granted a key, are not accused.
func TestWaitersThatAreSound(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	for _, name := range []string{"bare", "sound", "renewing", "nested", "full"} {
		t.Run(name, func(t *testing.T) {
			if !alone(t, 600, 14_000) {
				return
			}
			r, err := locktest.Check(t, newOf(find(t, name)), locktest.WithClientRetries(0))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Err(); err != nil && strings.Contains(err.Error(), "broken") {
				t.Errorf("%v\n%s", err, r)
			}
			if f := testOf(r, lockbench.WakeUp.At(0)); f.Verdict != checker.Held || f.Exposure == 0 {
				t.Errorf("wake-up: got %v, exposed %d times (%s)", f.Verdict, f.Exposure, f.Note)
			}
		})
	}
}

// TestPrefixesOfKeys checks that a release that also frees every key that begins with its own is
// caught.
func TestPrefixesOfKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(faults{release: func(_ context.Context, l *memoryLease) error {
			err := l.free()
			l.service.mu.Lock()
			defer l.service.mu.Unlock()
			maps.DeleteFunc(l.service.held, func(key string, _ *memoryLease) bool { return key != l.key && strings.HasPrefix(key, l.key) })
			return err
		}})
		trial := tried(t, func() (lockbench.Locker, error) { return s, nil })
		if err := trial.Err(); err == nil || !strings.Contains(err.Error(), "lease: broken") {
			t.Errorf("got error %v, want a lease that is broken", err)
		}
	})
}
