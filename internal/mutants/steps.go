package mutants

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/go-redis/v9"
)

// The scripts of the sound lock. KEYS[1] is the lock, KEYS[2] the counter of its
// fences, ARGV[1] the token of the hold. Each returns 0 when the lock is not as it
// needs it.
var (
	// takeScript: ARGV[2] is the lease in ms. Returns the fence.
	takeScript = redis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return 0`)
	// nestScript never shortens the lease. Returns the fence.
	nestScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return redis.call('INCR', KEYS[2])`)
	renewScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1`)
	keepScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`)
	checkScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return 1
end
return 0`)
	freeScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0`)
	// delayScript leaves the lock with nobody for ARGV[2] ms: "-" is no token.
	delayScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], '-', 'PX', ARGV[2])
  return 1
end
return 0`)
	// ttlScript returns the ms left.
	ttlScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PTTL', KEYS[1])
end
return 0`)
)

// run runs a script for h.
func (h *hold) run(ctx context.Context, script *redis.Script, args ...any) (int64, error) {
	return script.Run(ctx, h.client(), []string{h.name, h.counter()}, args...).Int64()
}

func take(ctx context.Context, h *hold) (bool, error) {
	fence, err := h.run(ctx, takeScript, h.token, h.lease.Milliseconds())
	h.fence = uint64(fence)
	return fence > 0, err
}

func nest(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	fence, err := h.run(ctx, nestScript, h.token, ttl.Milliseconds())
	if fence > 0 {
		h.fence = uint64(fence)
	}
	return fence > 0, err
}

func keep(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	n, err := h.run(ctx, keepScript, h.token, ttl.Milliseconds())
	return n == 1, err
}

func renew(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	n, err := h.run(ctx, renewScript, h.token, ttl.Milliseconds())
	return n == 1, err
}

func check(ctx context.Context, h *hold) (bool, error) {
	n, err := h.run(ctx, checkScript, h.token)
	return n == 1, err
}

func free(ctx context.Context, h *hold) (bool, error) {
	n, err := h.run(ctx, freeScript, h.token)
	return n == 1, err
}

func delay(ctx context.Context, h *hold, d time.Duration) (bool, error) {
	n, err := h.run(ctx, delayScript, h.token, design.WholeMillis(d).Milliseconds())
	return n == 1, err
}

// randomToken draws the name of one grant.
func randomToken(p *process) (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(p.env.Random, raw[:]); err != nil {
		return "", fmt.Errorf("draw a token: %w: %w", lockbench.ErrNoEffect, err)
	}
	return hex.EncodeToString(raw[:]), nil
}
