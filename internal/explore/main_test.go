package explore_test

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
)

// TestMain makes this program one that can explore in a child: benchmarks need that,
// since a bubble is entered by a test.
func TestMain(m *testing.M) {
	setDefaults()
	bubble.Child(func(name, _ string) (design.Design, error) {
		all, err := impls.Match(name)
		if err != nil || len(all) != 1 {
			return design.Design{}, errors.Join(err, errors.New("no one design"))
		}
		return all[0], nil
	})
	// TestMisfits leaves goroutines behind on purpose.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/lockbench/lockbench/internal/explore_test.misfit.Acquire"))
}

// setDefaults sets the defaults that the environment does not set: with the settings that
// [bubble.Run] gives its children exploring takes half of the processor time.
func setDefaults() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// BenchmarkSchedules runs three clients of a token lock: SET NX PX and a script that
// compares and deletes, through the client library over in-memory connections. Each
// schedule is chosen, run, recorded and judged.
func BenchmarkSchedules(b *testing.B) {
	for _, c := range []struct {
		name string
		cfg  explore.Config
	}{
		{"interleavings", explore.Config{Faults: -1, Moves: -1}},
		{"moves", explore.Config{Faults: -1}},
		{"faults", explore.Config{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := c.cfg
			cfg.Design, cfg.Clients, cfg.Strategy, cfg.Schedules = find(b, "lua-token/strategy"), 3, explore.Random, int64(b.N)
			r, err := bubble.Run(b.Context(), bubble.Job{Config: cfg}, silent)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(r.Coverage.Schedules)/r.Elapsed.Seconds(), "schedules/s")
		})
	}
}
