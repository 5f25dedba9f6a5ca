package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// unrecorded is lockbench's driver with the lock of the loops, watched but not recorded.
func (b *bench) unrecorded(ctx context.Context) (float64, error) { return b.drive(ctx, nil) }

// recorded is the same, recorded to a file that nobody reads.
func (b *bench) recorded(ctx context.Context) (rate float64, err error) {
	f, err := os.CreateTemp("", "pairs")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	return b.drive(ctx, f)
}

// drive runs the mutex workload as lockbench run does.
func (b *bench) drive(ctx context.Context, record io.Writer) (float64, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	designs, err := impls.Match("lua-token/strategy")
	if err != nil {
		return 0, err
	}
	o := workloads.Defaults()
	o.Clients, o.KeyChoice, o.Keys, o.Warmup = b.options.Clients, workloads.Own, 0, 0
	o.Hold, o.Think, o.Duration = workloads.Always(0), workloads.Always(0), b.options.Duration
	s, err := load.Run(ctx, load.Config{
		Design: designs[0], Services: backend.Group{b.server}, Workload: workloads.Must("mutex"), Options: o, History: record,
	})
	return float64(s.Grants) / (time.Duration(s.EndNS)).Seconds(), err
}
