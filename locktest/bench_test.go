package locktest_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/locktest"
)

// BenchmarkRedislock runs github.com/bsm/redislock as Explore does; each schedule is
// chosen, run, recorded and judged. Compare with GOMAXPROCS=1.
func BenchmarkRedislock(b *testing.B) {
	for _, c := range []struct {
		name string
		cfg  explore.Config
	}{
		{"contend", explore.Config{}},
		{"contend/no faults", explore.Config{Faults: -1}},
		{"contend/3 clients", explore.Config{Clients: 3}},
		{"extend", explore.Config{Scenario: "extend"}},
		{"wait", explore.Config{Scenario: "wait"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := c.cfg
			cfg.Design, cfg.Strategy, cfg.Schedules = redislockDesign(), explore.Random, int64(b.N)
			r, err := bubble.Run(b.Context(), bubble.Job{Config: cfg}, func(explore.Progress) {})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(r.Coverage.Schedules)/r.Elapsed.Seconds(), "schedules/s")
		})
	}
}

func redislockDesign() design.Design { return locktest.DesignOf("redislock", newRedislock) }
