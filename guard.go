package lockbench

import "context"

// A Guard is how a store protects itself from holders of a lock that were overtaken.
type Guard string

// The guards. The zero value is NoGuard too.
const (
	// NoGuard: the store does what it is told, as most do.
	NoGuard Guard = "none"
	// FenceGuard: the store remembers the highest fence that it was shown, by a read or
	// a write, and refuses lower ones. To look at writes alone is not enough: the next
	// holder may have read already what the last one then replaces, and replace it in
	// turn.
	FenceGuard Guard = "fence"
	// CompareGuard: the store refuses a write unless the version it was made on is still
	// the one that it has. It needs no fences; the first writer wins, which may not be
	// the holder of the lock.
	CompareGuard Guard = "cas"
)

// Guards returns the guards, NoGuard first.
func Guards() []Guard { return []Guard{NoGuard, FenceGuard, CompareGuard} }

// Standing is what a client shows a [GuardedStore] of its right to write.
type Standing struct {
	// Fence numbers the grant under which it works; zero is none.
	Fence uint64
	// Base is the version that it read and decided on; zero is the absent record.
	Base uint64
}

// A GuardedStore is a [Store] that looks at the grant of each reader and writer. Refusals wrap
// [ErrStale] and [ErrNoEffect]. It is safe for concurrent use.
type GuardedStore interface {
	Store
	// ReadGuarded is Read under the grant that fence numbers.
	ReadGuarded(ctx context.Context, key string, fence uint64) (Record, error)
	// WriteGuarded is Write by somebody of this standing.
	WriteGuarded(ctx context.Context, key string, r Record, by Standing) error
}
