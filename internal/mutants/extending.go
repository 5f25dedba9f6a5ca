package mutants

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/go-redis/v9"
)

// extendingMutants have faults in the length of the lease, or in extend.
var extendingMutants = []Mutant{
	{
		Name: "renew-releases", Seen: "sherlock 0.4.0 (row 10)",
		Mechanism: "extend runs the script of the release, and says yes",
		Breaks:    []lockbench.Cell{lockbench.LeaseKept.At(0)}, Scenario: "extend", change: func(a *parts) { a.keep = keepByFreeing },
	},
	{
		Name: "extend-recreates", Seen: "redlock-rb < 0.1.8 (row 16)",
		Mechanism: "extend creates a lock anew that had expired, also when others were inside meanwhile, and says yes",
		Breaks:    []lockbench.Cell{lockbench.LossReported.At(lockbench.Outlived)}, Scenario: "extend", change: func(a *parts) { a.keep = keepOrCreate },
	},
	{
		Name: "extend-anyone", Seen: "no row: EXPIRE as a heartbeat",
		Mechanism: "extend sets the key's lease whoever holds it, and says yes to an owner that lost it",
		Breaks:    []lockbench.Cell{lockbench.LossReported.At(lockbench.Outlived)}, Scenario: "extend", change: func(a *parts) { a.keep = keepAnyones },
	},
	{
		Name: "extend-ignored", Seen: "no row: an extend that only looks",
		Mechanism: "extend says yes to who holds the lock, and leaves the lease as it is",
		Breaks:    []lockbench.Cell{lockbench.LeaseKept.At(0)}, Scenario: "extend", change: func(a *parts) { a.keep = keepNothing },
	},
	{
		Name: "extend-millis", Seen: "redlock (node) 0.2 (row 19)",
		Mechanism: "extend gives EXPIRE, which counts seconds, milliseconds: who dies then holds a thousand times as long",
		Breaks:    []lockbench.Cell{lockbench.Recovery.At(lockbench.Crash)}, Scenario: "extend", change: func(a *parts) { a.keep = keepMillis },
	},
	{
		Name: "extend-adds", Seen: "no row: an extend that adds the time asked for to the rest of the lease",
		Mechanism: "each extend adds to the rest of the lease: the key of an owner that works no more is kept from the others for longer and longer",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "extend-thrice", change: func(a *parts) { a.keep = keepAndAdd },
	},
	{
		Name: "release-unextended", Seen: "no row: a release that compares the end of the first lease with the clock",
		Mechanism: "a release after the end of the lease as granted, though it was extended, leaves the key and reports a loss",
		Breaks:    []lockbench.Cell{lockbench.LossReported.At(0)}, Scenario: "extend-thrice", change: func(a *parts) { a.free = freeUnextended },
	},
	{
		Name: "failed-extend-frees", Seen: "redsync 4.12.0 (row 52)",
		Mechanism: "an extend that finds the lock lost deletes the key, which is the next owner's",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(0)}, Scenario: "extend", change: func(a *parts) { a.keep = keepOrFree },
	},
	{
		Name: "drift-added", Seen: "redsync <= 1.3.0 (row 51)",
		Mechanism: "the allowance for drifting clocks is added to the validity instead of taken off: the caller is told a longer lease than the server keeps",
		Breaks:    []lockbench.Cell{lockbench.LeaseKept.At(0), lockbench.Exclusion.At(0)}, change: func(a *parts) { a.promise = addDrift },
	},
	{
		Name: "whole-seconds", Seen: "libraries that cast the TTL to whole seconds (the TTL grid; compare row 8)",
		Mechanism: "the lease is cut to whole seconds: 2.5 s asked for is 2 s on the server",
		Breaks:    []lockbench.Cell{lockbench.LeaseKept.At(0), lockbench.Exclusion.At(0)}, TTL: 2500 * time.Millisecond, change: func(a *parts) { a.take = takeSeconds },
	},
	{
		Name: "cut-millis", Seen: "redislock 0.10.0, redsync 4.14.1",
		Mechanism: "the lease is cut to whole milliseconds: 2.9 ms asked for are 2 ms on the server, and of 0.9 ms nothing is left",
		Breaks:    []lockbench.Cell{lockbench.LeaseKept.At(0), lockbench.Exclusion.At(0)}, Scenario: "odd-leases", change: func(a *parts) { a.rounded, a.promise, a.take = asAsked, asAsked, takeMillis },
	},
}

func keepByFreeing(ctx context.Context, h *hold, _ time.Duration) (bool, error) {
	return free(ctx, h)
}

var keepOrCreateScript = redis.NewScript(`
local found = redis.call('GET', KEYS[1])
if not found or found == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0`)

func keepOrCreate(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	return h.found(ctx, keepOrCreateScript, h.token, ttl.Milliseconds())
}

func keepAnyones(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	return h.client().PExpire(ctx, h.name, ttl).Result()
}

func keepNothing(ctx context.Context, h *hold, _ time.Duration) (bool, error) {
	return check(ctx, h)
}

var keepMillisScript = owned("return redis.call('EXPIRE', KEYS[1], ARGV[2])")

func keepMillis(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	return h.found(ctx, keepMillisScript, h.token, ttl.Milliseconds())
}

var keepAndAddScript = owned("return redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) + ARGV[2])")

func keepAndAdd(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	return h.found(ctx, keepAndAddScript, h.token, ttl.Milliseconds())
}

// freeUnextended asks the server only before the end of the lease as granted. Extends ask for as much.
func freeUnextended(ctx context.Context, h *hold) (bool, error) {
	h.mu.Lock()
	end := h.from.Add(h.lease)
	h.mu.Unlock()
	if time.Now().After(end) {
		return false, nil
	}
	return free(ctx, h)
}

func keepOrFree(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	held, err := keep(ctx, h, ttl)
	if err == nil && !held {
		err = later(h.client().Del(ctx, h.name).Err())
	}
	return held, err
}

// addDrift returns ttl with redsync's allowance for clock drift, 1% and 2 ms, added rather than
// subtracted.
func addDrift(ttl time.Duration) time.Duration {
	ttl = design.WholeMillis(ttl)
	return ttl + ttl/100 + 2*time.Millisecond
}

func asAsked(ttl time.Duration) time.Duration { return ttl }

// takeMillis acquires with the lease in whole milliseconds. A lease below 1 ms frees the key at
// once, as PEXPIRE with 0 does.
func takeMillis(ctx context.Context, h *hold) (bool, error) {
	taken, err := h.draw(ctx, takeScript, h.token, max(1, h.lease.Milliseconds())) // which truncates it
	if taken && h.lease < time.Millisecond {
		err = h.client().Del(ctx, h.name).Err()
	}
	return taken, err
}

func takeSeconds(ctx context.Context, h *hold) (bool, error) {
	lease := max(h.lease.Truncate(time.Second), time.Second)
	return h.draw(ctx, takeScript, h.token, lease.Milliseconds())
}
