package setnxgetset

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// tryInterval is the pause of the document's polling wrapper (its tryIntervalMillis; the
// document names no value).
//
// The wrapper also takes a maxTryCount and counts `++count >= max`, one try fewer than
// requested: a count of 1 never tries. Options.Wait is a time instead, so the count is
// the number of tries that fit in it, the first one always made.
const tryInterval = 10 * time.Millisecond

// naive is one owner of setnx-getset/naive, the first of its document's
// four stages (docs/designs.md).
//
// Documented faults: a client that dies between SETNX and EXPIRE, or loses SETNX's
// reply, leaves the key held for ever; the plain DEL of a holder that outlived its lease
// deletes the next holder's lock, and never reports a loss.
type naive struct {
	env    onredis.Environment
	client *redis.Client
	seen   design.Observer
}

// Acquire implements lockbench.Locker.
func (n *naive) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	held := &unowned{client: n.client, key: n.env.Prefix + key}
	held.Granted = design.WholeSeconds(opt.TTL)
	err := design.Poll(ctx, opt.Wait, design.Every(tryInterval), func() (bool, error) {
		held.From = n.seen.Attempt(key)
		return n.try(ctx, held.key, held.Granted)
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

func (n *naive) try(ctx context.Context, key string, lease time.Duration) (bool, error) {
	won, err := setNX(ctx, n.client, key, 1)
	if err != nil || !won {
		return false, onredis.NoEffect(err)
	}
	return true, expire(ctx, n.client, key, int64(lease/time.Second))
}

// unowned is a lease that is released by a plain DEL, whichever client holds the key.
type unowned struct {
	design.Validity
	client *redis.Client
	key    string
}

// Release implements lockbench.Lease. It never reports a loss: it ignores the number of
// keys that DEL deleted.
func (u *unowned) Release(ctx context.Context) error {
	return onredis.NoEffect(del(ctx, u.client, u.key))
}
