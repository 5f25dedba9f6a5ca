package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// A row is the value of a record, with the highest fence that was shown for it.
type row struct {
	Record lockbench.Record
	Fence  uint64
}

// records are entries of the bucket. A guarded write names the revision that it has compared.
type records struct{ link *Link }

// Records implements [design.Keeper].
func (s *Server) Records(prefix string) design.Records { return records{s.access().Link(prefix, nil)} }

// Close implements [design.Records].
func (r records) Close() error { return r.link.Close() }

func recordKey(key string) string { return Key("records", key) }

// read returns a row and its revision, both zero if there is none.
func read(ctx context.Context, on Conn, key string) (found row, revision uint64, err error) {
	entry, err := on.Bucket.Get(ctx, recordKey(key))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return found, 0, nil
	}
	if err != nil {
		return found, 0, err
	}
	return found, entry.Revision(), json.Unmarshal(entry.Value(), &found)
}

// Read implements [lockbench.Store].
func (r records) Read(ctx context.Context, key string) (lockbench.Record, error) {
	var found row
	err := r.link.Do(ctx, func(ctx context.Context, on Conn) (err error) {
		found, _, err = read(ctx, on, key)
		return err
	})
	return found.Record, reading(key, err)
}

// Write implements [lockbench.Store].
func (r records) Write(ctx context.Context, key string, to lockbench.Record) error {
	err := r.link.Do(ctx, func(ctx context.Context, on Conn) error {
		text, err := json.Marshal(row{Record: to})
		if err == nil {
			_, err = on.Bucket.Put(ctx, recordKey(key), text)
		}
		return err
	})
	return writing(key, err)
}

// change replaces a row by the result of next, unless that is an error. It reads the row again if another
// client has changed it meanwhile.
func (r records) change(ctx context.Context, key string, next func(row) (row, error)) (before row, err error) {
	err = r.link.Do(ctx, func(ctx context.Context, on Conn) error {
		for {
			found, revision, err := read(ctx, on, key)
			if err != nil {
				return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
			}
			before = found
			to, err := next(found)
			if err != nil {
				return err
			}
			text, err := json.Marshal(to)
			if err != nil {
				return err
			}
			_, err = on.Bucket.Update(ctx, recordKey(key), text, revision)
			if !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
				return err
			}
		}
	})
	return before, err
}

func reading(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
}

func writing(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write record of %q: %w", key, err)
}

// Guarded implements [design.Records].
func (r records) Guarded(by lockbench.Guard) (lockbench.Store, error) {
	return design.ByGuard(by, r, fenced{r}, compared{r})
}

var errStale = fmt.Errorf("%w: %w", lockbench.ErrNoEffect, lockbench.ErrStale)

// fenced refuses a fence that is lower than one that was shown.
type fenced struct{ records }

// ReadGuarded implements [lockbench.GuardedStore].
func (r fenced) ReadGuarded(ctx context.Context, key string, fence uint64) (lockbench.Record, error) {
	found, err := r.change(ctx, key, func(at row) (row, error) {
		if at.Fence > fence {
			return at, errStale
		}
		at.Fence = fence
		return at, nil
	})
	return found.Record, reading(key, err)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r fenced) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	_, err := r.change(ctx, key, func(at row) (row, error) {
		if at.Fence > by.Fence {
			return at, errStale
		}
		return row{to, by.Fence}, nil
	})
	return writing(key, err)
}

// compared writes only if nobody has written since the writer read.
type compared struct{ records }

// ReadGuarded implements [lockbench.GuardedStore].
func (r compared) ReadGuarded(ctx context.Context, key string, _ uint64) (lockbench.Record, error) {
	return r.Read(ctx, key)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r compared) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	_, err := r.change(ctx, key, func(at row) (row, error) {
		if at.Record.Version != by.Base {
			return at, errStale
		}
		return row{to, at.Fence}, nil
	})
	return writing(key, err)
}
