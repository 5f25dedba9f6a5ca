//go:build unix

package stepserver_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// How a client of the benchmark takes and gives back the lock.
var cycles = []struct {
	name    string
	acquire func(ctx context.Context, c *redis.Client, token string)
	release func(ctx context.Context, c *redis.Client, token string)
}{
	{"plain", acquire, func(ctx context.Context, c *redis.Client, token string) {
		if c.Get(ctx, "lock").Val() == token {
			c.Del(ctx, "lock")
		}
	}},
	{"script", acquire, func(ctx context.Context, c *redis.Client, token string) {
		compareAndDelete.EvalSha(ctx, c, []string{"lock"}, token)
	}},
	{"scripts", func(ctx context.Context, c *redis.Client, token string) {
		acquireScript.EvalSha(ctx, c, []string{"lock"}, token, 2000)
	}, func(ctx context.Context, c *redis.Client, token string) {
		compareAndDelete.EvalSha(ctx, c, []string{"lock"}, token)
	}},
}

var acquireScript = redis.NewScript(`if redis.call("set", KEYS[1], ARGV[1], "nx", "px", ARGV[2]) then return 1 end return 0`)

func acquire(ctx context.Context, c *redis.Client, token string) {
	c.SetNX(ctx, "lock", token, 2*time.Second)
}

// BenchmarkSchedule runs schedules in which three clients take and give back a lock
// twice, on a reused server and clients: the cost of an operation without recording
// and judging.
func BenchmarkSchedule(b *testing.B) {
	for _, c := range cycles {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			commands, begun := 0, cpuTime()
			inBenchBubble(b, func(s *stepserver.Server) {
				ctx := context.Background()
				one := newClient(s, 9)
				defer one.Close()
				for _, load := range []*redis.Script{compareAndDelete, acquireScript} {
					go load.Load(ctx, one)
					synctest.Wait()
					s.Run(s.Pending()[0])
					synctest.Wait()
				}
				s.KeepScripts()
				clients := []*redis.Client{newClient(s, 1), newClient(s, 2), newClient(s, 3)}
				for range b.N {
					commands += schedule(s, clients, func(c1 *redis.Client, token string) {
						for range 2 {
							c.acquire(ctx, c1, token)
							c.release(ctx, c1, token)
						}
					})
				}
				for _, c := range clients {
					c.Close()
				}
			})
			cpu := cpuTime() - begun
			b.ReportMetric(float64(b.N)/cpu.Seconds(), "schedules/cpu-s")
			b.ReportMetric(float64(commands)/cpu.Seconds(), "commands/cpu-s")
		})
	}
}

// BenchmarkNew starts and ends a server with one connection, and runs a script on it.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		s, err := stepserver.New()
		if err != nil {
			b.Fatal(err)
		}
		c, err := s.Dial(1)
		if err != nil {
			b.Fatal(err)
		}
		if err := (raw{conn: c}).send([]string{"eval", "return 1", "0"}); err != nil {
			b.Fatal(err)
		}
		s.Run(s.Pending()[0])
		s.Close()
	}
}

// BenchmarkScript runs a compare-and-delete: here, client left out, and as miniredis
// does it.
func BenchmarkScript(b *testing.B) {
	args := []string{"EVAL", compareAndDeleteSource, "1", "lock", "token"}
	b.Run("pending", func(b *testing.B) {
		s, err := stepserver.New()
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		c, err := s.Dial(1)
		if err != nil {
			b.Fatal(err)
		}
		buffer := make([]byte, 64)
		b.ReportAllocs()
		for b.Loop() {
			if err := (raw{conn: c}).send(args); err != nil {
				b.Fatal(err)
			}
			s.Run(s.Pending()[0])
			c.Read(buffer)
		}
	})
	b.Run("miniredis", func(b *testing.B) {
		m := miniredis.NewMiniRedis()
		defer m.Close()
		if err := m.Start(); err != nil {
			b.Fatal(err)
		}
		p := server.NewPeer(bufio.NewWriter(io.Discard))
		b.ReportAllocs()
		for b.Loop() {
			m.Server().Dispatch(p, args)
		}
	})
}

// BenchmarkFingerprint is of a server with a lock taken and a release pending.
func BenchmarkFingerprint(b *testing.B) {
	s, err := stepserver.New()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c, err := s.Dial(1)
	if err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{{"set", "lock", "token", "px", "100000"}, {"eval", compareAndDeleteSource, "1", "lock", "token"}} {
		for _, p := range s.Pending() {
			s.Run(p)
		}
		if err := (raw{conn: c}).send(args); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Fingerprint()
	}
}

// cpuTime is the processor time of this process so far: it is independent of other
// load.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// schedule lets the clients work, one command at a time.
func schedule(s *stepserver.Server, clients []*redis.Client, work func(c *redis.Client, token string)) (commands int) {
	var all sync.WaitGroup
	for i, c := range clients {
		all.Add(1)
		go func() {
			defer all.Done()
			work(c, strconv.Itoa(i))
		}()
	}
	for synctest.Wait(); ; synctest.Wait() {
		pending := s.Pending()
		if len(pending) == 0 {
			break
		}
		s.Run(pending[commands%len(pending)])
		commands++
	}
	all.Wait()
	s.Reset()
	return commands
}

func newClient(s *stepserver.Server, process int) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:6379", Protocol: 2, MaxRetries: -1, DisableIdentity: true, DialerRetries: 1, PoolSize: 20,
		Dialer: func(context.Context, string, string) (net.Conn, error) { return s.Dial(process) },
	})
}

// inBenchBubble runs body in a bubble; a benchmark cannot be given to synctest. The
// timer of b must be left alone in there: it would read the bubble's clock.
func inBenchBubble(b *testing.B, body func(s *stepserver.Server)) {
	b.Helper()
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: "bubble",
		F: func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := stepserver.New()
				if err != nil {
					t.Fatal(err)
				}
				body(s)
				s.Close()
				time.Sleep(time.Second)
			})
		},
	}})
	if !ok {
		b.Fatal("the bubble failed")
	}
}
