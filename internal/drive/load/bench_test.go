package load

import (
	"context"
	"io"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/lib/processor"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/workloads"
)

const benchClients = 50

// BenchmarkDriver compares, in one process and interleaved, the bare loop over go-redis with the
// driver, without and with recording: the pairs of acquire and release that each makes, and the
// time of this process's cores for a pair, which is valid even while other programs run. All leave
// a core to the server. Run it with -benchtime 9x; the figures are medians.
func BenchmarkDriver(b *testing.B) {
	server := servertest.Start(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)-1)))
	var bare, driven, recorded turns
	for b.Loop() {
		bare.add(b, func(d time.Duration) int64 { return bareLoop(b, server, d) })
		driven.add(b, func(d time.Duration) int64 { return drivenLoop(b, server, d, nil) })
		recorded.add(b, func(d time.Duration) int64 { return drivenLoop(b, server, d, io.Discard) })
	}
	b.ReportMetric(median(bare.pairs), "bare-pairs/s")
	b.ReportMetric(medianRatio(driven.pairs, bare.pairs), "driven/bare")
	b.ReportMetric(medianRatio(recorded.pairs, driven.pairs), "recorded/driven")
	b.ReportMetric(median(bare.cost), "bare-CPU-ns/pair")
	b.ReportMetric(median(driven.cost), "driven-CPU-ns/pair")
	b.ReportMetric(median(recorded.cost), "recorded-CPU-ns/pair")
}

// BenchmarkStandstills compares, interleaved, the driver that looks for standstills with one that does not.
// Run it with -benchtime 15x; the figures are medians.
func BenchmarkStandstills(b *testing.B) {
	server := servertest.Start(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)-1)))
	var without, with turns
	for b.Loop() {
		for _, t := range []struct {
			turns     *turns
			unwatched bool
		}{{&without, true}, {&with, false}} {
			t.turns.add(b, func(d time.Duration) int64 {
				s, err := Run(b.Context(), Config{
					Design: tokenDesign(), Services: backend.Group{server}, Workload: workloads.Must("mutex"),
					Options: benchOptions(d), History: io.Discard, unwatched: t.unwatched,
				})
				if err != nil {
					b.Fatal(err)
				}
				return s.Grants
			})
		}
	}
	b.ReportMetric(medianRatio(with.pairs, without.pairs), "pairs-with/without")
	b.ReportMetric(medianRatio(with.cost, without.cost), "CPU-with/without")
}

// turns are the results of one subject's turns.
type turns struct {
	pairs []float64 // a second
	cost  []float64 // ns of CPU a pair
}

func (t *turns) add(b *testing.B, run func(time.Duration) int64) {
	const slice = 500 * time.Millisecond
	before, err := processor.Used()
	if err != nil {
		b.Skip(err)
	}
	n := run(slice)
	after, _ := processor.Used()
	t.pairs = append(t.pairs, float64(n)/slice.Seconds())
	t.cost = append(t.cost, float64(after-before)/float64(n))
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func medianRatio(a, b []float64) float64 {
	var ratios []float64
	for i := range a {
		ratios = append(ratios, a[i]/b[i])
	}
	return median(ratios)
}

// bareLoop counts the pairs that as many goroutines make with the same commands on one client with
// a connection each, like the driver's.
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
	return benchRun(b, server, benchOptions(d), history).Grants
}

func benchOptions(d time.Duration) workloads.Options {
	o := workloads.Defaults()
	o.Clients, o.Processes, o.Keys, o.KeyChoice = benchClients, 1, 0, workloads.Own
	o.Wait, o.Hold, o.Duration = 0, workloads.Always(0), d
	return o
}

func benchRun(b *testing.B, server *servers.Server, o workloads.Options, history io.Writer) Summary {
	s, err := Run(b.Context(), Config{
		Design: tokenDesign(), Services: backend.Group{server}, Workload: workloads.Must("mutex"), Options: o, History: history,
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkOpenLoop compares an open loop at four fifths of the rate of a closed one of as many
// clients just before: the reached rate over the requested rate, and the lateness of arrivals. Run
// it with -benchtime 9x; the figures are medians.
func BenchmarkOpenLoop(b *testing.B) {
	server := servertest.Start(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)-1)))
	var closed, reached, waiting, woken, used []float64
	for b.Loop() {
		pairs := float64(drivenLoop(b, server, 500*time.Millisecond, io.Discard)) * 2
		o := benchOptions(500 * time.Millisecond)
		o.Rate = 0.8 * pairs
		a := benchRun(b, server, o, io.Discard).Arrivals
		closed = append(closed, pairs)
		reached = append(reached, float64(a.Started)/(o.Rate*o.Duration.Seconds()))
		waiting = append(waiting, float64(a.Waiting)/float64(a.Due))
		woken = append(woken, float64(a.WakingNS)/float64(a.Started))
		used = append(used, a.Processor)
	}
	b.ReportMetric(median(closed), "closed-pairs/s")
	b.ReportMetric(median(reached), "begun/asked")
	b.ReportMetric(median(waiting), "waiting/due")
	b.ReportMetric(median(woken), "waking-ns/arrival")
	b.ReportMetric(median(used), "processors-used")
}
