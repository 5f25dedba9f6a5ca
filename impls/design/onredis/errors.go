package onredis

import (
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/serverror"
)

// NoEffect wraps err in [lockbench.ErrNoEffect] if it proves that the command was never run:
// there was no connection to send it on, or the server refused to run it, because of a missing
// permission, a lack of memory, or the like. It returns any other error, and nil, unchanged,
// because the outcome is open.
//
// It is about one command. Use it on the first command of an attempt, since the error of a later
// command proves nothing about the commands before it.
func NoEffect(err error) error {
	if err == nil || errors.Is(err, lockbench.ErrNoEffect) || !unsent(err) && !serverror.RefusalOf(err).NothingRan() {
		return err
	}
	return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
}

func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" ||
		errors.Is(err, redis.ErrPoolTimeout) ||
		errors.Is(err, redis.ErrClosed)
}
