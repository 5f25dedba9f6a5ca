package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/lib/figures"
)

// ofRun matches the prefix of the keys of one run, see [NewPrefix].
var ofRun = regexp.MustCompile(`^lockbench:[0-9a-f]{8}:`)

// A RunKeys describes the keys of one run on a server.
type RunKeys struct {
	Prefix string
	Keys   int
	// Idle is how long ago a key was last used, in whole seconds.
	Idle time.Duration
	// Removed means that the keys were removed.
	Removed bool
}

// String describes the keys and whether they were removed.
func (r RunKeys) String() string {
	did := "left, since a run may use them"
	if r.Removed {
		did = "removed"
	}
	return fmt.Sprintf("%s*: %s, not used for %v: %s", r.Prefix, figures.Plural(int64(r.Keys), "key"), r.Idle, did)
}

// Clean removes the keys of ended runs from the server at rawURL: of runs with keys unused for at
// least idle. It touches only keys of runs. Its result is sorted by prefix.
func Clean(ctx context.Context, rawURL string, idle time.Duration) (found []RunKeys, err error) {
	if rawURL == "" {
		return nil, errors.New("no server named; hint: --server redis://host:port")
	}
	s, err := Connect(ctx, rawURL)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	runs := make(map[string]*RunKeys)
	for _, part := range s.parts(ctx) {
		if err = part.runsOn(ctx, runs); err != nil {
			break
		}
	}
	for _, prefix := range slices.Sorted(maps.Keys(runs)) {
		r := *runs[prefix]
		if r.Idle >= idle && err == nil {
			_, err = s.Sweep(ctx, prefix)
			r.Removed = err == nil
		}
		found = append(found, r)
	}
	return found, err
}

// runsOn adds the runs that have keys, by prefix.
func (s *Server) runsOn(ctx context.Context, runs map[string]*RunKeys) error {
	client := s.single()
	defer client.Close()
	for cursor := uint64(0); ; {
		keys, next, err := client.Scan(ctx, cursor, globbed("lockbench:"), scanPage).Result()
		if err != nil {
			return fmt.Errorf("look for keys of runs: %w", err)
		}
		for _, key := range keys {
			prefix := ofRun.FindString(key)
			if prefix == "" {
				continue
			}
			idle, err := client.ObjectIdleTime(ctx, key).Result()
			if errors.Is(err, redis.Nil) {
				continue // gone by now
			}
			if err != nil {
				return fmt.Errorf("ask for how long nobody used %s: %w; hint: the server must not have an LFU policy of maxmemory, and the user needs OBJECT", key, err)
			}
			r := runs[prefix]
			if r == nil {
				r = &RunKeys{Prefix: prefix, Idle: idle}
				runs[prefix] = r
			}
			r.Keys, r.Idle = r.Keys+1, min(r.Idle, idle)
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
