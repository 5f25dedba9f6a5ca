package locktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locktest"
)

// givingUp leaves the key taken for good in a lock whose acquire takes a while, and whose context is over before that: with an
// error that leave says is of the kind.
func givingUp(leave error) faults {
	return faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		lease, err := s.wait(ctx, key, opt)
		time.Sleep(time.Millisecond)
		switch {
		case err != nil || ctx.Err() == nil:
			return lease, err
		case errors.Is(ctx.Err(), leave):
			l := lease.(*memoryLease)
			s.mu.Lock()
			l.until = time.Now().Add(time.Hour)
			s.mu.Unlock()
			return nil, ctx.Err()
		}
		return nil, errors.Join(lease.Release(context.WithoutCancel(ctx)), ctx.Err())
	}}
}

// TestContextsThatEnd: a key that stays taken after an acquire whose context ended is found, whether it was cancelled or had a
// deadline. One that is given back is not.
func TestContextsThatEnd(t *testing.T) {
	cancelled := lockbench.Recovery.At(lockbench.Cancel)
	for _, c := range []struct {
		name  string
		leave error
		want  checker.Verdict
	}{
		{"cancelled", context.Canceled, checker.Broken},
		{"deadline", context.DeadlineExceeded, checker.Broken},
		{"gives it back", errors.ErrUnsupported, checker.Held},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(givingUp(c.leave))
				trial := triedWhole(t, func() (lockbench.Locker, error) { return s, nil }, locktest.WithCases(cancelled))
				if got := caseOf(trial, cancelled); got.Verdict != c.want {
					t.Errorf("got %v (%s), want %v", got.Verdict, got.Note, c.want)
				}
			})
		})
	}
}
