// Package guard calls locks that may hang, panic or end their goroutine, and survives that.
package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
)

// A Guard calls a lock in a goroutine of its own, so that a call that does not return, or
// panics, is reported by name and affects nothing else. It is used by one goroutine at a
// time, like the lock.
type Guard struct {
	inner lockbench.Locker
	// patience is the time that a call may take in addition to the wait that it is told; then
	// its context ends. After that time again, it counts as hanging.
	patience time.Duration
	// wrong is called with each fault that no lock may have.
	wrong func(error)
	work  chan func()
	// gone: a call of the lock did not return, or panicked; it is not called again.
	gone  atomic.Bool
	shut  bool
	after func(time.Duration) <-chan time.Time // time.After, but for tests
}

// New returns a guard of inner with the given patience for each call. It calls wrong with
// each fault that no lock may have. It has a goroutine until it is closed.
func New(inner lockbench.Locker, patience time.Duration, wrong func(error)) *Guard {
	g := &Guard{inner: inner, patience: patience, wrong: wrong, work: make(chan func()), after: time.After}
	go func() {
		for f := range g.work {
			f()
		}
	}()
	return g
}

// An answer has the results of a call.
type answer struct {
	lease lockbench.Lease
	left  time.Duration
	err   error
}

// A call is a call of the lock, with the time that it may wait for the lock.
type call struct {
	name string
	wait time.Duration
	make func(context.Context) answer
}

// call calls the lock.
func (g *Guard) call(ctx context.Context, c call) answer {
	if g.gone.Load() {
		return answer{err: fmt.Errorf("%s: the lock is not called any more: %w", c.name, lockbench.ErrNoEffect)}
	}
	ctx, cancel := context.WithTimeout(ctx, c.wait+g.patience)
	defer cancel()
	done := make(chan answer, 1)
	g.work <- func() { g.contain(ctx, c, done) }
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
	}
	for range steps {
		select {
		case a := <-done:
			return a
		case <-g.after(g.patience / steps):
		}
	}
	return answer{err: g.lost(fmt.Errorf(
		"%s did not return, %v after its context had ended; hint: every wait within it must end with the context", c.name, g.patience))}
}

// steps is the number of steps in which a guard waits for a call whose context has ended. A machine
// that stands still, and with it the call, makes one step longer, however long it stands.
const steps = 100

// contain sends the answer of c, even if c never returns because it panics or ends its
// goroutine.
func (g *Guard) contain(ctx context.Context, c call, done chan<- answer) {
	returned := false
	defer func() {
		switch x := recover(); {
		case returned:
		case x != nil:
			done <- answer{err: g.lost(fmt.Errorf("%s panicked: %v\n%s", c.name, x, debug.Stack()))}
		default:
			done <- answer{err: g.lost(fmt.Errorf("%s ended its goroutine; hint: return an error instead of failing the test", c.name))}
		}
	}()
	a := c.make(ctx)
	returned = true
	done <- a
}

// lost marks the lock as lost and reports err.
func (g *Guard) lost(err error) error {
	g.gone.Store(true)
	g.wrong(err)
	return err
}

// Close closes the lock if it is an io.Closer, and ends the goroutine.
func (g *Guard) Close() {
	if g.shut {
		return
	}
	g.shut = true
	if c, ok := g.inner.(io.Closer); ok {
		g.call(context.Background(), call{"Close", 0, func(context.Context) answer {
			return answer{err: c.Close()} // it may lose any of its holds
		}})
	}
	close(g.work)
}

// Spent reports whether the lock can no longer be called.
func (g *Guard) Spent() bool { return g.shut || g.gone.Load() }

// Immortal reports whether the lock's work in the background cannot be ended.
func (g *Guard) Immortal() bool {
	_, ok := g.inner.(io.Closer)
	return !ok
}

// Acquire implements lockbench.Locker.
func (g *Guard) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	a := g.call(ctx, call{"Acquire", opt.Wait, func(ctx context.Context) answer {
		lease, err := g.inner.Acquire(ctx, key, opt)
		return answer{lease: lease, err: err}
	}})
	switch {
	case a.err != nil:
		return nil, a.err
	case a.lease == nil:
		g.wrong(ErrNoLease)
		return nil, ErrNoLease
	}
	return &guarded{lockbench.Wrapped{Lease: a.lease}, g}, nil
}

// ErrNoLease is the error of an Acquire that breaks the contract.
var ErrNoLease = errors.New("Acquire returned neither a lease nor an error; hint: return lockbench.ErrNotAcquired for a lock that is held")

// guarded is a lease with calls that go through a guard.
type guarded struct {
	lockbench.Wrapped
	guard *Guard
}

// Release implements lockbench.Lease.
func (l *guarded) Release(ctx context.Context) error {
	return l.guard.call(ctx, call{"Release", 0, func(ctx context.Context) answer {
		return answer{err: l.Lease.Release(ctx)}
	}}).err
}

// Extend implements lockbench.Extender.
func (l *guarded) Extend(ctx context.Context, ttl time.Duration) error {
	return l.guard.call(ctx, call{"Extend", 0, func(ctx context.Context) answer {
		return answer{err: l.Wrapped.Extend(ctx, ttl)}
	}}).err
}

// ReleaseAfter implements lockbench.DelayedReleaser.
func (l *guarded) ReleaseAfter(ctx context.Context, d time.Duration) error {
	return l.guard.call(ctx, call{"ReleaseAfter", 0, func(ctx context.Context) answer {
		return answer{err: l.Wrapped.ReleaseAfter(ctx, d)}
	}}).err
}

// TTL implements lockbench.TTLer.
func (l *guarded) TTL(ctx context.Context) (time.Duration, error) {
	a := l.guard.call(ctx, call{"TTL", 0, func(ctx context.Context) answer {
		left, err := l.Wrapped.TTL(ctx)
		return answer{left: left, err: err}
	}})
	return a.left, a.err
}
