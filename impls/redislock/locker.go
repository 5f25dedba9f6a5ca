package redislock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// retryEvery is the pause of the linear strategy used for Options.Wait; the library
// leaves the choice to the caller.
const retryEvery = 10 * time.Millisecond

// owner is one client of the library. It stands between the library and the
// connection, so that it sees the start of each attempt.
type owner struct {
	redis.Scripter
	env    onredis.Environment
	seen   design.Observer
	keys   func(string) []string
	client *redislock.Client

	acquiring string    // the key of a pending acquire, else empty
	from      time.Time // start of its latest attempt
}

func newOwner(env onredis.Environment, client *redis.Client, seen design.Observer, keys func(string) []string) *owner {
	o := &owner{Scripter: client, env: env, seen: seen, keys: keys}
	o.client = redislock.New(o)
	return o
}

// EvalSha implements redis.Scripter: each attempt begins with it.
func (o *owner) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if o.acquiring != "" {
		o.from = o.seen.Attempt(o.acquiring)
	}
	return o.Scripter.EvalSha(ctx, sha, keys, args...)
}

// Acquire implements lockbench.Locker.
func (o *owner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	how := &redislock.Options{Metadata: opt.Metadata}
	if opt.Wait > 0 {
		how.RetryStrategy = until(time.Now().Add(opt.Wait))
		// Without a deadline the library gives up after one lease. This deadline is
		// never reached: the strategy ends the wait between two attempts.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opt.Wait+time.Hour)
		defer cancel()
	}
	o.acquiring = key
	lock, err := o.client.ObtainMulti(ctx, o.keys(o.env.Prefix+key), opt.TTL, how)
	o.acquiring = ""
	if err != nil {
		return nil, meaning(onredis.NoEffect(err), redislock.ErrNotObtained, lockbench.ErrNotAcquired)
	}
	return &lease{design.Validity{From: o.from, Granted: opt.TTL}, lock}, nil
}

// An until is a retry strategy for the library: a fixed pause, until an instant.
type until time.Time

// NextBackoff implements redislock.RetryStrategy; zero ends the retries.
func (u until) NextBackoff() time.Duration {
	return max(0, min(retryEvery, time.Until(time.Time(u))))
}

type lease struct {
	design.Validity
	lock *redislock.Lock
}

// Release implements lockbench.Lease.
func (l *lease) Release(ctx context.Context) error {
	return meaning(onredis.NoEffect(l.lock.Release(ctx)), redislock.ErrLockNotHeld, lockbench.ErrNotHeld)
}

// Extend implements lockbench.Extender. The library calls it Refresh, and returns
// ErrNotObtained for a lost lock.
func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now()
	if err := onredis.NoEffect(l.lock.Refresh(ctx, ttl, nil)); err != nil {
		return meaning(err, redislock.ErrNotObtained, lockbench.ErrNotHeld)
	}
	l.From, l.Granted = start, ttl
	return nil
}

// TTL implements lockbench.TTLer.
func (l *lease) TTL(ctx context.Context) (time.Duration, error) { return l.lock.TTL(ctx) }

// meaning wraps err in ours if it is theirs; else it returns err.
func meaning(err, theirs, ours error) error {
	if errors.Is(err, theirs) {
		return fmt.Errorf("%w: %w", ours, err)
	}
	return err
}
