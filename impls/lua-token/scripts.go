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
	acquireScript = redis.NewScript(acquireSource)
	releaseScript = redis.NewScript(releaseSource)
	refreshScript = redis.NewScript(refreshSource)
	ttlScript     = redis.NewScript(ttlSource)
)

// run sends script by its digest, and in full if the server does not know it.
func run(ctx context.Context, client *redis.Client, script *redis.Script, key string, args ...any) (int64, error) {
	return script.Run(ctx, client, []string{key}, args...).Int64()
}

// set puts token in key for ttl, which is in whole milliseconds, if key is absent.
func set(ctx context.Context, client *redis.Client, key, token string, ttl time.Duration) (bool, error) {
	cmd := redis.NewBoolCmd(ctx, "set", key, token, "px", ttl.Milliseconds(), "nx")
	err := client.Process(ctx, cmd)
	return cmd.Val(), err
}
