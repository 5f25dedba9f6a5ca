package mutants

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// A hold is one grant to one owner, with one lease for each of its acquires. Its first fields are
// constant; mu guards those below it. Mutants use all of them.
type hold struct {
	owner *owner
	key   string // as passed to Acquire
	name  string // name on the server
	token string
	first time.Time     // start of the first attempt, for mutants that use it
	from  time.Time     // start of the attempt that succeeded
	wait  time.Duration // how long the acquire may wait
	fence uint64        // only the owner's goroutine reads and writes it

	mu       sync.Mutex
	depth    int           // number of leases not released
	lease    time.Duration // requested lease; the longest of the nested ones, or as extended
	since    time.Time     // a renewal sent before this time may have run before an extend
	unsure   bool          // an extend got no answer, so the deadline is unknown after a renewal
	renewed  time.Time     // start of the newest answered renewal
	deadline time.Time     // the hold is certain until this time
	until    time.Time     // time until which a delayed release keeps others out
	calling  bool          // an extend is in progress, and a loss is noticed only after it
	ending   bool          // the last release is in progress
	over     bool          // released, or lost with the owner notified
	lost     chan struct{} // closed when lost
	renewal  *time.Timer   // nil unless granted
	expiry   *time.Timer
}

func (h *hold) client() *redis.Client { return h.owner.process.client }

// counter returns the key of the counter of the lock's fences.
func (h *hold) counter() string { return h.name + ":fence" }

// begin opens a granted hold.
func (h *hold) begin() lockbench.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.owner.process
	promised := p.promise(h.lease)
	h.depth = 1
	h.deadline = h.from.Add(promised)
	h.expiry = time.AfterFunc(time.Until(h.deadline), h.expire)
	h.renewal = time.AfterFunc(h.lease/3, h.renew)
	if !p.notices {
		h.expiry.Stop()
	}
	if !p.renews {
		h.renewal.Stop()
	}
	p.register(h)
	return h.leaseFrom(h.from, promised)
}

func (h *hold) leaseFrom(start time.Time, granted time.Duration) lockbench.Lease {
	l := &lease{Validity: design.Validity{From: start, Granted: granted}, hold: h}
	if h.owner.process.notices {
		return &noticed{l}
	}
	return l
}

// stopTimers stops the timers. It may be called without mu, since a hold never replaces them.
func (h *hold) stopTimers() {
	h.renewal.Stop()
	h.expiry.Stop()
}

// live reports whether the hold may be acquired again.
func (h *hold) live() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.over && h.depth > 0
}

// again acquires one more level. After an error the levels below are unchanged, unless the hold is
// lost.
func (h *hold) again(ctx context.Context, ttl time.Duration) (lockbench.Lease, error) {
	p := h.owner.process
	start := h.owner.seen.Attempt(h.key)
	held, err := p.nest(ctx, h, ttl)
	err = onredis.NoEffect(err)
	if err == nil && held && h.isLost() { // the server counts another level that no owner will release
		held, err = false, h.freeLapsed(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil && (!held || h.over) {
		h.lose()
		err = lockbench.ErrNotHeld
	}
	if err != nil {
		return nil, fmt.Errorf("lock %q again: %w", h.key, err)
	}
	h.depth++
	h.lease = max(h.lease, ttl)
	h.prolong(start.Add(ttl))
	return h.leaseFrom(start, ttl), nil
}

// freeLapsed releases a nested acquire of a hold that was lost before the answer came. It returns
// an error if it is unknown whether that succeeded.
func (h *hold) freeLapsed(ctx context.Context) error {
	if _, err := h.owner.process.free(ctx, h); err != nil {
		return fmt.Errorf("the lease was over before the answer came: %w", err)
	}
	return nil
}

// prolong records that the hold is certain at least until a given time. h.mu is held.
func (h *hold) prolong(until time.Time) {
	if until.After(h.deadline) {
		h.deadline = until
	}
	h.watch()
}

// watch makes the owner notice a loss once the deadline has passed. h.mu is held.
func (h *hold) watch() {
	if h.owner.process.notices && !h.over && !h.ending {
		h.expiry.Reset(time.Until(h.deadline))
	}
}

// renewIn schedules the next renewal after d, if the lock renews. h.mu is held.
func (h *hold) renewIn(d time.Duration) {
	if h.owner.process.renews && !h.over && !h.ending {
		h.renewal.Reset(d)
	}
}

// finish ends the hold for its owner. h.mu is held.
func (h *hold) finish() {
	h.over = true
	h.stopTimers()
	h.owner.process.forget(h)
}

// lose ends the hold as lost and notifies its owner. h.mu is held.
func (h *hold) lose() {
	if !h.over {
		h.finish()
		close(h.lost)
	}
}

// isLost reports whether the owner was notified of a loss.
func (h *hold) isLost() bool {
	select {
	case <-h.lost:
		return true
	default:
		return false
	}
}

// expire is called when the lease is over as far as the owner knows.
func (h *hold) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch left := time.Until(h.deadline); {
	case h.calling || h.ending: // the answer decides
	case left > 0: // prolonged just before
		h.watch()
	default:
		h.lose()
	}
}

// renew is called a third of a lease after the last success.
func (h *hold) renew() {
	p := h.owner.process
	if !p.begin() {
		return
	}
	defer p.background.Done()
	h.mu.Lock()
	lease, deadline, due := h.lease, h.deadline, !h.over && !h.ending
	h.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithDeadline(p.ctx, deadline)
	defer cancel()
	done := h.owner.seen.Renewing(h.key)
	start := time.Now()
	held, err := p.renew(ctx, h, lease)
	if err = h.answered(start, lease, held, err); err != nil {
		lease, err = 0, fmt.Errorf("renew %q: %w", h.key, err)
	}
	done(lease, err)
}

// answered records the result of a renewal sent at start, and returns the error to report.
func (h *hold) answered(start time.Time, lease time.Duration, held bool, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.owner.process
	idle := h.over || h.ending
	switch {
	case err != nil && idle:
	case err != nil:
		p.missed(h)
	case !held && idle: // the release of the owner ended it
		return fmt.Errorf("released meanwhile: %w", lockbench.ErrNotHeld)
	case !held:
		h.lose()
		return lockbench.ErrNotHeld
	case idle:
	case start.Before(h.since) && h.unsure:
		p.renewed(h)
	default: // after an extend of h.lease or before it, the server holds it for the shorter of the two
		h.prolong(start.Add(min(lease, h.lease)))
		h.renewed = start
		p.renewed(h)
	}
	return onredis.NoEffect(err)
}
