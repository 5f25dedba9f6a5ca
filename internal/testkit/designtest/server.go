package designtest

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// Each runs test once against an embedded server and once against a private
// redis-server; it skips the latter if there is none.
func Each(t *testing.T, test func(t *testing.T, env onredis.Environment)) {
	t.Run("embedded", func(t *testing.T) { test(t, Embedded(t)) })
	t.Run("redis", func(t *testing.T) { test(t, on(servertest.Start(t).Options())) })
}

// Private starts as many private servers as d locks on, for the length of the test, and
// returns an environment on them. It skips t if there is no program to start.
func Private(t testing.TB, d design.Design) onredis.Environment {
	t.Helper()
	env := on(servertest.Start(t).Options())
	for range d.ServerCount() - 1 {
		env.Others = append(env.Others, servertest.Start(t).Options())
	}
	return env
}

// Embedded starts a miniredis with a running clock, for the length of the test, and
// returns an environment on it.
func Embedded(t testing.TB) onredis.Environment {
	t.Helper()
	server := miniredis.RunT(t)
	server.ClockTTL(true)
	return on(&redis.Options{Addr: server.Addr(), Protocol: 2, DisableIdentity: true})
}

func on(opt *redis.Options) onredis.Environment {
	general := design.Environment{Prefix: "designtest:", Host: "host", PID: 1, Now: time.Now, Random: rand.Reader}
	return onredis.Environment{Environment: general, Redis: opt}
}
