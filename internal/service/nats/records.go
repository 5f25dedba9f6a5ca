package nats

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
)

// entries are records, an entry of the bucket each.
type entries struct{ *Link }

// Records implements [design.Keeper].
func (s *Server) Records(prefix string) design.Records {
	return backend.Swapped(entries{s.access().Link(prefix, nil)})
}

func recordKey(key string) string { return Key("records", key) }

// Get implements [backend.Swapper].
func (e entries) Get(ctx context.Context, key string) (value []byte, revision int64, err error) {
	err = e.Do(ctx, func(ctx context.Context, on Conn) error {
		entry, err := on.Bucket.Get(ctx, recordKey(key))
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			return nil
		case err == nil:
			value, revision = entry.Value(), int64(entry.Revision())
		}
		return err
	})
	return value, revision, err
}

// Swap implements [backend.Swapper].
func (e entries) Swap(ctx context.Context, key string, value []byte, revision int64) (swapped bool, err error) {
	err = e.Do(ctx, func(ctx context.Context, on Conn) error {
		_, err := on.Bucket.Update(ctx, recordKey(key), value, uint64(revision))
		if swapped = err == nil; errors.Is(err, jetstream.ErrKeyRevisionMismatch) { // an answer
			return nil
		}
		return err
	})
	return swapped, err
}
