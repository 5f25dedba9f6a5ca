package luatoken

import (
	"context"
	_ "embed" // the scripts
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed acquire.lua
	acquireSource string
	//go:embed fenced_acquire.lua
	fencedAcquireSource string
	//go:embed release.lua
	releaseSource string
	//go:embed refresh.lua
	refreshSource string
	//go:embed ttl.lua
	ttlSource string
)

var (
	acquireScript       = newScript(acquireSource, 1)
	fencedAcquireScript = newScript(fencedAcquireSource, 2)
	releaseScript       = newScript(releaseSource, 1)
	refreshScript       = newScript(refreshSource, 1)
	ttlScript           = newScript(ttlSource, 1)
)

// A script is a script that the server may know by its digest.
type script struct {
	source string
	digest string
	keys   int
}

func newScript(source string, keys int) *script {
	return &script{source, redis.NewScript(source).Hash(), keys}
}

// run sends a script by its digest, and in full if the server does not know it.
// Long-lived arguments, keys first, are passed as pointers: go-redis writes the
// values they point to, and nothing is allocated for them.
func run(ctx context.Context, client *redis.Client, s *script, key *string, args ...any) (int64, error) {
	words := make([]any, 0, 4+len(args))
	words = append(append(words, "evalsha", &s.digest, s.keys, key), args...)
	cmd := redis.NewIntCmd(ctx, words...)
	err := client.Process(ctx, cmd)
	if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		words[0], words[1] = "eval", &s.source
		cmd = redis.NewIntCmd(ctx, words...)
		err = client.Process(ctx, cmd)
	}
	return cmd.Val(), err
}

// set puts token in key for ttl, which is in whole milliseconds, if key is absent.
func set(ctx context.Context, client *redis.Client, key, token *string, ttl time.Duration) (bool, error) {
	cmd := redis.NewBoolCmd(ctx, "set", key, token, "px", ttl.Milliseconds(), "nx")
	err := client.Process(ctx, cmd)
	return cmd.Val(), err
}
