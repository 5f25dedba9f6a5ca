package lockbench

import "errors"

// A design distinguishes outcomes by these errors. Wrap them; callers use [errors.Is].
// An error that wraps none of them means that the outcome is unknown.
var (
	// ErrNotAcquired: another owner held the lock during the whole wait.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrNotHeld: this owner does not hold the lock (any more).
	ErrNotHeld = errors.New("lock not held")
	// ErrLate: the operation took effect, but after the lease was over.
	ErrLate = errors.New("lease was over, released late")
	// ErrNoEffect: the operation certainly did nothing, now and later; for
	// instance because no connection could be had to send it on.
	ErrNoEffect = errors.New("operation had no effect")
	// ErrStale: a guarded store refused the request of a past holder. The request had no
	// effect.
	ErrStale = errors.New("refused by the guarded store: overtaken")
)
