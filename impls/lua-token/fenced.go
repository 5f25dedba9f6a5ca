package luatoken

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// fenced is one owner of lua-token/fenced: lua-token/strategy with a script that also
// numbers the grants.
//
// The number is the higher of two: the previous number plus one, and the server's time in
// microseconds. The previous number is in a key of its own, the lock's name with ":fence"
// appended, for a week after the latest grant. So numbers keep rising when the server has
// forgotten the latest, as after a failover or a restart, as long as its clock is not
// behind the previous server's by more than the time between two grants; and when the
// clock is set back, as long as the key is there. They stay below 2^53, the limit of exact
// numbers in Lua, until the year 2255. It needs Redis 5 or newer: before that a script
// could not write once it had read the time.
type fenced struct{ *obtainer }

func newFenced(env onredis.Environment, client *redis.Client, seen design.Observer) fenced {
	f := fenced{newObtainer(env, client, seen)}
	f.take = takeNumbered
	return f
}

// Acquire implements lockbench.Locker.
func (f fenced) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	l, err := f.obtain(ctx, key, opt.TTL, linearly(opt))
	if err != nil {
		return nil, err
	}
	return numbered{l}, nil
}

// keepNumbers is how long the latest number is kept, in seconds: a week.
const keepNumbers = 7 * 24 * 60 * 60

// takeNumbered makes one attempt, which numbers the grant.
func takeNumbered(ctx context.Context, client *redis.Client, l *lock) (bool, error) {
	n, err := run(ctx, client, fencedAcquireScript, &l.key, l.key+":fence", &l.token, l.Granted.Milliseconds(), keepNumbers)
	l.fence = uint64(max(0, n))
	return n > 0, err
}

// numbered is a lock with its number.
type numbered struct{ *lock }

// Fence implements lockbench.Fencer.
func (n numbered) Fence() uint64 { return n.fence }
