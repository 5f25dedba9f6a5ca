package mutants

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// countingMutants have wrong values at a grant: the time, or the fence.
var countingMutants = []Mutant{
	{
		Name: "first-lifetime", Seen: "symfony/lock < 4.4.16 (row 40)",
		Mechanism: "the lease counts from the first attempt: a grant after a long wait gets what is left of it",
		Breaks:    []lockbench.Cell{lockbench.LeaseKept.At(0)}, Scenario: "wait", change: func(a *parts) { a.take = takeRemaining },
	},
	{
		Name: "client-clock", Seen: "the SETNX recipe with a time stamp (as in setnx-getset/timestamp and expiry)",
		Mechanism: "the key holds the end of the lease by its holder's clock, and others compare it with theirs",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.Skew)}, change: func(a *parts) { a.take, a.keep = takeByClock, keepByClock },
	},
	{
		Name: "fence-first", Seen: "no row: a fence drawn outside the lock",
		Mechanism: "INCR, then the lock: who draws first may be granted last",
		Breaks:    []lockbench.Cell{lockbench.Fencing.At(0)}, change: func(a *parts) { a.take = fenceThenTake },
	},
	{
		Name: "fence-expires", Seen: "no row: a counter that is given a lease of its own",
		Mechanism: "the counter of the fences ends with the lease, and begins at 1 again",
		Breaks:    []lockbench.Cell{lockbench.Fencing.At(0)}, Scenario: "abandon", change: func(a *parts) { a.take = takeMortalFence },
	},
}

// takeRemaining asks only for the rest of a lease that began at the first attempt.
func takeRemaining(ctx context.Context, h *hold) (bool, error) {
	if h.first.IsZero() {
		h.first = h.from
	}
	left := max(h.lease-time.Since(h.first), time.Millisecond)
	return h.draw(ctx, takeScript, h.token, left.Milliseconds())
}

// The value of client-clock is the end of the lease in ms by its holder's clock, and the holder's
// token. The key expires on the server, too, but waiters do not wait for that.
var (
	takeByClockScript = redis.NewScript(`
local found = redis.call('GET', KEYS[1])
if found and tonumber(string.match(found, '^%d+')) > tonumber(ARGV[2]) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return redis.call('INCR', KEYS[2])`)
	keepByClockScript = owned("redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])\n  return 1")
)

func (h *hold) stamped(lease time.Duration) string {
	_, token, found := strings.Cut(h.token, ":")
	if !found {
		token = h.token
	}
	return fmt.Sprintf("%d:%s", h.owner.process.env.Now().Add(lease).UnixMilli(), token)
}

func takeByClock(ctx context.Context, h *hold) (bool, error) {
	value := h.stamped(h.lease)
	h.token = value
	return h.draw(ctx, takeByClockScript, value, h.owner.process.env.Now().UnixMilli(), h.lease.Milliseconds())
}

func keepByClock(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	value := h.stamped(ttl)
	held, err := h.found(ctx, keepByClockScript, h.token, value, ttl.Milliseconds())
	if held {
		h.token = value
	}
	return held, err
}

func fenceThenTake(ctx context.Context, h *hold) (bool, error) {
	fence, err := h.client().Incr(ctx, h.counter()).Result()
	if err != nil {
		return false, err
	}
	h.fence = uint64(fence)
	granted, err := setNX(ctx, h, h.token, h.lease)
	return granted, later(err)
}

var takeMortalFenceScript = redis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  local fence = redis.call('INCR', KEYS[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  return fence
end
return 0`)

func takeMortalFence(ctx context.Context, h *hold) (bool, error) {
	return h.draw(ctx, takeMortalFenceScript, h.token, h.lease.Milliseconds())
}
