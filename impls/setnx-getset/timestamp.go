package setnxgetset

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// retryDelay is the pause of the document's example. It is drawn from [retryDelay/2,
// retryDelay], so that clients spread out. The example also sets 3 retries, and 30 s
// or 10 s of lease; here Options.Wait and Options.TTL replace them.
const retryDelay = 100 * time.Millisecond

// timestamp is one owner of setnx-getset/timestamp. The value is the time of
// acquiring, in whole seconds of the client's clock.
//
// Documented faults: a lock can be stolen up to 1 s before its lease ends. During that second its
// owner cannot release it, and is told that it has lost it. Losers of the GETSET race restamp the
// winner's key and drop its TTL; a late GETSET stamps it with an older time. Release compares, then
// deletes, and knows no owner: it deletes another's fresh lock and reports success.
//
// Not a fault: a client that dies before EXPIRE blocks nobody, since the stamp
// decides.
type timestamp struct {
	env    onredis.Environment
	client *redis.Client
	seen   design.Observer
}

// Acquire implements lockbench.Locker.
func (s *timestamp) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	held := &stamped{owner: s, key: s.env.Prefix + key}
	held.Granted = design.WholeSeconds(opt.TTL)
	err := design.Poll(ctx, opt.Wait, s.pause, func() (bool, error) {
		held.From = s.seen.Attempt(key)
		return held.try(ctx)
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

func (s *timestamp) pause() time.Duration {
	var b [8]byte
	if _, err := io.ReadFull(s.env.Random, b[:]); err != nil {
		return retryDelay
	}
	const half = uint64(retryDelay / 2)
	return time.Duration(half + binary.BigEndian.Uint64(b[:])%(half+1))
}

// seconds reads the clock; the document does so anew before each use.
func (s *timestamp) seconds() int64 { return s.env.Now().Unix() }

// A stamped is a lock that its owner has or tries to get.
type stamped struct {
	design.Validity
	owner *timestamp
	key   string
}

// try sets the key if it is absent, and else takes it over if its stamp is a
// time-out old at two checks: when read, and when replaced.
func (s *stamped) try(ctx context.Context) (bool, error) {
	client := s.owner.client
	won, err := client.SetNX(ctx, s.key, s.owner.seconds(), s.Granted).Result()
	if won || err != nil {
		return won, onredis.NoEffect(err)
	}
	value, _, err := get(ctx, client, s.key)
	if err != nil {
		return false, nothingDone(err)
	}
	if s.live(value) {
		return false, nil
	}
	old, _, err := getSet(ctx, client, s.key, s.owner.seconds())
	if err != nil || s.live(old) {
		return false, onredis.NoEffect(err)
	}
	return true, expire(ctx, client, s.key, int64(s.Granted/time.Second))
}

// live reports whether the stamp in value is less than a time-out old. A missing
// one counts as zero: long expired.
func (s *stamped) live(value string) bool {
	stamp, _ := strconv.ParseInt(value, 10, 64)
	return s.owner.seconds()-stamp < int64(s.Granted/time.Second)
}

// Release implements lockbench.Lease. It decides about a loss by the stamp alone: it
// reports a false loss in the last second of a lease, and no loss if another
// holder's stamp is fresh.
func (s *stamped) Release(ctx context.Context) error {
	value, _, err := get(ctx, s.owner.client, s.key)
	if err != nil {
		return nothingDone(err)
	}
	if !s.live(value) {
		return lockbench.ErrNotHeld
	}
	return onredis.NoEffect(del(ctx, s.owner.client, s.key))
}

// nothingDone wraps an error that occurred before any command that changes the key was sent.
func nothingDone(err error) error {
	return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
}
