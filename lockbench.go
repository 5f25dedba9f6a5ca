package lockbench

import (
	"context"
	"time"
)

// A Locker is one owner: the client, process or session to which a design
// attributes its holds. Two Lockers are two owners, even in one process with
// shared connections.
//
// lockbench calls one Locker from one goroutine at a time; background work of
// the design (a watchdog) may run beside it.
type Locker interface {
	// Acquire obtains the lock on key, waiting for at most opt.Wait while
	// another owner holds it.
	//
	// It returns an error wrapping [ErrNotAcquired] when another owner held the
	// lock for as long as opt.Wait allowed, and one wrapping [ErrNoEffect] when
	// the request certainly never took effect. Any other error leaves the
	// outcome unknown: the lock may be held, now or later.
	//
	// An Acquire of a key that this Locker already holds is counted, refreshes the
	// lease or is refused, as the design declares.
	Acquire(ctx context.Context, key string, opt Options) (Lease, error)
}

// Options are the parameters of one Acquire. They are plain data: no
// field changes while an operation runs, and one value may serve many.
type Options struct {
	// TTL is the lease asked for: a positive duration after which the design
	// must free the lock of an owner that died. Designs that count in whole
	// seconds round it up and report the granted lease through [Validator].
	TTL time.Duration
	// Wait is how long to keep trying while another owner holds the lock.
	// Zero is exactly one attempt.
	Wait time.Duration
	// Metadata is stored with the lock if the design can do so, for people who
	// look at the server. It has no influence on which client gets the lock.
	Metadata string
}

// A Lease is one grant of a lock to one owner. Its methods are called by one
// goroutine at a time.
type Lease interface {
	// Release gives the lock up, or one level of it if the design counts
	// nested acquires. It returns an error wrapping [ErrNotHeld] when this owner
	// had lost the lock, and one wrapping [ErrLate] when it took effect although
	// the lease was over. Any other error leaves the outcome unknown.
	Release(ctx context.Context) error
}

// Extender is the ability to prolong a lease that is still held.
type Extender interface {
	// Extend sets the time left to ttl, counted from now. It returns an error
	// wrapping [ErrNotHeld] when this owner had lost the lock.
	Extend(ctx context.Context, ttl time.Duration) error
}

// TTLer is the ability to ask the server how much of the lease is left.
type TTLer interface {
	// TTL returns the time left, zero when the lock is gone.
	TTL(ctx context.Context) (time.Duration, error)
}

// Fencer is the ability to number grants, so that a guarded resource can refuse
// the writes of a past holder (Kleppmann, "How to do distributed locking", 2016).
type Fencer interface {
	// Fence returns a number that rises with every grant of a key.
	Fence() uint64
}

// Watcher is the ability to inform the holder of a loss while it works.
type Watcher interface {
	// Lost returns a channel that is closed when the lease is known to be lost.
	// It is never closed while the lease is still held.
	Lost() <-chan struct{}
}

// Validator is the ability to report the validity that was granted.
type Validator interface {
	// Valid returns the start of the attempt (of the acquire, or of the latest
	// extend) that succeeded, taken before its first request left, and the
	// time to live really granted, which may differ from the one asked for. A zero from is
	// unknown: the acquire waited, and its attempt began some time after its call.
	Valid() (from time.Time, granted time.Duration)
}

// DelayedReleaser is the ability to release the lock and yet keep every owner out
// for a while, the releaser included: for a rate limit, or a job that must not run
// twice in one period.
type DelayedReleaser interface {
	// ReleaseAfter gives the lock up so that nobody is granted it before d has
	// passed. It returns the errors of [Lease.Release].
	ReleaseAfter(ctx context.Context, d time.Duration) error
}
