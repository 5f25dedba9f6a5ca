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

// givingUp returns a lock with acquires that take a while. If the context ends before that with the
// error leave, the key stays taken for good.
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

// untilItEnds leaves the key taken until the lease is over.
func untilItEnds() faults {
	return faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		lease, err := s.wait(ctx, key, opt)
		time.Sleep(time.Millisecond)
		if err == nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return lease, err
	}}
}

// TestLeftTaken checks that a lock that does not give back a key is reported with the time that the
// key stayed taken, and no other lock.
func TestLeftTaken(t *testing.T) {
	const said = "acquires that were given up left their key taken for nobody"
	cancelled := lockbench.Recovery.At(lockbench.Cancel)
	for _, c := range []struct {
		name   string
		faults faults
		want   bool
	}{{"until the lease is over", untilItEnds(), true}, {"given back", givingUp(errors.ErrUnsupported), false}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(c.faults)
				trial := triedWhole(t, func() (lockbench.Locker, error) { return s, nil }, locktest.WithCases(cancelled))
				got := testOf(trial, cancelled)
				if got.Verdict != checker.Held || strings.Contains(got.Note, said) != c.want {
					t.Errorf("got %v (%s), want it said: %t", got.Verdict, got.Note, c.want)
				}
				t.Log(got.Note)
			})
		})
	}
}

// TestContextsThatEnd checks that a key that stays taken after the context of its acquire ended is
// found, whether the context was cancelled or had a deadline, and that a key that is given back is
// not.
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
				if got := testOf(trial, cancelled); got.Verdict != c.want {
					t.Errorf("got %v (%s), want %v", got.Verdict, got.Note, c.want)
				}
			})
		})
	}
}
