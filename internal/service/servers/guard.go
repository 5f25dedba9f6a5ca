package servers

import (
	"context"
	_ "embed" // the scripts
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

var (
	//go:embed fenced_read.lua
	fencedReadSource string
	//go:embed fenced_write.lua
	fencedWriteSource string
	//go:embed compared_write.lua
	comparedWriteSource string
)

var (
	fencedRead    = redis.NewScript(fencedReadSource)
	fencedWrite   = redis.NewScript(fencedWriteSource)
	comparedWrite = redis.NewScript(comparedWriteSource)
)

// Guarded returns the store behind a guard: a lockbench.GuardedStore, or the store
// itself for lockbench.NoGuard. Both keep the same records. It fails for an unknown
// guard.
func (s *Store) Guarded(by lockbench.Guard) (lockbench.Store, error) {
	return design.ByGuard(by, s, fencedStore{s}, comparedStore{s})
}

// fencedStore remembers the highest fence that it has seen for each record, under the
// record's key + ":fence". Fences are compared exactly up to 2^53.
type fencedStore struct{ *Store }

var _ lockbench.GuardedStore = fencedStore{}

// ReadGuarded implements lockbench.GuardedStore.
func (s fencedStore) ReadGuarded(ctx context.Context, key string, fence uint64) (lockbench.Record, error) {
	answer, err := fencedRead.Run(ctx, s.client, s.fenced(key), fence).Slice()
	if err == nil && answer[0] != int64(1) {
		err = stale(fmt.Sprintf("fence %d", fence))
	}
	if err != nil {
		return lockbench.Record{}, fmt.Errorf("read record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
	}
	text, _ := answer[1].(string)
	if text == "" {
		return lockbench.Record{}, nil
	}
	return parseRecord(text)
}

// WriteGuarded implements lockbench.GuardedStore.
func (s fencedStore) WriteGuarded(ctx context.Context, key string, r lockbench.Record, by lockbench.Standing) error {
	written, err := fencedWrite.Run(ctx, s.client, s.fenced(key), by.Fence, formatRecord(r)).Int64()
	return guardedWrite(key, written, err, fmt.Sprintf("fence %d", by.Fence))
}

func (s fencedStore) fenced(key string) []string {
	return []string{s.prefix + key, s.prefix + key + ":fence"}
}

// comparedStore writes only if nobody has written since the writer read.
type comparedStore struct{ *Store }

var _ lockbench.GuardedStore = comparedStore{}

// ReadGuarded implements lockbench.GuardedStore.
func (s comparedStore) ReadGuarded(ctx context.Context, key string, _ uint64) (lockbench.Record, error) {
	return s.Read(ctx, key)
}

// WriteGuarded implements lockbench.GuardedStore.
func (s comparedStore) WriteGuarded(ctx context.Context, key string, r lockbench.Record, by lockbench.Standing) error {
	base := fmt.Sprint(by.Base) // as text, because a Lua number would not be exact
	written, err := comparedWrite.Run(ctx, s.client, []string{s.prefix + key}, base, formatRecord(r)).Int64()
	return guardedWrite(key, written, err, "version "+base)
}

// guardedWrite converts the answer of a script that writes or refuses.
func guardedWrite(key string, written int64, err error, standing string) error {
	switch {
	case err == nil && written == 1:
		return nil
	case err == nil:
		err = stale(standing)
	case !hadNoEffect(err):
		return fmt.Errorf("write record of %q: %w", key, err)
	}
	return fmt.Errorf("write record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
}

// stale is the refusal of an outdated fence or version.
func stale(standing string) error {
	return fmt.Errorf("%w: %s", lockbench.ErrStale, standing)
}
