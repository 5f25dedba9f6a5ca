package hashreentrant

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// A hold is one grant to one owner, with a lease for each acquire without a release. It renews
// itself by timers, so that a short hold costs no goroutine. Durations are measured on the
// monotonic clock: like a time-out, and unlike a time of day, they cannot be skewed. mu guards
// the state that renewals, releases and losses decide together, so it stays in one struct.
type hold struct {
	locker             *notifyLocker
	key, name, channel string // as passed to Acquire; the key and the channel on the server
	number             string

	// reachable counts the leases that are still reachable. The garbage collector detects an
	// owner that vanished without a release.
	reachable atomic.Int64

	mu       sync.Mutex
	depth    int           // number of leases not released
	lease    time.Duration // lease of renewals: the longest of the nested ones, or as extended
	since    time.Time     // renewals sent before then do not count for deadline
	deadline time.Time     // the hold is certain until then
	ending   bool          // its last release is on the way: no more renewals
	over     bool          // released or lost
	gone     bool          // the server reported that it is gone
	lost     chan struct{} // closed when lost
	renewal  *time.Timer   // nil until granted
	expiry   *time.Timer
}

// begin opens a hold granted to an attempt begun at start.
func (h *hold) begin(start time.Time) *notifyLease {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.depth = 1
	h.deadline = start.Add(h.lease)
	h.renewal = time.AfterFunc(time.Until(start.Add(h.lease/3)), h.renew)
	h.expiry = time.AfterFunc(time.Until(h.deadline), h.expire)
	h.register()
	return h.newLease(start, h.lease)
}

func (h *hold) register() {
	l, p := h.locker, h.locker.process
	l.mu.Lock()
	l.holds[h.key] = h
	l.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds[h] = struct{}{}
	if p.closed {
		h.stopTimers()
	}
}

// finish ends the hold for its owner. h.mu is held.
func (h *hold) finish() {
	if h.over {
		return
	}
	h.over = true
	h.stopTimers()
	l, p := h.locker, h.locker.process
	l.mu.Lock()
	if l.holds[h.key] == h {
		delete(l.holds, h.key)
	}
	l.mu.Unlock()
	p.mu.Lock()
	delete(p.holds, h)
	p.mu.Unlock()
}

// stopTimers needs no lock: once granted, a hold keeps its timers.
func (h *hold) stopTimers() {
	h.renewal.Stop()
	h.expiry.Stop()
}

// nest acquires one more level. After an error the levels below are unchanged, unless the hold
// was lost.
func (h *hold) nest(ctx context.Context, ttl time.Duration) (lockbench.Lease, error) {
	start := h.locker.observer.Attempt(h.key)
	h.mu.Lock()
	depth := h.depth + 1
	h.mu.Unlock()
	_, gone, err := h.run(ctx, notifyKeep, ttl.Milliseconds(), depth)
	if err != nil {
		return nil, fmt.Errorf("lock %q again: %w", h.key, onredis.NoEffect(err))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || gone {
		h.lose(gone)
		return nil, fmt.Errorf("lock %q again: %w", h.key, lockbench.ErrNotHeld)
	}
	h.depth++
	h.lease = max(h.lease, ttl)
	h.prolong(start.Add(ttl))
	return h.newLease(start, ttl), nil
}

// prolong records that the hold is certain until then at least. h.mu is held.
func (h *hold) prolong(until time.Time) {
	if until.After(h.deadline) {
		h.deadline = until
	}
	if h.over || h.ending {
		return
	}
	left := time.Until(h.deadline)
	h.expiry.Reset(left)
	next := h.lease / 3
	if left > 0 && left <= next { // a late answer to an extend leaves less
		next = left / 2
	}
	h.renewal.Reset(next)
}

// lose ends the hold as lost and informs its owner. h.mu is held.
func (h *hold) lose(gone bool) {
	h.gone = h.gone || gone
	if !h.over {
		h.finish()
		close(h.lost)
	}
}

// expire runs if no renewal succeeded for a whole lease.
func (h *hold) expire() {
	if !h.locker.process.begin() {
		return
	}
	defer h.locker.process.background.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch left := time.Until(h.deadline); {
	case h.ending: // the release will report it
	case left > 0: // prolonged just before
		h.expiry.Reset(left)
	default:
		h.lose(false)
	}
}

// renew runs a third of the lease after the last success, and sooner after an
// error.
func (h *hold) renew() {
	if !h.locker.process.begin() {
		return
	}
	defer h.locker.process.background.Done()
	lease, deadline, due := h.dueRenewal()
	if !due {
		return
	}
	ctx, cancel := context.WithDeadline(h.locker.process.ctx, deadline)
	defer cancel()
	done := h.locker.observer.Renewing(h.key)
	start := time.Now()
	_, gone, err := h.run(ctx, notifyKeep, lease.Milliseconds(), 0)
	if err = h.renewed(start, lease, gone, err); err != nil {
		lease, err = 0, fmt.Errorf("renew %q: %w", h.key, err)
	}
	done(lease, err)
}

// dueRenewal returns the lease and the deadline of a due renewal. It ends a hold with no
// reachable lease.
func (h *hold) dueRenewal() (lease time.Duration, deadline time.Time, due bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reachable.Load() == 0 {
		h.finish()
	}
	return h.lease, h.deadline, !h.over && !h.ending
}

// renewed records the result of a renewal sent at start, and returns the error to report.
func (h *hold) renewed(start time.Time, lease time.Duration, gone bool, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil:
		if !h.over && !h.ending {
			h.renewal.Reset(h.lease / 12)
		}
		return onredis.NoEffect(err)
	case gone && (h.over || h.ending): // by our own release
		return fmt.Errorf("released meanwhile: %w", lockbench.ErrNoEffect)
	case gone:
		h.lose(true)
		return lockbench.ErrNotHeld
	case start.Before(h.since): // an extend sent since may have run after it
		h.prolong(h.deadline)
	default:
		h.prolong(start.Add(lease))
	}
	return nil
}

func (h *hold) newLease(from time.Time, granted time.Duration) *notifyLease {
	l := &notifyLease{hold: h, from: from, granted: granted}
	h.reachable.Add(1)
	// The clean-up touches only an atomic, because it may run on any goroutine.
	runtime.AddCleanup(l, func(n *atomic.Int64) { n.Add(-1) }, &h.reachable)
	return l
}
