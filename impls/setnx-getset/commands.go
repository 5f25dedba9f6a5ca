package setnxgetset

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// A server executes commands. It is a pool of connections, or one connection of it.
type server interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// setNX sends SETNX itself; the client library's method sends SET NX.
func setNX(ctx context.Context, s server, key string, value any) (bool, error) {
	cmd := redis.NewBoolCmd(ctx, "setnx", key, value)
	err := s.Process(ctx, cmd)
	return cmd.Val(), err
}

// get returns the value of key and whether there is one.
func get(ctx context.Context, s server, key string) (string, bool, error) {
	return text(ctx, s, redis.NewStringCmd(ctx, "get", key))
}

// getSet puts value in key, without expiry, and returns the old value and whether
// there was one.
func getSet(ctx context.Context, s server, key string, value any) (string, bool, error) {
	return text(ctx, s, redis.NewStringCmd(ctx, "getset", key, value))
}

func text(ctx context.Context, s server, cmd *redis.StringCmd) (string, bool, error) {
	err := s.Process(ctx, cmd)
	if errors.Is(err, redis.Nil) {
		return "", false, nil
	}
	return cmd.Val(), err == nil, err
}

// expire sends EXPIRE. It ignores whether the key was still there, as the
// documents do.
func expire(ctx context.Context, s server, key string, seconds int64) error {
	return s.Process(ctx, redis.NewBoolCmd(ctx, "expire", key, seconds))
}

func del(ctx context.Context, s server, key string) error {
	return s.Process(ctx, redis.NewIntCmd(ctx, "del", key))
}
