package servers

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
)

var _ design.Listed = (*Server)(nil)

// Runs implements [design.Listed]. A key was used when it was last read or written, in whole seconds.
func (s *Server) Runs(ctx context.Context) ([]design.RunEntries, error) {
	runs := make(backend.Runs)
	for _, part := range s.parts(ctx) {
		if err := part.runsOn(ctx, runs); err != nil {
			return nil, err
		}
	}
	return runs.Sorted(), nil
}

// runsOn adds the runs that have keys.
func (s *Server) runsOn(ctx context.Context, runs backend.Runs) error {
	client := s.single()
	defer client.Close()
	for cursor := uint64(0); ; {
		keys, next, err := client.Scan(ctx, cursor, globbed("lockbench:"), scanPage).Result()
		if err != nil {
			return err
		}
		for _, key := range keys {
			if backend.Prefix(key) == "" {
				continue
			}
			idle, err := client.ObjectIdleTime(ctx, key).Result()
			if errors.Is(err, redis.Nil) {
				continue // gone by now
			}
			if err != nil {
				return fmt.Errorf("ask for how long nobody used %s: %w; hint: the server must not have an LFU policy of maxmemory, and the user needs OBJECT", key, err)
			}
			runs.Add(key, 1, idle)
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
