package locktest

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
)

// reportStuck reports that the key did not come free after a fault. The checker judges refusals, so
// reportStuck looks for time-outs of the lock: three in a row, by two owners that were granted the
// key before. Each counts only if its owner is granted a key of its own in less time, and neither
// the machine nor the server stands still. No lease is left by then, and no other owner asks for
// the key.
func (s *fixture) reportStuck(after string, first, second *owner) {
	stood := s.stood()
	if !first.granted || !second.granted {
		return
	}
	const times = 3
	for n := range times {
		o := first
		if n == 1 {
			o = second
		}
		if !s.outlastUnknown() || !o.timesOut(fmt.Sprintf("%s/control-%d", s.key, n)) {
			return
		}
	}
	if s.stood() == stood {
		s.notes.fail(fmt.Errorf("%s, no lease could have lasted, and acquires of its key timed out %d times in a row, while the same owners were granted other keys; the last: %w",
			after, times, second.failed))
	}
}

// outlastUnknown waits until no lease can be left of an owner's last try of the key, if the outcome
// of such a try may be unknown. It returns false for a lock without leases.
func (s *fixture) outlastUnknown() bool {
	for _, o := range s.owners {
		if !o.crashed.Load() && o.failed != nil && !errors.Is(o.failed, lockbench.ErrNotAcquired) {
			return !s.can.session && s.sleep(s.lease()+s.slack())
		}
	}
	return true
}

// timesOut tries the key and reports whether that ended in a time-out, and the owner is granted
// another key in less time.
func (o *owner) timesOut(control string) bool {
	s := o.fixture
	began := time.Now()
	lease := o.ask(lockbench.Options{TTL: s.lease()})
	took := time.Since(began)
	if o.release(lease); lease != nil || !timedOut(o.failed) {
		return false
	}
	began = time.Now()
	free, err := o.guard.Acquire(s.ctx, control, lockbench.Options{TTL: s.lease()})
	if err != nil {
		return false
	}
	fresh := time.Since(began) < took
	return free.Release(s.ctx) == nil && fresh
}
