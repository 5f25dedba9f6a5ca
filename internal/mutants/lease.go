package mutants

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// A lease is one level of a hold.
type lease struct {
	design.Validity
	hold     *hold
	returned bool // its release was sent
	answered bool // its release was answered
}

// Release implements lockbench.Lease. An unanswered release may be repeated.
func (l *lease) Release(ctx context.Context) error { return l.give(ctx, 0) }

// ReleaseAfter implements lockbench.DelayedReleaser. The delay of an inner level is kept until the
// last level is released.
func (l *lease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	return l.give(ctx, design.WholeMillis(d))
}

func (l *lease) give(ctx context.Context, d time.Duration) error {
	h := l.hold
	p := h.owner.process
	depth, rest, gone := h.releasing(l, d)
	if gone {
		return fmt.Errorf("unlock %q: %w", h.key, lockbench.ErrNotHeld)
	}
	var held bool
	var err error
	switch {
	case depth > 0:
		held, err = p.inner(ctx, h)
	case rest > 0:
		held, err = p.delay(ctx, h, rest)
	default:
		held, err = p.free(ctx, h)
	}
	return h.released(l, held, onredis.NoEffect(err))
}

// releasing begins the release of l. It returns the remaining depth, how long the release must keep
// others out, and whether l is known to be gone.
func (h *hold) releasing(l *lease, d time.Duration) (depth int, rest time.Duration, gone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.answered {
		return 0, 0, true
	}
	if until := time.Now().Add(d); d > 0 && until.After(h.until) {
		h.until = until
	}
	depth = h.depth
	if !l.returned {
		depth--
	}
	if h.over {
		depth = 0
	}
	h.ending = depth == 0
	return depth, time.Until(h.until), false
}

// released ends the release of l and returns its error.
func (h *hold) released(l *lease, held bool, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending = false
	if errors.Is(err, lockbench.ErrNoEffect) {
		h.watch()
		return err
	}
	if !l.returned {
		l.returned = true
		h.depth--
	}
	l.answered = err == nil
	late := h.isLost()
	if err == nil && !held {
		h.lose()
		return fmt.Errorf("unlock %q: %w", h.key, lockbench.ErrNotHeld)
	}
	if h.owner.process.ends(h.depth, err) {
		h.finish()
	}
	h.watch()
	if err == nil && late {
		return fmt.Errorf("unlock %q: %w", h.key, lockbench.ErrLate)
	}
	return err
}

// Extend implements lockbench.Extender. Later renewals use ttl as well.
func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("extend by %v: %w; hint: by more than 0s", ttl, lockbench.ErrNoEffect)
	}
	h := l.hold
	ttl = h.owner.process.rounded(ttl)
	if l.returned || !h.extending() {
		return fmt.Errorf("extend %q: %w", h.key, lockbench.ErrNotHeld)
	}
	start := time.Now() // real time, like an attempt's start
	held, err := h.owner.process.keep(ctx, h, ttl)
	if err = h.extended(start, ttl, held, onredis.NoEffect(err)); err != nil {
		return fmt.Errorf("extend %q: %w", h.key, err)
	}
	l.From, l.Granted = start, ttl
	return nil
}

// extending begins an extend, and returns false if the hold is over.
func (h *hold) extending() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calling = !h.over
	return h.calling
}

// extended records the result of an extend sent at start, and returns the error
// for the caller.
func (h *hold) extended(start time.Time, ttl time.Duration, held bool, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calling = false
	switch {
	case errors.Is(err, lockbench.ErrNoEffect):
		h.watch()
	case err != nil: // it may have shortened the lease, or may still do so
		h.since, h.unsure = time.Now(), true
		if until := start.Add(ttl); until.Before(h.deadline) {
			h.deadline = until
		}
		h.watch()
		h.renewIn(0)
	case !held || h.over: // the answer to a renewal ended the hold meanwhile
		h.lose()
		return lockbench.ErrNotHeld
	default:
		crossing := h.renewed.Add(min(ttl, h.lease)) // a renewal sent since may have run after it
		h.since, h.lease, h.deadline = time.Now(), ttl, start.Add(ttl)
		h.prolong(crossing)
		h.renewIn(ttl / 3)
	}
	return err
}

// TTL implements lockbench.TTLer.
func (l *lease) TTL(ctx context.Context) (time.Duration, error) {
	left, err := l.hold.run(ctx, ttlScript, l.hold.token)
	if err != nil {
		return 0, fmt.Errorf("read the time left of %q: %w", l.hold.key, err)
	}
	return time.Duration(left) * time.Millisecond, nil
}

// Fence implements lockbench.Fencer. All levels of a hold share one fence, the newest.
func (l *lease) Fence() uint64 { return l.hold.fence }

// A noticed is a lease of a lock that notices a loss by itself.
type noticed struct{ *lease }

// Lost implements lockbench.Watcher. The channel is closed when the lease is over.
func (l *noticed) Lost() <-chan struct{} { return l.hold.lost }
