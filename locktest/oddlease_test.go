package locktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/locktest"
)

// inSeconds is an owner of a lock that counts its leases in whole seconds, at the end of a network.
// It tries once, however long it is to wait, and its leases tell since when they are valid.
type inSeconds struct {
	*service
	rounded func(ttl time.Duration) time.Duration
}

// Acquire implements lockbench.Locker.
func (l inSeconds) Acquire(_ context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	const trip = time.Millisecond
	from := time.Now()
	time.Sleep(trip)
	lease, err := l.try(key, max(time.Second, l.rounded(opt.TTL)))
	time.Sleep(trip)
	if err != nil {
		return nil, err
	}
	return &validLease{lease, design.Validity{From: from, Granted: opt.TTL}}, nil
}

type validLease struct {
	lockbench.Lease
	design.Validity
}

// TestLeasesInSeconds checks that each case about the end of a lease catches a lock that cuts its
// leases to whole seconds, although the lease of the settings is whole seconds, and passes a lock
// that rounds them up.
func TestLeasesInSeconds(t *testing.T) {
	cut := func(ttl time.Duration) time.Duration { return ttl.Truncate(time.Second) }
	up := func(ttl time.Duration) time.Duration { return (ttl + time.Second - 1).Truncate(time.Second) }
	for _, ttl := range []time.Duration{time.Second, 2 * time.Second} {
		for _, test := range []string{"late-release", "lease", "crash", "loss"} {
			for name, c := range map[string]struct {
				rounded func(time.Duration) time.Duration
				broken  bool
			}{"cut": {cut, true}, "up": {up, false}} {
				t.Run(test+"/"+ttl.String()+"/"+name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						s := newService(faults{})
						trial := tried(t, func() (lockbench.Locker, error) { return inSeconds{s, c.rounded}, nil },
							locktest.WithTTL(ttl), locktest.WithCase(test))
						if err := trial.Err(); (err != nil) != c.broken || errors.Is(err, locktest.ErrUntested) {
							t.Errorf("got error %v, want broken: %v", err, c.broken)
						}
					})
				})
			}
		}
	}
}
