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
	// retryEvery is the pause of the linear strategy that stands for Options.Wait;
	// redislock leaves the choice to the caller.
	retryEvery = 10 * time.Millisecond
	// tokenBytes are the random bytes of a token, tokenSize their length as text.
	tokenBytes = 16
	tokenSize  = 22
	// readAhead is how many random bytes a client fetches at a time.
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

// linearly is how to obtain what the contract asks for.
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

// obtainOptions are how to wait for a lock, and what to write into it.
type obtainOptions struct {
	// Retry says when to try again; nil is not at all.
	Retry retry
	// Metadata is appended to the token.
	Metadata string
	// Wait ends the retries. Zero leaves that to the context's deadline and, when
	// it has none, to the lease asked for.
	Wait time.Duration
}

// obtain takes the lock on key for ttl, rounded up to a millisecond. It returns an
// error wrapping lockbench.ErrNotAcquired when the lock was held until the retries
// ended, and otherwise those of [lockbench.Locker].
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

// wait is how long to go on trying. It is worked out rather than put into a
// context, which costs more than the whole of an obtain that need not wait.
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

// lock makes the lock that is to be obtained, with a token of its own.
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
	key    string // as it stands on the server, prefix included
	token  string // the grant's own name, tokenSize long, and the metadata behind it
	fence  uint64 // of lua-token/fenced only
}

// TTL implements lockbench.TTLer.
func (l *lock) TTL(ctx context.Context) (time.Duration, error) {
	left, err := run(ctx, l.client, ttlScript, &l.key, &l.token)
	return time.Duration(left) * time.Millisecond, err
}

// Extend implements lockbench.Extender. redislock calls it Refresh.
func (l *lock) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now() // real time, as an attempt's start is, not the process's clock
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

// own turns the answer of a script that compares the token into an error.
func (l *lock) own(matched int64, err error) error {
	if err == nil && matched == 0 {
		return fmt.Errorf("lock %s: %w", l.key, lockbench.ErrNotHeld)
	}
	return onredis.NoEffect(err)
}
