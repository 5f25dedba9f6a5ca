package mutants

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// nestingMutants have faults in acquires by the holder.
var nestingMutants = []Mutant{
	{
		Name: "inner-frees", Seen: "kazoo < 2.1 (row 24)",
		Mechanism: "acquires count and releases do not: the first release frees",
		Breaks:    []lockbench.Cell{lockbench.Reentrancy.At(0)}, Scenario: "nested",
		abilities: reentrant, change: func(a *parts) { a.inner = free },
	},
	{
		Name: "count-set-back", Seen: "Redisson < 1.1.6 (row 25)",
		Mechanism: "the holder's entry is read, counted up in memory and written back without WATCH: by then it may be another's",
		Breaks:    []lockbench.Cell{lockbench.OwnerRelease.At(lockbench.Outlived)}, Scenario: "nested",
		abilities: reentrant, change: func(a *parts) { a.nest = readAndSetBack },
	},
	{
		Name: "inner-shortens", Seen: "Redisson < 3.5.5 (row 33)",
		Mechanism: "a nested acquire with a short lease sets the outer one's to it",
		Breaks:    []lockbench.Cell{lockbench.LeaseKept.At(0)}, Scenario: "nested-short",
		abilities: reentrant, change: func(a *parts) { a.nest = nestShort },
	},
	{
		Name: "inner-unwatched", Seen: "Redisson 3.44 (row 31)",
		Mechanism: "the release of an inner level ends the renewals of the outer hold",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.Outlived)}, Scenario: "nested",
		abilities: reentrantWatched, change: func(a *parts) { a.inner = checkUnwatched },
	},
}

func readAndSetBack(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	found, err := h.client().Get(ctx, h.name).Result()
	if errors.Is(err, redis.Nil) || found != h.token {
		return false, unlessNil(err)
	}
	err = later(h.client().Set(ctx, h.name, h.token, ttl).Err())
	return err == nil, err
}

var nestShortScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('INCR', KEYS[2])`)

func nestShort(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	return h.draw(ctx, nestShortScript, h.token, ttl.Milliseconds())
}

func checkUnwatched(ctx context.Context, h *hold) (bool, error) {
	h.renewal.Stop()
	return check(ctx, h)
}
