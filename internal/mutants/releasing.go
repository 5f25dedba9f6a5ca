package mutants

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
)

// releasingMutants have faults in the release.
var releasingMutants = []Mutant{
	{
		Name: "plain-del", Seen: "the SETNX recipe of many articles (as in setnx-getset/naive)",
		Mechanism: "DEL, whoever holds: a late release frees the next owner's lock",
		Breaks:    []lockbench.Cell{lockbench.OwnerRelease.At(lockbench.Outlived)}, Scenario: "stale-release", change: func(a *parts) { a.free = plainDel },
	},
	{
		Name: "get-del", Seen: "redis-py < 2.10, Spring < 6.2, Laravel < 5.8 (row 2)",
		Mechanism: "GET, compare in the client, DEL: the lease may end and be granted anew between GET and DEL",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(0)}, change: func(a *parts) { a.free = getThenDel },
	},
	{
		Name: "shared-token", Seen: "redis-py <= 2.10.1 (row 3)",
		Mechanism: "the token is kept where the threads of a process share it: a late release finds the next owner's",
		Breaks:    []lockbench.Cell{lockbench.OwnerRelease.At(lockbench.Outlived)}, Scenario: "stale-release", Threads: 2, change: func(a *parts) { a.granted, a.free = shareToken, freeShared },
	},
	{
		Name: "prefix-token", Seen: "redislock 0.9.4",
		Mechanism: "a release compares only as much of the key's value as its own token is long: it finds its token in one that begins with it",
		Breaks:    []lockbench.Cell{lockbench.OwnerRelease.At(lockbench.Outlived)}, Scenario: "stale-release", change: func(a *parts) { a.token, a.free = tokenOfProcess, freePrefix },
	},
	{
		Name: "newest-token", Seen: "no row: tokens on a stack, as with one field for the token of the lock at hand",
		Mechanism: "a release takes the token that its owner was granted last, of whichever key: keys that are released in another order stay locked",
		Breaks:    []lockbench.Cell{lockbench.LossReported.At(0)}, Scenario: "odd-keys", change: func(a *parts) { a.granted, a.free = pushToken, freeNewest },
	},
	{
		Name: "release-fallback", Seen: "no row: a release that does not give up",
		Mechanism: "a release without a reply is followed by a plain DEL: the first had taken effect, and the key is another's by now",
		Breaks:    []lockbench.Cell{lockbench.Exclusion.At(lockbench.LostReply)}, change: func(a *parts) { a.free = freeOrDel },
	},
	{
		Name: "del-when-over", Seen: "no row: a deferred release with the context of the work",
		Mechanism: "a release whose context is over sends a plain DEL without it: the key is another's by now",
		Breaks:    []lockbench.Cell{lockbench.OwnerRelease.At(lockbench.Outlived)}, Scenario: "stale-release", change: func(a *parts) { a.free = freeOrDelWhenOver },
	},
	{
		Name: "silent-loss", Seen: "Redisson < 3.10.6, Spring < 6.4 (rows 32 and 37)",
		Mechanism: "the release of a lock that is gone returns normally",
		Breaks:    []lockbench.Cell{lockbench.LossReported.At(lockbench.Outlived)}, Scenario: "overrun", change: func(a *parts) { a.free = freeSilently },
	},
	{
		Name: "evalsha-only", Seen: "redlock-rb < 0.1.4 (row 17)",
		Mechanism: "the script is loaded once and then called by its hash only: after SCRIPT FLUSH nothing is released",
		Breaks:    []lockbench.Cell{lockbench.Answers.At(lockbench.ScriptFlush)}, change: func(a *parts) { a.free = freeByHash },
	},
	{
		Name: "flush-unnamed", Seen: "evalsha-only, behind a library that words its errors itself",
		Mechanism: "evalsha-only, and the error does not tell the server's reply",
		Breaks:    []lockbench.Cell{lockbench.Answers.At(lockbench.ScriptFlush)}, change: func(a *parts) { a.free = freeWithoutReason },
	},
	{
		Name: "release-then-delay", Seen: "no row: a delay put together from two calls",
		Mechanism: "a delayed release is a release, and then SET NX of a placeholder: others get in between",
		Breaks:    []lockbench.Cell{lockbench.ReleaseDelay.At(0)}, Scenario: "release-delay", change: func(a *parts) { a.delay = freeThenDelay },
	},
	{
		Name: "delay-leaves-token", Seen: "no row: a delay that leaves the owner's mark (compare watch-multi/poll)",
		Mechanism: "a delayed release keeps the owner's token in the key: the releaser itself is let in",
		Breaks:    []lockbench.Cell{lockbench.ReleaseDelay.At(0)}, Scenario: "release-delay", change: func(a *parts) { a.token, a.take, a.delay = tokenOfProcess, takeBy(takeAgainScript), keep },
	},
}

var freePrefixScript = redis.NewScript(`
local found = redis.call('GET', KEYS[1])
if found and string.sub(found, 1, #ARGV[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0`)

func freePrefix(ctx context.Context, h *hold) (bool, error) {
	return h.found(ctx, freePrefixScript, h.token)
}

func plainDel(ctx context.Context, h *hold) (bool, error) {
	err := h.client().Del(ctx, h.name).Err()
	return true, err
}

func getThenDel(ctx context.Context, h *hold) (bool, error) {
	found, err := h.client().Get(ctx, h.name).Result()
	if err != nil && !errors.Is(err, redis.Nil) || found != h.token {
		return false, unlessNil(err)
	}
	n, err := h.client().Del(ctx, h.name).Result()
	return n == 1, later(err)
}

// unlessNil returns err, or nil if err says that there is no key.
func unlessNil(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

func shareToken(_ context.Context, h *hold) { h.owner.process.shared.Store(h.key, h.token) }

func freeShared(ctx context.Context, h *hold) (bool, error) {
	token, _ := h.owner.process.shared.Load(h.key)
	return h.found(ctx, freeScript, token)
}

// tokensOf returns the tokens of an owner's grants, in order, without used ones.
func tokensOf(o *owner) []string {
	tokens, _ := o.process.shared.Load(o)
	list, _ := tokens.([]string)
	return list
}

func pushToken(_ context.Context, h *hold) {
	h.owner.process.shared.Store(h.owner, append(tokensOf(h.owner), h.token))
}

func freeNewest(ctx context.Context, h *hold) (bool, error) {
	tokens := tokensOf(h.owner)
	if len(tokens) == 0 { // released a second time
		return free(ctx, h)
	}
	last := len(tokens) - 1
	h.owner.process.shared.Store(h.owner, tokens[:last])
	return h.found(ctx, freeScript, tokens[last])
}

func freeOrDel(ctx context.Context, h *hold) (bool, error) {
	held, err := free(ctx, h)
	if err == nil {
		return held, nil
	}
	return true, later(h.client().Del(ctx, h.name).Err())
}

func freeOrDelWhenOver(ctx context.Context, h *hold) (bool, error) {
	if ctx.Err() == nil {
		return free(ctx, h)
	}
	return true, h.client().Del(context.WithoutCancel(ctx), h.name).Err()
}

func freeSilently(ctx context.Context, h *hold) (bool, error) {
	_, err := free(ctx, h)
	return true, err
}

func freeByHash(ctx context.Context, h *hold) (bool, error) {
	p := h.owner.process
	if _, loaded := p.shared.Load("loaded"); !loaded {
		if err := freeScript.Load(ctx, h.client()).Err(); err != nil {
			return false, err
		}
		p.shared.Store("loaded", true)
	}
	n, err := freeScript.EvalSha(ctx, h.client(), []string{h.name, h.counter()}, h.token).Int64()
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		err = later(err)
	}
	return n == 1, err
}

func freeWithoutReason(ctx context.Context, h *hold) (bool, error) {
	held, err := freeByHash(ctx, h)
	if err != nil && strings.Contains(err.Error(), "NOSCRIPT") {
		err = errors.New("the lock could not be released")
	}
	return held, err
}

func freeThenDelay(ctx context.Context, h *hold, d time.Duration) (bool, error) {
	held, err := free(ctx, h)
	if err != nil || !held {
		return held, err
	}
	_, err = setNX(ctx, h, "-", d)
	return true, later(err)
}
