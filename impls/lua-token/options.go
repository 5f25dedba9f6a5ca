package luatoken

import (
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

// waitRetry is the library's default pause between tries. Its other two defaults, 5 s of lease and
// no waiting, are options of the caller here.
const waitRetry = 100 * time.Millisecond

// options is one owner of lua-token/options, after the library redis-lock, the first generation of
// redislock: a lock object per key. It lacks the library's mutex around an object's operations,
// since only one goroutine at a time uses an owner.
//
// Documented fault: locking a lock that was lost in between makes a new one and succeeds; the
// caller never learns that others were inside.
type options struct {
	env    onredis.Environment
	client *redis.Client
	seen   design.Observer
	locks  map[string]*optionsLock
}

// An optionsLock is the library's lock object for one key. Making one sends nothing.
type optionsLock struct {
	*options
	key   string // on the server
	token string // empty: not locked, as far as the object knows
}

// Acquire implements lockbench.Locker. It refreshes a lock that this owner holds.
func (o *options) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	l := o.locks[key]
	if l == nil {
		l = &optionsLock{options: o, key: o.env.Prefix + key}
		o.locks[key] = l
	}
	held := &optionsLease{optionsLock: l, Validity: design.Validity{Granted: design.WholeMillis(opt.TTL)}}
	if err := held.lock(ctx, key, opt.Wait); err != nil {
		return nil, err
	}
	return held, nil
}

// optionsLease is a grant to a lock object. It releases whatever lock the object has by then.
type optionsLease struct {
	design.Validity
	*optionsLock
}

// lock refreshes the lock if the object has a token, and takes it anew if that fails. The old token
// stays if both fail.
func (l *optionsLease) lock(ctx context.Context, key string, wait time.Duration) error {
	fresh, err := randomToken(l.env.Random)
	if err != nil {
		return err
	}
	refresh := l.token != ""
	return design.Poll(ctx, wait, design.Every(waitRetry), func() (bool, error) {
		l.From = l.seen.Attempt(key)
		if refresh {
			refresh = false
			ours, err := run(ctx, l.client, refreshScript, &l.key, l.token, l.Granted.Milliseconds())
			if err != nil || ours == 1 {
				return ours == 1, onredis.NoEffect(err)
			}
		}
		won, err := set(ctx, l.client, &l.key, &fresh, l.Granted)
		if won {
			l.token = fresh
		}
		return won, onredis.NoEffect(err)
	})
}

// Release implements lockbench.Lease. The token goes only if that succeeded.
func (l *optionsLease) Release(ctx context.Context) error {
	if l.token == "" {
		return lockbench.ErrNotHeld
	}
	freed, err := run(ctx, l.client, releaseScript, &l.key, l.token)
	if err != nil {
		return onredis.NoEffect(err)
	}
	if freed == 0 {
		return lockbench.ErrNotHeld
	}
	l.token = ""
	return nil
}

// randomToken is 128 random bits as text.
func randomToken(random io.Reader) (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("%w: random token: %w", lockbench.ErrNoEffect, err)
	}
	return base64.RawURLEncoding.EncodeToString(raw[:]), nil
}
