package watchmulti

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/go-redis/v9"
)

// pollPause is the document's pause between two looks of policy 1.
const pollPause = 10 * time.Millisecond

// A policy looks at the lease before a turn and waits for its end, and reports
// whether it slept. It returns [lockbench.ErrNotAcquired] if the wait, which
// ends at until, is not long enough.
type policy func(ctx context.Context, l *lease, until time.Time) (slept bool, err error)

// giveUp is policy 0: it refuses at once if the lease outlasts the wait, and
// else sleeps until its end. As in the document it sleeps whole seconds, so it
// wakes up to a second early: fault (c).
func giveUp(ctx context.Context, l *lease, until time.Time) (slept bool, err error) {
	expireAt, err := l.lookUp(ctx)
	if err != nil {
		return false, err
	}
	if expireAt.After(until) {
		return false, lockbench.ErrNotAcquired
	}
	whole := expireAt.Sub(l.process.env.Now()).Truncate(time.Second)
	if whole <= 0 {
		return false, nil
	}
	return true, sleep(ctx, whole)
}

// poll is policy 1: it looks repeatedly until the lease is over.
func poll(ctx context.Context, l *lease, until time.Time) (slept bool, err error) {
	for {
		expireAt, err := l.lookUp(ctx)
		if err != nil {
			return slept, err
		}
		now := l.process.env.Now()
		switch {
		case !expireAt.After(now):
			return slept, nil
		case !now.Before(until):
			return slept, lockbench.ErrNotAcquired
		}
		if err := sleep(ctx, pollPause); err != nil {
			return true, err
		}
		slept = true
	}
}

// lookUp reads the end of the lease. Its errors wrap [lockbench.ErrNoEffect].
func (l *lease) lookUp(ctx context.Context) (time.Time, error) {
	found, err := l.process.client.HGet(ctx, l.name, fieldExpireAt).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return time.Time{}, noEffect(err)
	}
	expireAt, err := parseSeconds(found)
	return expireAt, noEffect(err)
}

// sleep waits for d. Its error, the context's, wraps [lockbench.ErrNoEffect].
func sleep(ctx context.Context, d time.Duration) error {
	return noEffect(design.Sleep(ctx, d))
}
