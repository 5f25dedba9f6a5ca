package mutants

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/go-redis/v9"
)

// takingMutants have faults in the acquire.
var takingMutants = []Mutant{
	{
		Name: "setnx-expire", Seen: "redis-py < 3, Laravel < 6.12 (row 1)",
		Mechanism: "SETNX, then PEXPIRE as a second command: who dies between the two holds for ever",
		Breaks:    []lockbench.Cell{lockbench.Recovery.At(lockbench.Crash)}, change: func(a *parts) { a.take = setThenExpire },
	},
	{
		Name: "no-lease", Seen: "SETNX without an expiry, as in the first version of many articles",
		Mechanism: "the lock has no lease: whoever does not release it, or does not know of it, holds for ever",
		Breaks:    []lockbench.Cell{lockbench.Recovery.At(lockbench.Crash)}, change: func(a *parts) { a.take = setForever },
	},
	{
		Name: "get-set", Seen: "sherlock, Laravel's file lock (rows 11 and 38)",
		Mechanism: "GET, and SET if there was nothing: two that both saw nothing are both granted",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(0), lockbench.Effects.At(0)}, Scenario: "update", change: func(a *parts) { a.take = getThenSet(0) },
	},
	{
		Name: "get-think-set", Seen: "get-set where the process is busy",
		Mechanism: "get-set with 20 ms between the two: all that come meanwhile are granted",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(0)}, change: func(a *parts) { a.take = getThenSet(20 * time.Millisecond) },
	},
	{
		Name: "equal-tokens", Seen: "redlock-py 2015 (row 15)",
		Mechanism: "tokens from a generator that each process seeds alike: a late release finds its own token in the next owner's lock",
		Breaks:    []lockbench.Cell{lockbench.OwnerRelease.At(lockbench.Outlived)}, Scenario: "stale-release", change: func(a *parts) { a.token = seededAlike },
	},
	{
		Name: "process-token", Seen: "watch-multi/poll",
		Mechanism: "one identity for all threads of a process, whose second acquire counts as nested: they hold together",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(0)}, Threads: 2, change: func(a *parts) { a.token, a.take = tokenOfProcess, takeBy(takeAgainScript) },
	},
	{
		Name: "own-name", Seen: "no row: locks that know their owner by host and process id, as ShedLock by its host",
		Mechanism: "who finds its own name in the lock is granted it, for the rest of the lease: a process that was started again believes that it has a whole one",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(0), lockbench.LeaseKept.At(0), lockbench.LeaseKept.At(lockbench.Crash)}, Scenario: "successor", change: func(a *parts) { a.token, a.take = tokenOfProcess, takeBy(takeOwnScript) },
	},
	{
		Name: "own-name-counted", Seen: "no row: reentrant locks that know their owner by host and process id",
		Mechanism: "who finds its own name in the lock is granted one more level: a process that was started again counts the level of the dead one, and leaves it at its release",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "successor", change: func(a *parts) { a.token, a.take, a.free = tokenOfProcess, takeBy(takeCountedScript), freeCounted },
	},
	{
		Name: "unreported-grant", Seen: "aioredlock 0.0 (row 21)",
		Mechanism: "a grant that comes at a retry is reported as a refusal: nobody knows of the lock that is set",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "wait", change: func(a *parts) { a.take = takeFirstOnly },
	},
	{
		Name: "dead-queue", Seen: "Redisson's fair lock (row 35)",
		Mechanism: "waiters queue, and one that dies or gives up stays at the head: nobody else is served",
		Breaks:    []lockbench.Cell{lockbench.Recovery.At(lockbench.Crash)}, Scenario: "wait", change: func(a *parts) { a.take = takeInTurn },
	},
	{
		Name: "cancelled-grant", Seen: "etcd's mutex 3.2 (row 42)",
		Mechanism: "cancelled just when it is granted, it unlocks and still returns the lease without an error",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.Cancel)}, change: func(a *parts) { a.granted = unlockCancelled },
	},
	{
		Name: "cut-key", Seen: "no row: a name that goes through a string of C",
		Mechanism: "a key's name ends at its first zero byte: who holds one keeps others out of another that begins alike",
		Breaks:    []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0)}, Scenario: "odd-keys", change: func(a *parts) { a.named = cutAtZero },
	},
	{
		Name: "put-after-delete", Seen: "a lock on NATS KV (row 49)",
		Mechanism: "a release leaves a tombstone, and a take that reads one writes without comparing",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(0)}, change: func(a *parts) { a.take, a.free = takeTombstone, entomb },
	},
}

func setForever(ctx context.Context, h *hold) (bool, error) { return setNX(ctx, h, h.token, 0) }

func setThenExpire(ctx context.Context, h *hold) (bool, error) {
	won, err := setNX(ctx, h, h.token, 0)
	if err != nil || !won {
		return false, err
	}
	return true, later(h.client().PExpire(ctx, h.name, h.lease).Err())
}

// setNX sets the lock's key if it does not exist; a zero lease sets no expiry.
func setNX(ctx context.Context, h *hold, value string, lease time.Duration) (bool, error) {
	err := h.client().SetArgs(ctx, h.name, value, redis.SetArgs{Mode: "NX", TTL: lease}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// getThenSet returns a step that looks for a lock, waits for think, and then sets one.
func getThenSet(think time.Duration) func(context.Context, *hold) (bool, error) {
	return func(ctx context.Context, h *hold) (bool, error) {
		if err := h.client().Get(ctx, h.name).Err(); !errors.Is(err, redis.Nil) {
			return false, err
		}
		if err := design.Sleep(ctx, think); err != nil {
			return false, err
		}
		err := later(h.client().Set(ctx, h.name, h.token, h.lease).Err())
		return err == nil, err
	}
}

// seededAlike returns a token from a generator that every process seeds alike.
func seededAlike(p *process) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	generator, _ := p.shared.LoadOrStore("generator", rand.New(rand.NewPCG(1, 1)))
	return strconv.FormatUint(generator.(*rand.Rand).Uint64(), 16), nil
}

func tokenOfProcess(p *process) (string, error) {
	return fmt.Sprintf("%s_%d", p.env.Host, p.env.PID), nil
}

var takeAgainScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return redis.call('INCR', KEYS[2])
end
return 0`)

// takeBy returns a step that runs a script with the token and the lease in ms.
func takeBy(script *redis.Script) func(context.Context, *hold) (bool, error) {
	return func(ctx context.Context, h *hold) (bool, error) {
		return h.draw(ctx, script, h.token, h.lease.Milliseconds())
	}
}

var takeOwnScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] or redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return 0`)

var takeCountedScript = redis.NewScript(`
local levels = KEYS[1] .. ':levels'
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('INCR', levels)
elseif redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
else
  redis.call('SET', levels, 1)
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('INCR', KEYS[2])`)

var freeCountedScript = owned(`if redis.call('DECR', KEYS[1] .. ':levels') <= 0 then
    redis.call('DEL', KEYS[1], KEYS[1] .. ':levels')
  end
  return 1`)

func freeCounted(ctx context.Context, h *hold) (bool, error) {
	return h.found(ctx, freeCountedScript, h.token)
}

// takeFirstOnly takes only its first attempt for a grant.
func takeFirstOnly(ctx context.Context, h *hold) (bool, error) {
	granted, err := take(ctx, h)
	retry := !h.first.IsZero()
	h.first = h.from
	return granted && !retry, err
}

// takeInTurnScript serves waiters in the order of ARGV[1]; ARGV[3] is 1 for a waiter
// that will try again.
var takeInTurnScript = redis.NewScript(`
local queue = KEYS[1] .. ':queue'
local head = redis.call('LINDEX', queue, 0)
if (not head or head == ARGV[1]) and redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  redis.call('LREM', queue, 0, ARGV[1])
  return redis.call('INCR', KEYS[2])
end
if ARGV[3] == '1' then
  redis.call('LREM', queue, 0, ARGV[1])
  if head == ARGV[1] then
    redis.call('LPUSH', queue, ARGV[1])
  else
    redis.call('RPUSH', queue, ARGV[1])
  end
end
return 0`)

func takeInTurn(ctx context.Context, h *hold) (bool, error) {
	waits := "0"
	if h.wait > 0 {
		waits = "1"
	}
	return h.draw(ctx, takeInTurnScript, h.token, h.lease.Milliseconds(), waits)
}

func cutAtZero(key string) string {
	key, _, _ = strings.Cut(key, "\x00")
	return key
}

func unlockCancelled(ctx context.Context, h *hold) {
	if ctx.Err() != nil {
		_, _ = free(context.WithoutCancel(ctx), h)
	}
}

const tombstone = "deleted"

func takeTombstone(ctx context.Context, h *hold) (bool, error) {
	found, err := h.client().Get(ctx, h.name).Result()
	switch {
	case errors.Is(err, redis.Nil):
		granted, err := setNX(ctx, h, h.token, h.lease)
		return granted, later(err)
	case err != nil || found != tombstone:
		return false, err
	}
	err = later(h.client().Set(ctx, h.name, h.token, h.lease).Err())
	return err == nil, err
}

var entombScript = owned("redis.call('SET', KEYS[1], ARGV[2])\n  return 1")

func entomb(ctx context.Context, h *hold) (bool, error) {
	return h.found(ctx, entombScript, h.token, tombstone)
}
