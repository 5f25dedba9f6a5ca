package luatoken

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/impls/internal/batching"
)

// batched is one owner of lua-token/batched: lua-token/strategy with a client that sends
// the concurrent commands of a process's owners in one write, and reads the replies in
// one. When many locks are taken at a time that makes each much cheaper for the client
// and the server alike; one owner alone gains nothing.
//
// All commands of a process share one connection: when it breaks, the outcomes of all
// pending commands are unknown, not of one; and a late reply delays the ones behind it.
type batched struct {
	*obtainer
	conn *connection
}

// Acquire implements lockbench.Locker.
func (b batched) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	l, err := b.obtain(ctx, key, opt.TTL, linearly(opt))
	if err != nil {
		return nil, err
	}
	return &batchedLock{l, b.conn}, nil
}

// A batchedLock is a lock that sends its commands on another connection.
type batchedLock struct {
	*lock
	conn *connection
}

// TTL implements lockbench.TTLer.
func (b *batchedLock) TTL(ctx context.Context) (time.Duration, error) {
	left, err := b.conn.run(ctx, ttlScript, b.key, b.token)
	return time.Duration(left) * time.Millisecond, err
}

// Extend implements lockbench.Extender.
func (b *batchedLock) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now() // as in lock.Extend
	ttl = design.WholeMillis(ttl)
	if err := b.own(b.conn.run(ctx, refreshScript, b.key, b.token, millis(ttl))); err != nil {
		return err
	}
	b.From, b.Granted = start, ttl
	return nil
}

// Release implements lockbench.Lease.
func (b *batchedLock) Release(ctx context.Context) error {
	return b.own(b.conn.run(ctx, releaseScript, b.key, b.token))
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// A connection is shared by the owners of a process. It is made at its first use, since a
// process can be opened before its server.
type connection struct {
	env  onredis.Environment
	road *redis.Client // used only for dialling

	made   atomic.Pointer[batching.Client]
	making sync.Mutex
}

func openBatched(env onredis.Environment) (design.Process, error) {
	return &connection{env: env, road: env.Connect(1)}, nil
}

// Locker implements design.Process.
func (c *connection) Locker(seen design.Observer) lockbench.Locker {
	client := newObtainer(c.env, nil, seen)
	client.take = c.take
	return batched{client, c}
}

// Close implements design.Process.
func (c *connection) Close() error {
	c.making.Lock()
	defer c.making.Unlock()
	if client := c.made.Load(); client != nil {
		client.Close()
	}
	return c.env.Disconnect(c.road)
}

// client returns the client, connected; the error leaves nothing open.
func (c *connection) client() (*batching.Client, error) {
	if client := c.made.Load(); client != nil {
		return client, nil
	}
	c.making.Lock()
	defer c.making.Unlock()
	if client := c.made.Load(); client != nil {
		return client, nil
	}
	opt := batching.Options(c.road)
	opt.PipelineMultiplex = -1 // one connection makes larger batches
	client, err := batching.New(c.env, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	c.made.Store(client)
	return client, nil
}

// take makes one attempt. It uses c's own connection, not go-redis.
func (c *connection) take(ctx context.Context, _ *redis.Client, l *lock) (bool, error) {
	client, err := c.client()
	if err != nil {
		return false, err
	}
	set := client.B().Set().Key(l.key).Value(l.token).Nx().PxMilliseconds(l.Granted.Milliseconds()).Build()
	err = client.Do(ctx, set).Error()
	if rueidis.IsRedisNil(err) {
		return false, nil
	}
	return err == nil, answered(err)
}

// run sends a script by its digest, and in full if the server does not know it.
func (c *connection) run(ctx context.Context, s *script, key string, args ...string) (int64, error) {
	client, err := c.client()
	if err != nil {
		return 0, err
	}
	n, err := client.Do(ctx, client.B().Evalsha().Sha1(s.digest).Numkeys(1).Key(key).Arg(args...).Build()).AsInt64()
	if reply, is := rueidis.IsRedisErr(err); is && reply.IsNoScript() {
		n, err = client.Do(ctx, client.B().Eval().Script(s.source).Numkeys(1).Key(key).Arg(args...).Build()).AsInt64()
	}
	return n, answered(err)
}

// answered converts err for code that knows go-redis, which distinguishes the server's
// replies from errors of the connection.
func answered(err error) error {
	if _, is := rueidis.IsRedisErr(err); is {
		return replied{err}
	}
	return err
}

// A replied error is an error reply of the server.
type replied struct{ error }

// RedisError implements redis.Error.
func (replied) RedisError() {}
