package luatoken

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

const (
	// retryEvery is the pause of the linear strategy used for Options.Wait; redislock
	// leaves the choice to the caller.
	retryEvery = 10 * time.Millisecond
	// tokenBytes are the random bytes of a token, tokenSize their length as text.
	tokenBytes = 16
	tokenSize  = 22
	// readAhead is the number of random bytes that a client reads at a time.
	readAhead = 32 * tokenBytes
)

// strategy is one owner of lua-token/strategy, after redislock, the second generation of
// redis-lock.
type strategy struct{ *obtainer }

// Acquire implements lockbench.Locker.
func (s strategy) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	l, err := s.obtain(ctx, key, opt.TTL, linearly(opt))
	if err != nil {
		return nil, err // not l: an interface of a nil *lock is not nil
	}
	return l, nil
}

// linearly converts the options of the contract.
func linearly(opt lockbench.Options) obtainOptions {
	how := obtainOptions{Metadata: opt.Metadata, Wait: opt.Wait}
	if opt.Wait > 0 {
		how.Retry = linear(retryEvery)
	}
	return how
}

// An obtainer obtains locks. One goroutine uses it at a time.
type obtainer struct {
	env    onredis.Environment
	client *redis.Client
	seen   design.Observer
	random *bufio.Reader
	raw    [tokenBytes]byte // scratch for making a token, and
	text   [tokenSize]byte  // the same as text
	// take makes one attempt.
	take func(context.Context, *redis.Client, *lock) (bool, error)
}

// newObtainer returns an obtainer that uses the connections of client.
func newObtainer(env onredis.Environment, client *redis.Client, seen design.Observer) *obtainer {
	return &obtainer{env: env, client: client, seen: seen, random: bufio.NewReaderSize(env.Random, readAhead), take: setToken}
}

// obtainOptions are the retries, and the metadata of a lock.
type obtainOptions struct {
	// Retry gives the pauses between tries; nil is one try.
	Retry retry
	// Metadata is appended to the token.
	Metadata string
	// Wait ends the retries. If it is zero, the context's deadline ends them or, if
	// there is none, the requested lease.
	Wait time.Duration
}

// obtain takes the lock on key for ttl, rounded up to a millisecond. It returns an error
// wrapping lockbench.ErrNotAcquired if the lock was held until the retries ended, and
// otherwise the errors of [lockbench.Locker].
func (c *obtainer) obtain(ctx context.Context, key string, ttl time.Duration, opt obtainOptions) (*lock, error) {
	l, err := c.lock(key, ttl, opt.Metadata)
	if err != nil {
		return nil, err
	}
	refusals := 0
	pause := func() time.Duration { return opt.Retry.pause(refusals) }
	err = design.Poll(ctx, opt.wait(ctx, ttl), pause, func() (bool, error) {
		l.From = c.seen.Attempt(key)
		won, err := c.take(ctx, c.client, l)
		if won || err != nil {
			return won, onredis.NoEffect(err)
		}
		refusals++
		if opt.Retry == nil || pause() <= 0 {
			return false, lockbench.ErrNotAcquired
		}
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func setToken(ctx context.Context, client *redis.Client, l *lock) (bool, error) {
	return set(ctx, client, &l.key, &l.token, l.Granted)
}

// wait is how long the retries last. It is computed rather than put into a context,
// which would cost more than a whole obtain without a wait.
func (o obtainOptions) wait(ctx context.Context, ttl time.Duration) time.Duration {
	const untilContextEnds = 1 << 62
	if o.Retry == nil || o.Wait > 0 {
		return o.Wait
	}
	if _, bounded := ctx.Deadline(); bounded {
		return untilContextEnds
	}
	return ttl
}

// lock makes an unlocked lock with a token of its own.
func (c *obtainer) lock(key string, ttl time.Duration, metadata string) (*lock, error) {
	if _, err := io.ReadFull(c.random, c.raw[:]); err != nil {
		return nil, fmt.Errorf("%w: random token: %w", lockbench.ErrNoEffect, err)
	}
	base64.RawURLEncoding.Encode(c.text[:], c.raw[:])
	l := &lock{
		Validity: design.Validity{Granted: design.WholeMillis(ttl)},
		client:   c.client,
		key:      c.env.Prefix + key,
		token:    string(c.text[:]),
	}
	if metadata != "" {
		l.token += metadata
	}
	return l, nil
}

// A lock is one grant, under a token of its own. One goroutine uses it at a time.
type lock struct {
	design.Validity
	client *redis.Client
	key    string // with the prefix, as on the server
	token  string // the grant's own name, tokenSize long, followed by the metadata
	fence  uint64 // for lua-token/fenced only
}

// TTL implements lockbench.TTLer.
func (l *lock) TTL(ctx context.Context) (time.Duration, error) {
	left, err := run(ctx, l.client, ttlScript, &l.key, &l.token)
	return time.Duration(left) * time.Millisecond, err
}

// Extend implements lockbench.Extender. redislock calls it Refresh.
func (l *lock) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now() // real time, like an attempt's start, not the process's clock
	ttl = design.WholeMillis(ttl)
	if err := l.own(run(ctx, l.client, refreshScript, &l.key, &l.token, ttl.Milliseconds())); err != nil {
		return err
	}
	l.From, l.Granted = start, ttl
	return nil
}

// Release implements lockbench.Lease.
func (l *lock) Release(ctx context.Context) error {
	return l.own(run(ctx, l.client, releaseScript, &l.key, &l.token))
}

// own converts the answer of a script that compares the token to an error.
func (l *lock) own(matched int64, err error) error {
	if err == nil && matched == 0 {
		return fmt.Errorf("lock %s: %w", l.key, lockbench.ErrNotHeld)
	}
	return onredis.NoEffect(err)
}
