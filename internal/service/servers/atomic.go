package servers

import (
	"context"
	_ "embed" // the script
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
)

//go:embed atomic_change.lua
var atomicChangeSource string

var atomicChange = redis.NewScript(atomicChangeSource)

// Change takes take from the value of a record if the value is above a bound, and otherwise
// adds add, in one request. It returns the change of the value. The error wraps
// [lockbench.ErrNoEffect] when the value has certainly not changed. Values are exact up to
// 2^53.
func (s *Store) Change(ctx context.Context, key string, above, take, add int64, version uint64) (int64, error) {
	change, err := atomicChange.Run(ctx, s.client, []string{s.prefix + key}, above, take, add, version).Int64()
	return change, s.changed(key, err)
}

// Once sets the named mark, and reports whether it was not yet set. Its error is like Change's.
func (s *Store) Once(ctx context.Context, mark string) (first bool, err error) {
	err = s.client.SetArgs(ctx, s.prefix+mark, 1, redis.SetArgs{Mode: "NX", TTL: recordLife}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, s.changed(mark, err)
}

// changed converts the error of a change of key.
func (*Store) changed(key string, err error) error {
	switch {
	case err == nil:
		return nil
	case hadNoEffect(err):
		return fmt.Errorf("change record of %q: %w: %w", key, lockbench.ErrNoEffect, err)
	}
	return fmt.Errorf("change record of %q: %w", key, err)
}
