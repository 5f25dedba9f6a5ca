package load

import (
	"context"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/servertest"
	"github.com/lockbench/lockbench/servers"
	"github.com/lockbench/lockbench/workloads"
)

const benchClients = 50

// BenchmarkDriver compares, in one process and interleaved, the pairs of acquire
// and release per second of the bare loop over go-redis, of the driver without
// and with recording. The ratios say whether the driver is the bottleneck; run it
// with -benchtime 5x.
func BenchmarkDriver(b *testing.B) {
	server := servertest.Start(b)
	var bare, driven, recorded int64
	const slice = time.Second
	for b.Loop() {
		bare += bareLoop(b, server, slice)
		driven += drivenLoop(b, server, slice, nil)
		recorded += drivenLoop(b, server, slice, io.Discard)
	}
	b.ReportMetric(float64(bare)/slice.Seconds()/float64(b.N), "bare-pairs/s")
	b.ReportMetric(float64(driven)/float64(bare), "driven/bare")
	b.ReportMetric(float64(recorded)/float64(driven), "recorded/driven")
}

// bareLoop counts the pairs that as many goroutines make with the same commands
// on one client with a connection each.
func bareLoop(b *testing.B, server *servers.Server, d time.Duration) int64 {
	opt := server.Options()
	opt.PoolSize = benchClients
	client := redis.NewClient(opt)
	defer client.Close()
	var pairs atomic.Int64
	var stop atomic.Bool
	var all sync.WaitGroup
	ctx := context.Background()
	for i := range benchClients {
		all.Go(func() {
			key, token, n := "bare-"+strconv.Itoa(i), strconv.Itoa(i), int64(0)
			for ; !stop.Load(); n++ {
				client.SetNX(ctx, key, token, time.Second)
				if _, err := compareAndDelete(ctx, client, key, token); err != nil {
					b.Error(err)
					return
				}
			}
			pairs.Add(n)
		})
	}
	time.Sleep(d)
	stop.Store(true)
	all.Wait()
	return pairs.Load()
}

func drivenLoop(b *testing.B, server *servers.Server, d time.Duration, history io.Writer) int64 {
	o := workloads.Defaults()
	o.Clients, o.Processes, o.Keys, o.KeyChoice = benchClients, 1, 0, workloads.Own
	o.Wait, o.Hold, o.Duration = 0, workloads.Always(0), d
	s, err := Run(b.Context(), Config{
		Design: tokenDesign(), Server: server, Workload: workloads.Mutex(), Options: o, History: history,
	})
	if err != nil {
		b.Fatal(err)
	}
	return s.Grants
}

// BenchmarkWitness is the cost of watching one pair of acquire and release.
func BenchmarkWitness(b *testing.B) {
	w := NewWitness([]string{"key"}, false)
	for _, bench := range []struct {
		name   string
		locker lockbench.Locker
	}{
		{"bare", always{}},
		{"watched", w.Locker(always{})},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			ctx := context.Background()
			for b.Loop() {
				lease, _ := bench.locker.Acquire(ctx, "key", lockbench.Options{TTL: time.Second})
				_ = lease.Release(ctx)
			}
		})
	}
}

// always grants the same lease, which tells its validity, and costs nothing.
type always struct{}

var granted = &tellingLease{from: time.Now(), granted: time.Hour}

func (always) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	return granted, nil
}
