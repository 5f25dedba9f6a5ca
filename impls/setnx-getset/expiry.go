package setnxgetset

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// clockTolerance is the document's bound on the difference of the clients' clocks: it is
// added to the expiry time in the value, not to the key's own EXPIRE.
const clockTolerance = 1000 * time.Millisecond

// expiry is one owner of setnx-getset/expiry, the second stage of the document of
// setnx-getset/naive (docs/designs.md).
//
// Documented faults: the plain DEL, as in naive. The loser of the GETSET race drops the
// winner's TTL and replaces its expiry; if it read the clock more than the tolerance ago it
// shortens the expiry, and a third client steals a live lock. After a DEL between GET and
// GETSET the refused client leaves a key that nobody holds. Any exception is a refusal:
// even a lost reply, while the lock stays set. A waiter keeps its pooled connection while
// it sleeps.
type expiry struct {
	env    onredis.Environment
	client *redis.Client
	seen   design.Observer
}

// Acquire implements lockbench.Locker.
func (e *expiry) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	held := &unowned{client: e.client, key: e.env.Prefix + key}
	held.Granted = design.WholeSeconds(opt.TTL)
	conn := e.client.Conn() // one connection for the whole wait, sleeps included
	defer conn.Close()
	err := design.Poll(ctx, opt.Wait, design.Every(tryInterval), func() (bool, error) {
		held.From = e.seen.Attempt(key)
		won, err := e.try(ctx, conn, held)
		return won, caught(ctx, err)
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// try reads the clock once: the times that it compares and writes are as old as its first
// command.
func (e *expiry) try(ctx context.Context, conn *redis.Conn, held *unowned) (bool, error) {
	now := e.env.Now()
	until := encode(now.Add(held.Granted + clockTolerance))
	won, err := setNX(ctx, conn, held.key, until)
	if err == nil && !won {
		won, err = takeOver(ctx, conn, held.key, now, until)
	}
	if err != nil || !won {
		return false, err
	}
	return true, expire(ctx, conn, held.key, int64(held.Granted/time.Second))
}

// takeOver claims a key with a past expiry time, unless another client was first. In that case it
// has replaced the other client's value.
func takeOver(ctx context.Context, conn *redis.Conn, key string, now time.Time, until string) (bool, error) {
	value, found, err := get(ctx, conn, key)
	if err != nil || !found || !past(value, now) {
		return false, err
	}
	old, found, err := getSet(ctx, conn, key, until)
	return found && old == value, err
}

// encode returns the value of a lock that is held until t: milliseconds since 1970, in 8 bytes,
// big-endian.
func encode(t time.Time) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli())))
}

// past reports whether the expiry time in value is before now. Other values never expire.
func past(value string, now time.Time) bool {
	return len(value) == 8 && int64(binary.BigEndian.Uint64([]byte(value))) < now.UnixMilli()
}

// caught is the document's catch around the whole wait, from stage 2 on: every exception becomes
// false. It returns an error only if the caller cancelled.
func caught(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %v", lockbench.ErrNotAcquired, err)
}
