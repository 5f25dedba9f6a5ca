package inject

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// A Client is one owner that is subject to faults. Only one goroutine may use it; faults may affect
// its process at any time.
type Client struct {
	p      *Process
	record *history.Client
	actor  *actor

	crashed   atomic.Bool
	held      atomic.Int64 // number of locks that it holds
	acquiring atomic.Bool
	calls     atomic.Int64 // number of calls of its lock that are under way

	mu      sync.Mutex // orders its death and its other changes
	cancels []context.CancelFunc
}

// Client makes the owner with this id, recorded by record, subject to faults. It lives in p and
// dies with it: at once if p has died.
func (p *Process) Client(id int, record *history.Client) *Client {
	c := &Client{p: p, record: record, actor: newActor(p.in, int64(id))}
	if p.skewed != nil {
		record.Fault(string(fault.Skew), int64(p.skew))
		p.skewed.occurrences.Add(1)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients = append(p.clients, c)
	if p.crashed.Load() {
		c.die()
	}
	return c
}

// die ends the client: first for callers of Crashed, then in the record. p.mu is
// held.
func (c *Client) die() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.crashed.Swap(true) {
		return
	}
	c.p.in.held.Add(-c.held.Swap(0))
	c.record.Die(string(fault.Crash))
	for _, cancel := range c.cancels {
		cancel()
	}
}

// Crashed reports whether the client has died. It returns true before the death is recorded.
func (c *Client) Crashed() bool { return c.crashed.Load() }

// hold adds n to the client's number of held locks, unless it has crashed.
func (c *Client) hold(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.crashed.Load() {
		return
	}
	c.held.Add(n)
	c.p.in.held.Add(n)
	if n > 0 && c.p.skewed != nil {
		c.p.skewed.occurredHeld.Add(1)
	}
}

// Context returns a context for everything the client does: it tells faults which client
// sent a command. It ends when ctx does, the client dies or the returned function is
// called.
func (c *Client) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancels = append(c.cancels, cancel)
	if c.crashed.Load() {
		cancel()
	}
	return context.WithValue(ctx, callKey{}, &call{client: c}), cancel
}

// A call is the call of a lock that sends commands.
type call struct {
	client *Client
	// ending is nil unless the context of this call has a planned end.
	ending *ending
}

type callKey struct{}

// callOf returns the call that sent a command, nil if no client did.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// Locker returns inner subject to faults. It must be the outermost decorator: a pause after a grant
// begins when the client knows the grant and it is recorded.
func (c *Client) Locker(inner lockbench.Locker) lockbench.Locker { return locker{c, inner} }

type locker struct {
	client *Client
	inner  lockbench.Locker
}

// Acquire implements lockbench.Locker.
func (l locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	c := l.client
	if !c.p.await() {
		return nil, c.p.died()
	}
	c.acquiring.Store(true)
	asked := c.p.in.ledger.acquireCalled(key)
	calling, done := c.toCancel(ctx)
	c.calls.Add(1)
	lease, err := l.inner.Acquire(calling, key, opt)
	c.calls.Add(-1)
	c.acquiring.Store(false)
	if err != nil || lease == nil {
		done()
		return lease, err
	}
	c.hold(1)
	held := &heldLease{Wrapped: lockbench.Wrapped{Lease: lease}, client: c, done: done, heldKey: asked}
	c.p.in.ledger.acquired(&held.heldKey, c.p.in.config.Lease)
	c.p.in.granted.tell()
	if c.diesHolding() {
		return nil, c.p.died()
	}
	if plan := c.p.in.chosen(c.actor, true, atGrant); plan != nil {
		c.p.pause(plan, true)
	}
	return held, nil
}

// diesHolding may kill the process just after a grant or before a release, if lockbench does not
// see the commands of its lock. It reports whether it did. Other processes die at a command.
func (c *Client) diesHolding() bool {
	if c.p.watched.Load() {
		return false
	}
	plan := c.p.in.chosen(c.actor, true, atUnseen)
	if plan == nil || !c.p.crash() {
		return false
	}
	plan.count(true, false)
	return true
}

// A heldLease is a lease that a client under faults holds.
type heldLease struct {
	lockbench.Wrapped
	client  *Client
	done    context.CancelFunc // of the context of its acquire; nil once released
	heldKey heldKey
}

// Release implements [lockbench.Lease].
func (l *heldLease) Release(ctx context.Context) error {
	if !l.client.p.await() || l.client.diesHolding() {
		return l.client.p.died()
	}
	calling, done := l.client.toCancel(ctx)
	defer done()
	defer l.released()
	defer l.client.called()()
	return l.Lease.Release(calling)
}

// Extend implements [lockbench.Extender].
func (l *heldLease) Extend(ctx context.Context, ttl time.Duration) error {
	if !l.client.p.await() {
		return l.client.p.died()
	}
	calling, done := l.client.toCancel(ctx)
	defer done()
	defer l.client.called()()
	return l.Wrapped.Extend(calling, ttl)
}

// ReleaseAfter implements [lockbench.DelayedReleaser].
func (l *heldLease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	if !l.client.p.await() {
		return l.client.p.died()
	}
	calling, done := l.client.toCancel(ctx)
	defer done()
	defer l.released()
	defer l.client.called()()
	return l.Wrapped.ReleaseAfter(calling, d)
}

// called counts a call of the lock, until the function that it returns is called.
func (c *Client) called() (end func()) {
	c.calls.Add(1)
	return func() { c.calls.Add(-1) }
}

func (l *heldLease) released() {
	if l.done != nil {
		l.client.hold(-1)
		l.client.p.in.ledger.released(&l.heldKey)
		l.done()
		l.done = nil
	}
}

// Store returns inner as the client reaches it: it waits while the process is paused, and
// fails after a crash.
func (c *Client) Store(inner lockbench.Store) lockbench.Store {
	if guarded, ok := inner.(lockbench.GuardedStore); ok {
		return guardedStore{store{c, inner}, guarded}
	}
	return store{c, inner}
}

type guardedStore struct {
	store
	guarded lockbench.GuardedStore
}

// ReadGuarded implements [lockbench.GuardedStore].
func (s guardedStore) ReadGuarded(ctx context.Context, key string, fence uint64) (r lockbench.Record, err error) {
	err = s.client.p.whileRunning(func() error {
		r, err = s.guarded.ReadGuarded(ctx, key, fence)
		return err
	})
	return r, err
}

// WriteGuarded implements [lockbench.GuardedStore].
func (s guardedStore) WriteGuarded(ctx context.Context, key string, r lockbench.Record, by lockbench.Standing) error {
	return s.client.p.whileRunning(func() error { return s.guarded.WriteGuarded(ctx, key, r, by) })
}

type store struct {
	client *Client
	inner  lockbench.Store
}

// Read implements [lockbench.Store].
func (s store) Read(ctx context.Context, key string) (r lockbench.Record, err error) {
	err = s.client.p.whileRunning(func() error {
		r, err = s.inner.Read(ctx, key)
		return err
	})
	return r, err
}

// Write implements [lockbench.Store].
func (s store) Write(ctx context.Context, key string, r lockbench.Record) error {
	return s.client.p.whileRunning(func() error { return s.inner.Write(ctx, key, r) })
}
