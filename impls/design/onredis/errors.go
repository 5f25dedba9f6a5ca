package onredis

import (
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/serverror"
)

// NoEffect wraps err in [lockbench.ErrNoEffect] when it shows that the command
// it comes from was never run: no connection could be had to send it on, or the server refused
// to run it, because the user lacks a permission, there is no memory left, or the like. Any
// other error, nil too, is returned as it is, for it leaves the outcome open.
//
// It speaks of one command. Use it on the first command of an attempt, since an
// error of a later one says nothing of those before it.
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
