package outside

import (
	"os"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
	"github.com/redis/go-redis/v9"
)

func TestSound(t *testing.T)      { tested(t, Sound, "no-spurious-refusal") }
func TestPlainDel(t *testing.T)   { tested(t, PlainDel, "owner-release") }
func TestNoLease(t *testing.T)    { tested(t, NoLease, "recovery") }
func TestSeconds(t *testing.T)    { tested(t, Seconds, "lease") }
func TestSilent(t *testing.T)     { tested(t, Silent, "loss-reported") }
func TestGetThenSet(t *testing.T) { tested(t, GetThenSet, "exclusion") }

// tested holds the lock to one guarantee in real time: on a slow machine others stay
// untested. The lease is nearly a second longer than a whole number of seconds.
func tested(t *testing.T, lock func(*redis.Client) Mutex, claim string) {
	t.Run("Explore", func(t *testing.T) {
		locktest.Explore(t, func(_ *testing.T, env locktest.Env) lockbench.Locker { return Locker{lock(env.Redis)} })
	})
	options := []locktest.RunOption{locktest.WithClaims(claim), locktest.WithTTL(1900 * time.Millisecond), locktest.WithPatience(time.Minute)}
	t.Run("Run", func(t *testing.T) {
		t.Parallel()
		client := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Getenv("REDIS_SOCKET")})
		t.Cleanup(func() { client.Close() })
		locktest.Run(t, func(*testing.T) lockbench.Locker { return Locker{lock(client)} }, options...)
	})
}
