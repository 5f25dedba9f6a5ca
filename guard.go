package lockbench

import "context"

// A Guard is a store's protection against past holders of a lock.
type Guard string

// The guards. The zero value is NoGuard too.
const (
	// NoGuard: the store obeys every request, as most stores do.
	NoGuard Guard = "none"
	// FenceGuard: the store remembers the highest fence of any read or write, and refuses
	// lower ones. Checking writes alone is not enough: the next holder may have read the
	// record before the past holder replaced it, and then replaces it in turn.
	FenceGuard Guard = "fence"
	// CompareGuard: the store refuses a write unless the record still has the version on
	// which the write was based. It needs no fences. The first writer wins, which may not be
	// the holder of the lock.
	CompareGuard Guard = "cas"
)

// Guards returns the guards, NoGuard first.
func Guards() []Guard { return []Guard{NoGuard, FenceGuard, CompareGuard} }

// Standing is a client's evidence of its right to write, for a [GuardedStore].
type Standing struct {
	// Fence numbers the grant under which it works; zero is none.
	Fence uint64
	// Base is the version on which the write is based; zero is the absent record.
	Base uint64
}

// A GuardedStore is a [Store] that checks the grant of each reader and writer. Refusals wrap
// [ErrStale] and [ErrNoEffect]. It is safe for concurrent use.
type GuardedStore interface {
	Store
	// ReadGuarded is Read under the grant that fence numbers.
	ReadGuarded(ctx context.Context, key string, fence uint64) (Record, error)
	// WriteGuarded is Write by a client of this standing.
	WriteGuarded(ctx context.Context, key string, r Record, by Standing) error
}
