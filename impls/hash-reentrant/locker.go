package hashreentrant

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// pollPause is the document's pause between two tries.
const pollPause = 200 * time.Millisecond

// locker is one thread of a process of plain or watchdog.
type locker struct {
	process  *process
	owner    string
	observer design.Observer
}

// Acquire implements lockbench.Locker. As in the document it keeps its connection
// while it sleeps, and takes the interruption of a sleep for the end of the wait:
// the lease that it then returns is nobody's.
func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	if err := checkLease(opt); err != nil {
		return nil, err
	}
	held := &lease{locker: l, key: key, name: l.process.env.Prefix + ownPrefix + key, granted: design.WholeMillis(opt.TTL)}
	conn := l.process.client.Conn()
	defer conn.Close()
	until := time.Now().Add(opt.Wait)
	for {
		granted, err := held.try(ctx, conn)
		if err != nil {
			return nil, err
		}
		if granted {
			break
		}
		left := time.Until(until)
		if left <= 0 {
			return nil, fmt.Errorf("lock %q: %w", key, lockbench.ErrNotAcquired)
		}
		if interrupted := design.Sleep(ctx, min(pollPause, left)); interrupted != nil {
			break
		}
	}
	if w := l.process.watchdog; w != nil {
		w.watch(held)
	}
	return held, nil
}

// lease is one level of a lock.
type lease struct {
	locker    *locker
	key, name string // as passed to Acquire; on the server
	from      time.Time
	granted   time.Duration
}

func (l *lease) try(ctx context.Context, conn *redis.Conn) (granted bool, err error) {
	l.from = l.locker.observer.Attempt(l.key)
	_, granted, err = answer(lockScript.Run(ctx, conn, []string{l.name}, l.locker.owner, l.granted.Milliseconds()))
	if err != nil {
		return false, fmt.Errorf("lock %q: %w", l.key, onredis.NoEffect(err))
	}
	return granted, nil
}

// Release implements lockbench.Lease. The script's nil for a lost lock is no
// error in the document: the loser is not told, and the watchdog keeps its entry.
func (l *lease) Release(ctx context.Context) error {
	freed, _, err := answer(unlockScript.Run(ctx, l.locker.process.client, []string{l.name}, l.locker.owner, l.granted.Milliseconds()))
	if err != nil {
		return fmt.Errorf("unlock %q: %w", l.key, onredis.NoEffect(err))
	}
	if w := l.locker.process.watchdog; w != nil && freed == 1 {
		w.forget(l.key)
	}
	return nil
}

// Valid implements lockbench.Validator.
func (l *lease) Valid() (from time.Time, granted time.Duration) { return l.from, l.granted }
