package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
)

// A fault is the error of a lock in memory.
type fault int

// The faults.
const (
	none fault = iota
	freesAnybody
	letsIn
	halvesLeases
	neverFrees
	neverRenews
	leavesSession
	inventsLosses
)

// service is a lock service in memory. It is safe for concurrent use.
type service struct {
	kind  kind
	fault fault

	mu       sync.Mutex
	held     map[string]*grant
	refusals int
}

// grant is one owner's grant. service.mu guards until and over.
type grant struct {
	owner *memoryOwner
	key   string
	until time.Time // zero without a lease
	over  bool
	lost  chan struct{} // closed when over is set
}

// memoryOwner is an owner: it renews its grants, or has a session.
type memoryOwner struct {
	service *service
	ctx     context.Context
	end     context.CancelFunc
	renewed sync.WaitGroup
}

func (s *service) owner() *memoryOwner {
	ctx, end := context.WithCancel(context.Background())
	return &memoryOwner{service: s, ctx: ctx, end: end}
}

// Acquire implements lockbench.Locker.
func (o *memoryOwner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	over := time.Now().Add(opt.Wait)
	for {
		g := o.service.try(o, key, opt.TTL)
		switch {
		case g != nil:
			o.renew(g, opt.TTL)
			return o.lease(g), nil
		case !time.Now().Before(over):
			return nil, lockbench.ErrNotAcquired
		}
		pause := time.NewTimer(time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, errors.Join(lockbench.ErrNoEffect, ctx.Err())
		}
	}
}

// lease is the owner's view of g: only a renewing owner is told of a loss.
func (o *memoryOwner) lease(g *grant) lockbench.Lease {
	if o.service.kind == renewing {
		return watched{g}
	}
	return g
}

// try returns nil for a refusal.
func (s *service) try(o *memoryOwner, key string, ttl time.Duration) *grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[key]; h != nil && !h.gone() {
		s.refusals++
		if s.fault != letsIn || s.refusals%8 != 0 {
			return nil
		}
	}
	g := &grant{owner: o, key: key, lost: make(chan struct{})}
	switch {
	case s.kind == session:
	case s.fault == halvesLeases:
		g.until = time.Now().Add(ttl / 2)
	case s.fault == neverFrees:
		g.until = time.Now().Add(time.Hour)
	default:
		g.until = time.Now().Add(ttl)
	}
	s.held[key] = g
	return g
}

// gone reports whether g has ended. service.mu is held.
func (g *grant) gone() bool {
	if !g.over && !g.until.IsZero() && !time.Now().Before(g.until) {
		g.finish()
	}
	return g.over
}

// finish ends g. service.mu is held, and g is not over.
func (g *grant) finish() {
	g.over = true
	close(g.lost)
}

// Release implements lockbench.Lease.
func (g *grant) Release(context.Context) error {
	s := g.owner.service
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == freesAnybody {
		delete(s.held, g.key)
		return nil
	}
	if g.gone() || s.held[g.key] != g {
		return lockbench.ErrNotHeld
	}
	g.finish()
	delete(s.held, g.key)
	return nil
}

// renew renews g at each third of the lease, if the lock renews, until the hold or its owner
// ends.
func (o *memoryOwner) renew(g *grant, ttl time.Duration) {
	if o.service.kind != renewing || o.service.fault == neverRenews {
		return
	}
	o.renewed.Go(func() {
		tick := time.NewTicker(ttl / 3)
		defer tick.Stop()
		for {
			select {
			case <-o.ctx.Done():
				return
			case <-g.lost:
				return
			case <-tick.C:
			}
			if !g.prolong(ttl) {
				return
			}
		}
	})
}

// prolong is one renewal; false means that the hold is over.
func (g *grant) prolong(ttl time.Duration) bool {
	s := g.owner.service
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.gone() {
		return false
	}
	if s.fault == inventsLosses {
		g.finish()
		delete(s.held, g.key)
		return false
	}
	g.until = time.Now().Add(ttl)
	return true
}

// Close implements io.Closer: it ends renewals, or the session.
func (o *memoryOwner) Close() error {
	o.end()
	o.renewed.Wait()
	s := o.service
	if s.kind != session || s.fault == leavesSession {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, g := range s.held {
		if g.owner == o && !g.over {
			g.finish()
			delete(s.held, key)
		}
	}
	return nil
}

// watched is a grant that reports its loss to its owner.
type watched struct{ *grant }

// Lost implements lockbench.Watcher.
func (w watched) Lost() <-chan struct{} { return w.lost }
