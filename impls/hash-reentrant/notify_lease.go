package hashreentrant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// notifyLease is one level of a hold. A hold with no reachable lease is no longer
// renewed.
type notifyLease struct {
	hold     *hold
	from     time.Time
	granted  time.Duration
	returned bool // its release was sent
	answered bool // its release was answered
}

// Release implements lockbench.Lease. A release with a lost reply may be
// repeated. A release that certainly had no effect leaves the level unchanged; if
// it was the last level, it is no longer renewed.
func (l *notifyLease) Release(ctx context.Context) error {
	h := l.hold
	depth, gone := h.releasing(l)
	if gone {
		return fmt.Errorf("unlock %q: %w", h.key, lockbench.ErrNotHeld)
	}
	_, gone, err := h.run(ctx, notifyUnlock, depth, h.channel)
	if err != nil {
		err = fmt.Errorf("unlock %q: %w", h.key, onredis.NoEffect(err))
	}
	return h.released(l, gone, err)
}

// releasing begins the release of l: it returns the remaining depth, or that the
// level is known to be gone. A hold that is over is released completely.
func (h *hold) releasing(l *notifyLease) (depth int, gone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	depth = h.depth
	if !l.returned {
		depth--
	}
	if h.over {
		depth = 0
	}
	if depth == 0 {
		h.ending = true
		h.renewal.Stop()
	}
	return depth, h.gone || l.answered
}

// released ends the release of l and returns its error.
func (h *hold) released(l *notifyLease, gone bool, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if errors.Is(err, lockbench.ErrNoEffect) {
		h.ending = false
		h.expiry.Reset(time.Until(h.deadline))
		return err
	}
	if !l.returned {
		l.returned = true
		h.depth--
	}
	l.answered = err == nil
	late := h.over && h.isLost()
	switch {
	case err == nil && gone:
		h.lose(true)
		return fmt.Errorf("unlock %q: %w", h.key, lockbench.ErrNotHeld)
	case h.depth == 0:
		h.finish()
	}
	if err == nil && late {
		return fmt.Errorf("unlock %q: %w", h.key, lockbench.ErrLate)
	}
	return err
}

func (h *hold) isLost() bool {
	select {
	case <-h.lost:
		return true
	default:
		return false
	}
}

// Extend implements lockbench.Extender. Renewals go on with ttl; it may be
// shorter than the time left.
func (l *notifyLease) Extend(ctx context.Context, ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("extend by %v: %w; hint: by more than 0s", ttl, lockbench.ErrNoEffect)
	}
	h := l.hold
	ttl = design.WholeMillis(ttl)
	if l.returned || h.isOver() {
		return fmt.Errorf("extend %q: %w", h.key, lockbench.ErrNotHeld)
	}
	start := time.Now()
	_, gone, err := h.run(ctx, notifyExtend, ttl.Milliseconds(), h.channel)
	err = onredis.NoEffect(err)
	if !h.extended(start, ttl, gone, err) {
		return fmt.Errorf("extend %q: %w", h.key, lockbench.ErrNotHeld)
	}
	if err != nil {
		return fmt.Errorf("extend %q: %w", h.key, err)
	}
	l.from, l.granted = start, ttl
	return nil
}

// extended records the result of an extend sent at start. It returns false if the
// hold is lost.
func (h *hold) extended(start time.Time, ttl time.Duration, gone bool, err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case errors.Is(err, lockbench.ErrNoEffect):
	case err != nil: // it may have shortened the lease: renew it at once
		h.since = time.Now()
		if until := start.Add(ttl); until.Before(h.deadline) {
			h.deadline = until
		}
		h.prolong(h.deadline)
		h.renewNow()
	case h.over || gone:
		h.lose(gone)
		return false
	default:
		h.since, h.lease, h.deadline = time.Now(), ttl, start.Add(ttl)
		h.prolong(h.deadline)
	}
	return true
}

// renewNow schedules the next renewal at once. h.mu is held.
func (h *hold) renewNow() {
	if !h.over && !h.ending {
		h.renewal.Reset(0)
	}
}

func (h *hold) isOver() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over
}

// TTL implements lockbench.TTLer.
func (l *notifyLease) TTL(ctx context.Context) (time.Duration, error) {
	left, _, err := l.hold.run(ctx, notifyTTL)
	if err != nil {
		return 0, fmt.Errorf("read the time left of %q: %w", l.hold.key, err)
	}
	return time.Duration(left) * time.Millisecond, nil
}

// Lost implements lockbench.Watcher. The channel is closed when the server
// reports that the lock is gone, or when no renewal succeeded for a whole lease.
func (l *notifyLease) Lost() <-chan struct{} { return l.hold.lost }

// Valid implements lockbench.Validator. Renewals are reported to the observer and
// do not show here.
func (l *notifyLease) Valid() (from time.Time, granted time.Duration) { return l.from, l.granted }
