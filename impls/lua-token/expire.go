package luatoken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// expire is one owner of lua-token/expire, the third stage of its document.
//
// Documented faults: the plain DEL of a holder that outlived its lease deletes the
// next holder's lock, and never reports a loss. A lease of 0.5 or 1.9 seconds raises
// an error after the SETNX took effect, and the key is held for ever. A lease of zero
// or less is granted, and there is no key.
type expire struct{ polling }

// Acquire implements lockbench.Locker.
func (e *expire) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	v, err := e.lock(ctx, key, "1", opt)
	if err != nil {
		return nil, err
	}
	return &unowned{Validity: v, client: e.client, key: e.env.Prefix + key}, nil
}

// unowned is a lease that is released by a plain DEL, whichever client holds the key.
type unowned struct {
	design.Validity
	client *redis.Client
	key    string
}

// Release implements lockbench.Lease. It never reports a loss: it ignores the number
// of keys that DEL deleted.
func (u *unowned) Release(ctx context.Context) error {
	return onredis.NoEffect(u.client.Del(ctx, u.key).Err())
}
