package lockbench

import "context"

// A Store is the resource that a lock guards: one record per lock key, which any
// holder of the lock reads and writes. It checks nothing: only the lock keeps two
// clients from overwriting each other.
//
// A Store is safe for concurrent use.
type Store interface {
	// Read returns the record of key, the zero Record when there is none.
	Read(ctx context.Context, key string) (Record, error)
	// Write replaces the record of key, unconditionally.
	Write(ctx context.Context, key string, r Record) error
}

// A Record is the guarded state of one key.
type Record struct {
	// Value is the count of the business case: units in stock, points.
	Value int64
	// Version names the write that produced the record, unique within a run, so
	// that a history shows which write a read saw. Zero is the absent record.
	Version uint64
}
