package locktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// extensible is an owner of a lock with leases that can be extended.
type extensible struct {
	*service
	// extended returns the new end of a lease, sound if nil.
	extended func(until time.Time, ttl time.Duration) time.Time
	// forgets: a release knows only the end of the lease as it was granted.
	forgets bool
}

// Acquire implements lockbench.Locker.
func (e extensible) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := e.wait(ctx, key, opt)
	if err != nil {
		return nil, err
	}
	l := lease.(*memoryLease)
	return extensibleLease{l, e, l.until}, nil
}

type extensibleLease struct {
	*memoryLease
	of    extensible
	first time.Time // end of the lease as granted
}

// Extend implements lockbench.Extender.
func (l extensibleLease) Extend(_ context.Context, ttl time.Duration) error {
	if l.of.extended == nil {
		if !l.prolong(ttl) {
			return lockbench.ErrNotHeld
		}
		return nil
	}
	if !l.prolong(time.Until(l.of.extended(l.until, ttl))) {
		return lockbench.ErrNotHeld
	}
	return nil
}

// Release implements lockbench.Lease.
func (l extensibleLease) Release(context.Context) error {
	if l.of.forgets && !time.Now().Before(l.first) {
		return lockbench.ErrNotHeld
	}
	return l.free()
}

// TestExtensions checks that locks are caught that add an extension to what is left of a lease, or
// forget it at the release.
func TestExtensions(t *testing.T) {
	adds := func(until time.Time, ttl time.Duration) time.Time { return until.Add(ttl) }
	for name, c := range map[string]struct {
		lock   extensible
		breaks string // cells
	}{
		"sound":   {extensible{}, ""},
		"adds":    {extensible{extended: adds}, "recovery@crash"},
		"forgets": {extensible{forgets: true}, "loss-reported"},
	} {
		for _, ttl := range []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second} {
			t.Run(name+"/"+ttl.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					lock := c.lock
					lock.service = newService(faults{})
					trial := tried(t, func() (lockbench.Locker, error) { return lock, nil }, locktest.WithTTL(ttl))
					if err := trial.Err(); c.breaks == "" && err != nil {
						t.Error(err)
					}
					for _, cell := range cellsOf(t, c.breaks) {
						wantBroken(t, trial, cell)
					}
				})
			})
		}
	}
}
