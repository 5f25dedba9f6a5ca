package locktest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locktest"
)

// slowServer stands still for 150 ms of every 400 ms.
type slowServer struct{ start time.Time }

// rest returns how much longer it stands still.
func (s slowServer) rest() time.Duration {
	return max(0, 150*time.Millisecond-time.Since(s.start)%(400*time.Millisecond))
}

func (s slowServer) ping(context.Context) error {
	time.Sleep(s.rest())
	return nil
}

// impatient gives a try up when the server stands still, and reports only that it was not granted.
func (s slowServer) impatient() faults {
	return faults{acquire: func(ctx context.Context, l *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		if rest := s.rest(); rest > 0 {
			time.Sleep(rest)
			return nil, lockbench.ErrNotAcquired
		}
		return l.wait(ctx, key, opt)
	}}
}

// fickle refuses every third try at once, after the first looks.
func fickle() faults {
	return faults{acquire: func(ctx context.Context, l *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		if n := l.calls.Load(); n > 300 && n%3 == 0 {
			return nil, lockbench.ErrNotAcquired
		}
		return l.wait(ctx, key, opt)
	}}
}

// TestServerThatStandsStill checks that a refusal during a standstill of the server is not held
// against the lock if the test watches the server, and that a refusal by a server that answers is.
func TestServerThatStandsStill(t *testing.T) {
	cell := lockbench.NoSpuriousRefusal.At(0)
	for _, c := range []struct {
		name    string
		slow    bool // the server; else the lock refuses free keys by itself
		watched bool
		broken  bool
	}{
		{"slow and watched", true, true, false},
		{"slow and not watched", true, false, true},
		{"a lock that refuses free keys", false, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := slowServer{time.Now()}
				s, options := newService(fickle()), []locktest.RunOption{locktest.WithCases(cell)}
				ping := func(context.Context) error { return nil }
				if c.slow {
					time.Sleep(server.rest()) // a first look needs an answer
					s, ping = newService(server.impatient()), server.ping
				}
				if c.watched {
					options = append(options, locktest.WithServer(ping))
				}
				trial := triedWhole(t, func() (lockbench.Locker, error) { return s, nil }, options...)
				if got := testOf(trial, cell); (got.Verdict == checker.Broken) != c.broken {
					t.Errorf("got %v (%s), error %v, want it broken: %t", got.Verdict, got.Note, got.Err, c.broken)
				}
			})
		})
	}
}

// TestLookOnAMachineThatStandsStill checks that an unreachable lock accuses the machine if that
// stood still, and else the lock.
func TestLookOnAMachineThatStandsStill(t *testing.T) {
	timeout := errors.New("i/o timeout")
	for _, still := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(faults{acquire: func(context.Context, *service, string, lockbench.Options) (lockbench.Lease, error) {
				time.Sleep(time.Second)
				return nil, timeout
			}})
			options := []locktest.RunOption{locktest.WithHistories(t.TempDir())}
			if still {
				options = append(options, locktest.WithClock(halting{}))
			}
			_, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil }, options...)
			if !errors.Is(err, timeout) || errors.Is(err, locktest.ErrUntested) != still || strings.Contains(err.Error(), "the machine or the server stood still") != still {
				t.Errorf("stands still: %t: got error %v", still, err)
			}
		})
	}
}
