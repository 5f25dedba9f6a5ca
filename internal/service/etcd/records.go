package etcd

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
)

// keys are records, a key each.
type keys struct {
	client *client
	prefix string
}

// Records implements [design.Keeper].
func (s *Server) Records(prefix string) design.Records {
	return backend.Swapped(&keys{s.client(), prefix + "record:"})
}

// Get implements [backend.Swapper]. A revision is that of the last write of the key.
func (k *keys) Get(ctx context.Context, key string) (value []byte, revision int64, err error) {
	return k.client.get(ctx, k.prefix+key)
}

// Swap implements [backend.Swapper].
func (k *keys) Swap(ctx context.Context, key string, to []byte, revision int64) (bool, error) {
	name := []byte(k.prefix + key)
	held, err := k.client.transact(ctx, transaction{
		If:   []condition{{Key: name, Target: "MOD", Result: "EQUAL", Mod: revision}},
		Then: []operation{{Put: &put{name, to}}},
	})
	if err != nil && hadNoEffect(err) {
		err = fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return held, err
}

// Close implements [backend.Swapper].
func (k *keys) Close() error {
	k.client.close()
	return nil
}
