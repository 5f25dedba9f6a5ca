package luatoken

import (
	"context"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/go-redis/v9"
)

// fenced is one owner of lua-token/fenced: lua-token/strategy whose grants are numbered,
// by the script that makes them.
//
// The counter of a lock is a key of its own, the lock's name with ":fence" behind it. It
// has no expiry: what the lock guards remembers the highest fence, and would refuse
// everybody if the numbers began anew. So it costs one small key for each name that was
// ever locked, and may be removed when what the lock guards is. A server that forgets its
// keys forgets the counter; hence no claim to restart or failover.
type fenced struct{ *Client }

func newFenced(env design.Environment, client *redis.Client, seen design.Observer) fenced {
	f := fenced{NewClient(env, client, seen)}
	f.take = takeNumbered
	return f
}

// Acquire implements lockbench.Locker.
func (f fenced) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	l, err := f.Obtain(ctx, key, opt.TTL, linearly(opt))
	if err != nil {
		return nil, err
	}
	return numbered{l}, nil
}

// takeNumbered makes one attempt, which numbers the grant.
func takeNumbered(ctx context.Context, client *redis.Client, l *Lock) (bool, error) {
	n, err := run(ctx, client, fencedAcquireScript, &l.key, l.key+":fence", &l.token, l.Granted.Milliseconds())
	l.fence = uint64(max(0, n))
	return n > 0, err
}

// numbered is a lock with its number.
type numbered struct{ *Lock }

// Fence implements lockbench.Fencer.
func (n numbered) Fence() uint64 { return n.fence }
