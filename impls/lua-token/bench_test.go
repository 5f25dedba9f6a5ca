package luatoken

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// BenchmarkPair shows the cost of the design beside a loop that sends the same
// two commands. In both, each of 25 clients a core takes and frees a key of its
// own.
func BenchmarkPair(b *testing.B) {
	env := designtest.Embedded(b)
	env.Redis = servertest.Start(b).Options()
	for range 3 {
		b.Run("bare", func(b *testing.B) { bare(b, env) })
		b.Run("strategy", func(b *testing.B) { pairs(b, env) })
	}
}

func bare(b *testing.B, env onredis.Environment) {
	client := env.Connect(64)
	defer client.Close()
	script := redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)
	if err := script.Load(b.Context(), client).Err(); err != nil {
		b.Fatal(err)
	}
	var clients atomic.Int64
	b.SetParallelism(25)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		key := "bare:" + strconv.FormatInt(clients.Add(1), 10)
		for pb.Next() {
			if ok, err := client.SetNX(b.Context(), key, key, 10*time.Second+time.Millisecond).Result(); !ok || err != nil {
				b.Errorf("SET: %t, %v", ok, err)
			}
			if err := client.EvalSha(b.Context(), script.Hash(), []string{key}, key).Err(); err != nil {
				b.Error(err)
			}
		}
	})
}

func pairs(b *testing.B, env onredis.Environment) {
	p, err := find(b, "lua-token/strategy").Open(env.General())
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var clients atomic.Int64
	b.SetParallelism(25)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		key := strconv.FormatInt(clients.Add(1), 10)
		l := p.Locker(design.Blind)
		for pb.Next() {
			held, err := l.Acquire(b.Context(), key, lockbench.Options{TTL: 10 * time.Second})
			if err != nil {
				b.Error(err)
				continue
			}
			if err := held.Release(b.Context()); err != nil {
				b.Error(err)
			}
		}
	})
}
