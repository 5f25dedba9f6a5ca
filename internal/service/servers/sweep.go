package servers

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// scanPage is the number of keys that the server examines in one step of a sweep: few enough that
// other clients do not notice, enough for millions of foreign keys.
const scanPage = 1000

// Sweep removes every key that begins with prefix, byte for byte, and returns their number. Keys
// written meanwhile may remain. An empty prefix is refused: it would remove foreign keys. In a
// cluster it sweeps every primary.
func (s *Server) Sweep(ctx context.Context, prefix string) (int, error) {
	if prefix == "" {
		return 0, fmt.Errorf("sweep %s: the prefix is empty; hint: sweep one run's keys only", s.address)
	}
	removed := 0
	for _, part := range s.parts(ctx) {
		n, err := part.sweep(ctx, prefix)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

func (s *Server) sweep(ctx context.Context, prefix string) (removed int, err error) {
	client := s.single()
	defer client.Close()
	remove := client.Unlink
	for cursor := uint64(0); ; {
		keys, next, err := client.Scan(ctx, cursor, globbed(prefix), scanPage).Result()
		if err == nil && len(keys) > 0 {
			var n int64
			n, err = s.all(ctx, remove, keys)
			if isUnknownCommand(err) || isReply(err, "NOPERM") { // UNLINK came with Redis 4
				remove = client.Del
				n, err = s.all(ctx, remove, keys)
			}
			removed += int(n)
		}
		if err != nil {
			return removed, fmt.Errorf("sweep keys %s* of %s: %w", prefix, s.address, s.reason(err))
		}
		if cursor = next; cursor == 0 {
			return removed, nil
		}
	}
}

// all removes keys: in a cluster one at a time, since a command takes keys of one slot only.
func (s *Server) all(ctx context.Context, remove func(context.Context, ...string) *redis.IntCmd, keys []string) (removed int64, err error) {
	if s.tag == "" {
		return remove(ctx, keys...).Result()
	}
	for _, key := range keys {
		n, err := remove(ctx, key).Result()
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// single returns a client with one connection.
func (s *Server) single() *redis.Client {
	opt := s.Options()
	opt.PoolSize = 1
	return redis.NewClient(opt)
}

// reason joins err with the reason of the server's end, if it has ended.
func (s *Server) reason(err error) error { return errors.Join(err, s.Err()) }
