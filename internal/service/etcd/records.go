package etcd

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// records are keys, each with a record and the highest fence that was shown for it.
type records struct {
	client *client
	prefix string
}

// Records implements [design.Keeper].
func (s *Server) Records(prefix string) design.Records {
	return &records{s.client(), prefix + "record:"}
}

// Close implements [design.Records].
func (r *records) Close() error {
	r.client.close()
	return nil
}

// A kept is the value of a key.
type kept struct {
	Record lockbench.Record `json:"record"`
	Fence  uint64           `json:"fence"`
}

// change lets to change the value of a key, and writes it unless to returns an error. It begins again when
// somebody else has written meanwhile.
func (r *records) change(ctx context.Context, key string, to func(*kept) error) error {
	for {
		now, mod, err := r.read(ctx, key)
		if err == nil {
			err = to(&now)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
		}
		value, err := json.Marshal(now)
		if err != nil {
			return err
		}
		name := []byte(r.prefix + key)
		held, err := r.client.transact(ctx, transaction{
			If:   []revision{{Key: name, Target: "MOD", Result: "EQUAL", Mod: mod}},
			Then: []operation{{Put: &put{name, value}}},
		})
		if err != nil && hadNoEffect(err) {
			err = fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
		}
		if err != nil || held {
			return err
		}
	}
}

// read returns the value of a key, and the revision of its last write, zero if it is not there.
func (r *records) read(ctx context.Context, key string) (now kept, mod int64, err error) {
	value, mod, err := r.client.get(ctx, r.prefix+key)
	if err == nil && mod > 0 {
		err = json.Unmarshal(value, &now)
	}
	return now, mod, err
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

// Read implements [lockbench.Store].
func (r *records) Read(ctx context.Context, key string) (lockbench.Record, error) {
	now, _, err := r.read(ctx, key)
	return now.Record, reading(key, err)
}

// Write implements [lockbench.Store].
func (r *records) Write(ctx context.Context, key string, to lockbench.Record) error {
	return writing(key, r.change(ctx, key, func(k *kept) error {
		k.Record = to
		return nil
	}))
}

// Guarded implements [design.Records].
func (r *records) Guarded(by lockbench.Guard) (lockbench.Store, error) {
	return design.ByGuard(by, r, fenced{r}, compared{r})
}

// fenced refuses a fence that is lower than one that was shown.
type fenced struct{ *records }

// show remembers a fence, or refuses it.
func (k *kept) show(fence uint64) error {
	if fence < k.Fence {
		return lockbench.ErrStale
	}
	k.Fence = fence
	return nil
}

// ReadGuarded implements [lockbench.GuardedStore].
func (r fenced) ReadGuarded(ctx context.Context, key string, fence uint64) (found lockbench.Record, err error) {
	err = r.change(ctx, key, func(k *kept) error {
		found = k.Record
		return k.show(fence)
	})
	if err != nil {
		return lockbench.Record{}, reading(key, err)
	}
	return found, nil
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r fenced) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	return writing(key, r.change(ctx, key, func(k *kept) error {
		k.Record = to
		return k.show(by.Fence)
	}))
}

// compared writes only if nobody has written since the writer read.
type compared struct{ *records }

// ReadGuarded implements [lockbench.GuardedStore].
func (r compared) ReadGuarded(ctx context.Context, key string, _ uint64) (lockbench.Record, error) {
	return r.Read(ctx, key)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r compared) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	return writing(key, r.change(ctx, key, func(k *kept) error {
		if k.Record.Version != by.Base {
			return lockbench.ErrStale
		}
		k.Record = to
		return nil
	}))
}
