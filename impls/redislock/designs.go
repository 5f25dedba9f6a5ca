package redislock

import (
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// library is the built-in version; a test compares it with go.mod.
const library = "github.com/bsm/redislock@v0.10.0"

// Designs returns the family: redislock/obtain and redislock/multi.
func Designs() []design.Design {
	return []design.Design{
		entry("redislock/obtain",
			"one script sets a random token with a lease; extended and released by scripts that compare it",
			func(key string) []string { return []string{key} }),
		entry("redislock/multi",
			"as obtain, of two keys at once: all or none are set, extended and released",
			func(key string) []string { return []string{key, key + ":second"} }),
	}
}

func entry(name, summary string, keys func(string) []string) design.Design {
	return design.Design{
		Name:      name,
		Summary:   summary,
		Source:    library,
		Library:   library,
		Claims:    lockbench.LeaseClaims(),
		Reacquire: design.Refused,
		LeaseUnit: time.Millisecond, LeaseUnitWhy: design.CutToMillis,
		Commands: []string{"EVALSHA", "EVAL", "MSETNX", "MSET", "MGET", "GETRANGE", "PEXPIRE", "PTTL", "DEL"},
		Open: onredis.Sharing(func(env onredis.Environment, client *redis.Client, seen design.Observer) lockbench.Locker {
			return newOwner(env, client, seen, keys)
		}),
	}
}
