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

// pollPause is the pause between two tries. No usual lease is a multiple of it, so that a try and
// the end of a lease never coincide.
const pollPause = 251 * time.Millisecond

// An owner is one lockbench.Locker.
type owner struct {
	process *process
	seen    design.Observer
	held    map[string]*hold // by lock key
}

// Acquire implements lockbench.Locker.
func (o *owner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	if opt.TTL <= 0 {
		return nil, fmt.Errorf("lease of %v asked for: %w; hint: ask for more than 0s", opt.TTL, lockbench.ErrNoEffect)
	}
	if h := o.held[key]; h != nil && o.process.nested && h.live() {
		return h.again(ctx, o.process.rounded(opt.TTL))
	}
	h, err := o.newHold(key, o.process.rounded(opt.TTL))
	if err != nil {
		return nil, err
	}
	if err := o.wait(ctx, h, opt.Wait); err != nil {
		return nil, fmt.Errorf("lock %q: %w", key, err)
	}
	o.held[key] = h
	l := h.begin()
	o.process.granted(ctx, h)
	return l, nil
}

// wait tries to obtain h until it is granted or wait is over.
func (o *owner) wait(ctx context.Context, h *hold, wait time.Duration) error {
	h.wait = wait
	err := o.process.wait(ctx, h)
	if err != nil && !errors.Is(err, lockbench.ErrNotAcquired) {
		o.process.failed(ctx, h, err)
	}
	return err
}

// poll tries to obtain h, again after each pause.
func poll(ctx context.Context, h *hold) error {
	return design.Poll(ctx, h.wait, design.Every(pollPause), func() (bool, error) { return h.try(ctx) })
}

// try tries to obtain h once.
func (h *hold) try(ctx context.Context) (bool, error) {
	h.from = h.owner.seen.Attempt(h.key)
	granted, err := h.owner.process.take(ctx, h)
	return granted, onredis.NoEffect(err)
}

func (o *owner) newHold(key string, ttl time.Duration) (*hold, error) {
	token, err := o.process.token(o.process)
	if err != nil {
		return nil, err
	}
	return &hold{
		owner: o, key: key, name: o.process.env.Prefix + o.process.named(key),
		token: token, lease: ttl, lost: make(chan struct{}),
	}, nil
}
