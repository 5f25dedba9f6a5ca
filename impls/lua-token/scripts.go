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
	//go:embed release.lua
	releaseSource string
	//go:embed refresh.lua
	refreshSource string
	//go:embed ttl.lua
	ttlSource string
)

var (
	acquireScript = newScript(acquireSource)
	releaseScript = newScript(releaseSource)
	refreshScript = newScript(refreshSource)
	ttlScript     = newScript(ttlSource)
)

// A script is one that the server may know by its digest.
type script struct {
	source *redis.Script
	digest string
}

func newScript(source string) *script {
	s := redis.NewScript(source)
	return &script{s, s.Hash()}
}

// run sends a script by its digest, and in full if the server does not know it.
// Arguments that live on, the key first, are passed as pointers: go-redis writes
// what they point to, and nothing is allocated to carry them.
func run(ctx context.Context, client *redis.Client, s *script, key *string, args ...any) (int64, error) {
	words := make([]any, 0, 4+len(args))
	words = append(append(words, "evalsha", &s.digest, 1, key), args...)
	cmd := redis.NewIntCmd(ctx, words...)
	err := client.Process(ctx, cmd)
	if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		return s.source.Eval(ctx, client, []string{*key}, args...).Int64()
	}
	return cmd.Val(), err
}

// set puts token in key for ttl, which is in whole milliseconds, if key is absent.
func set(ctx context.Context, client *redis.Client, key, token *string, ttl time.Duration) (bool, error) {
	cmd := redis.NewBoolCmd(ctx, "set", key, token, "px", ttl.Milliseconds(), "nx")
	err := client.Process(ctx, cmd)
	return cmd.Val(), err
}
