package watchmulti

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// state is the server's state of a lock. The zero state is an absent key, with a
// lease that is over.
type state struct {
	daddy    string
	expireAt time.Time
}

// change queues the commands of a transaction.
type change func(redis.Pipeliner)

// transaction watches the lock, reads it and runs the change that plan returns, if
// any, all on one connection. It returns whether the change took effect: it did
// not if another client changed the lock meanwhile. Until the change is sent, an
// error means that nothing happened.
func (l *lease) transaction(ctx context.Context, plan func(found state) change) (done bool, err error) {
	sent := false
	err = l.process.client.Watch(ctx, func(tx *redis.Tx) error {
		found, err := readState(ctx, tx, l.name)
		if err != nil {
			return err
		}
		commands := plan(found)
		if commands == nil {
			return tx.Unwatch(ctx).Err()
		}
		sent = true
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			commands(p)
			return nil
		})
		done = err == nil
		return err
	}, l.name)
	switch {
	case errors.Is(err, redis.TxFailedErr):
		return false, nil
	case !sent:
		return false, noEffect(err)
	}
	return done, err
}

func readState(ctx context.Context, tx *redis.Tx, name string) (state, error) {
	fields, err := tx.HGetAll(ctx, name).Result()
	if err != nil {
		return state{}, err
	}
	expireAt, err := parseSeconds(fields[fieldExpireAt])
	return state{fields[fieldDaddy], expireAt}, err
}

// noEffect marks the error of a request that only reads, or of a sleep between two
// turns: the turns before were refused.
func noEffect(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
}
