package watchmulti

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// lease is a lock that its thread believes to have. The server knows only its
// process: a late command of one thread affects the next one's hold (fault (d)).
type lease struct {
	process   *process
	key, name string // as passed to Acquire; on the server
	from      time.Time
	granted   time.Duration
}

// Release implements lockbench.Lease.
func (l *lease) Release(ctx context.Context) error { return l.ReleaseAfter(ctx, 0) }

// ReleaseAfter implements lockbench.DelayedReleaser: the document's release, with
// d for delayAfter.
func (l *lease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	now := l.process.env.Now()
	until := now.Add(d)
	var over bool
	done, err := l.transaction(ctx, func(found state) change {
		over = !found.expireAt.After(now)
		if found.daddy != l.process.daddy {
			return nil
		}
		return func(p redis.Pipeliner) {
			p.HSet(ctx, l.name, fieldExpireAt, formatSeconds(until))
			p.ExpireAt(ctx, l.name, roundUp(until))
			p.HDel(ctx, l.name, fieldDaddy)
		}
	})
	return l.told("release", done, over, err)
}

// Extend implements lockbench.Extender: the document's prolongate, which reads
// its clock after the lock.
func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now()
	var over bool
	done, err := l.transaction(ctx, func(found state) change {
		now := l.process.env.Now()
		over = !found.expireAt.After(now)
		if found.daddy != l.process.daddy {
			return nil
		}
		until := now.Add(ttl)
		return func(p redis.Pipeliner) {
			p.HSet(ctx, l.name, fieldExpireAt, formatSeconds(until))
			p.ExpireAt(ctx, l.name, roundUp(until))
		}
	})
	if done && err == nil {
		l.from, l.granted = start, ttl
	}
	return l.told("extend", done, over, err)
}

// told converts the document's answers to the contract's errors: its "timeout" is
// ErrLate, its "lost lock" is ErrNotHeld, and so is a plain false, which means
// that another owner has the lock.
func (l *lease) told(what string, done, over bool, err error) error {
	switch {
	case err != nil:
	case done && over:
		err = lockbench.ErrLate
	case !done && over:
		err = fmt.Errorf("the lease was over: %w", lockbench.ErrNotHeld)
	case !done:
		err = fmt.Errorf("it is another's: %w", lockbench.ErrNotHeld)
	default:
		return nil
	}
	return fmt.Errorf("%s %q: %w", what, l.key, err)
}

// Valid implements lockbench.Validator.
func (l *lease) Valid() (from time.Time, granted time.Duration) { return l.from, l.granted }
