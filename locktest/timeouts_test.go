package locktest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// errOverdue refuses a key by a time-out of its own.
var errOverdue = fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, context.DeadlineExceeded)

// timesOut is an acquire that waits for at least 100 ms, and then times out. With ghost, an acquire
// keeps the key for nobody, for ever, if its context ends.
func timesOut(ghost bool) faults {
	return faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		for over := time.Now().Add(max(100*time.Millisecond, opt.Wait)); ; time.Sleep(time.Millisecond) {
			lease, err := s.try(key, opt.TTL)
			switch {
			case ctx.Err() != nil && ghost:
				s.mu.Lock()
				s.held[key] = &memoryLease{service: s, key: key, until: time.Now().Add(1000 * time.Hour)}
				s.mu.Unlock()
				return nil, ctx.Err()
			case ctx.Err() != nil && err != nil:
				return nil, ctx.Err()
			case err == nil:
				return lease, nil
			case !time.Now().Before(over):
				return nil, errOverdue
			}
		}
	}}
}

// TestRefusalsByTimeouts checks that a key that a cancelled acquire, or a death, leaves taken for
// ever is found though the lock refuses nothing but by a time-out of its own, and that a lock that
// leaves no key taken passes.
func TestRefusalsByTimeouts(t *testing.T) {
	slow := func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		return timesOut(false).acquire(ctx, s, key, opt)
	}
	for _, c := range []struct {
		name   string
		locker func() lockbench.Locker
		fails  string // cell
	}{
		{"sound", func() lockbench.Locker { return newService(faults{acquire: slow}) }, ""},
		{"sound and renewing", func() lockbench.Locker { return newWatchdog(newService(faults{acquire: slow})) }, ""},
		{"ghost", func() lockbench.Locker { return newService(timesOut(true)) }, "recovery@cancel"},
		{"outlives its owner", func() lockbench.Locker { return lasting{newService(faults{acquire: slow})} }, "recovery@crash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				first := c.locker()
				trial := tried(t, func() (lockbench.Locker, error) {
					if w, ok := first.(*watchdog); ok {
						return newWatchdog(w.service), nil
					}
					return first, nil
				}, locktest.WithCases(lockbench.Recovery.At(lockbench.Cancel), lockbench.Recovery.At(lockbench.Crash)))
				wantFailed(t, c.fails, trial.Err(), func(cell lockbench.Cell) bool {
					err := testOf(trial, cell).Err
					return err != nil && strings.Contains(err.Error(), "timed out 3 times in a row")
				})
			})
		})
	}
}
