package onredis

import (
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
)

// rejections are the error replies with which a server turns a command away
// before it runs any of it.
var rejections = []string{"LOADING", "NOAUTH", "BUSY", "MASTERDOWN", "READONLY"}

// NoEffect wraps err in [lockbench.ErrNoEffect] when it shows that the command
// it comes from was never run: no connection could be had to send it on, or the
// server turned it away at the door. Any other error, nil too, is returned as it
// is, for it leaves the outcome open.
//
// It speaks of one command. Use it on the first command of an attempt, since an
// error of a later one says nothing of those before it.
func NoEffect(err error) error {
	if err == nil || errors.Is(err, lockbench.ErrNoEffect) || !unsent(err) && !rejected(err) {
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

func rejected(err error) bool {
	for _, prefix := range rejections {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}
