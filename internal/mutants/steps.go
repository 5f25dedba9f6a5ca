package mutants

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/go-redis/v9"
)

// owned returns a script that runs the code does if the key has the token ARGV[1], and returns 0
// otherwise. KEYS[1] is the key, KEYS[2] the counter of its fences.
func owned(does string) *redis.Script {
	return redis.NewScript("\nif redis.call('GET', KEYS[1]) == ARGV[1] then\n  " + does + "\nend\nreturn 0")
}

// lengthen begins a script that returns 0 if the key does not have the token ARGV[1], and
// never shortens the lease to the requested ARGV[2] ms.
const lengthen = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
`

// The scripts of the sound lock.
var (
	// takeScript acquires the key with a lease of ARGV[2] ms. It returns the fence, as nestScript
	// does.
	takeScript = redis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return 0`)
	nestScript  = redis.NewScript(lengthen + "return redis.call('INCR', KEYS[2])")
	renewScript = redis.NewScript(lengthen + "return 1")
	keepScript  = owned("return redis.call('PEXPIRE', KEYS[1], ARGV[2])")
	checkScript = owned("return 1")
	freeScript  = owned("return redis.call('DEL', KEYS[1])")
	// delayScript keeps the key from every owner for ARGV[2] ms: "-" is the token of none.
	delayScript = owned("redis.call('SET', KEYS[1], '-', 'PX', ARGV[2])\n  return 1")
	// ttlScript returns the remaining lease in ms.
	ttlScript = owned("return redis.call('PTTL', KEYS[1])")
)

// run runs a script for h.
func (h *hold) run(ctx context.Context, script *redis.Script, args ...any) (int64, error) {
	return script.Run(ctx, h.client(), []string{h.name, h.counter()}, args...).Int64()
}

// found runs a script that returns 1 if it found the lock in the state it needs.
func (h *hold) found(ctx context.Context, script *redis.Script, args ...any) (bool, error) {
	n, err := h.run(ctx, script, args...)
	return n == 1, err
}

// draw runs a script that returns a fence if it granted the lock.
func (h *hold) draw(ctx context.Context, script *redis.Script, args ...any) (bool, error) {
	fence, err := h.run(ctx, script, args...)
	if fence > 0 {
		h.fence = uint64(fence)
	}
	return fence > 0, err
}

func take(ctx context.Context, h *hold) (bool, error) {
	return h.draw(ctx, takeScript, h.token, h.lease.Milliseconds())
}

// takeInTime gives back what it was granted too late, as Redlock does: after the lease less 1 % and
// 2 ms.
func takeInTime(ctx context.Context, h *hold) (bool, error) {
	granted, err := take(ctx, h)
	if !granted || err != nil || time.Since(h.from) < h.lease-h.lease/100-2*time.Millisecond {
		return granted, err
	}
	_, err = free(ctx, h)
	return false, errors.Join(errors.New("the lease was over when it was granted"), err)
}

func nest(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	return h.draw(ctx, nestScript, h.token, ttl.Milliseconds())
}

func keep(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	return h.found(ctx, keepScript, h.token, ttl.Milliseconds())
}

func renew(ctx context.Context, h *hold, ttl time.Duration) (bool, error) {
	return h.found(ctx, renewScript, h.token, ttl.Milliseconds())
}

func check(ctx context.Context, h *hold) (bool, error) { return h.found(ctx, checkScript, h.token) }

func free(ctx context.Context, h *hold) (bool, error) { return h.found(ctx, freeScript, h.token) }

func delay(ctx context.Context, h *hold, d time.Duration) (bool, error) {
	return h.found(ctx, delayScript, h.token, design.WholeMillis(d).Milliseconds())
}

// randomToken returns a random token for one grant.
func randomToken(p *process) (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(p.env.Random, raw[:]); err != nil {
		return "", fmt.Errorf("draw a token: %w: %w", lockbench.ErrNoEffect, err)
	}
	return hex.EncodeToString(raw[:]), nil
}
