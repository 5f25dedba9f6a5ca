package load_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/internal/servers"
	"github.com/lockbench/lockbench/workloads"
)

// seats sells seats: whoever has the lock of a train reads how many are left, prints the
// ticket and writes one less.
func seats() workloads.Workload {
	return workloads.Workload{
		Name:      "seats",
		Summary:   "sell the seats of trains",
		Exercises: workloads.StoreExercises,
		Prepare: func(ctx context.Context, store lockbench.Store, o workloads.Options) error {
			return workloads.PrepareEach(ctx, store, o.Keys, 1000)
		},
		Step: func(ctx context.Context, c *workloads.Client) error {
			lease, err := c.Acquire(ctx)
			if lease == nil {
				return err
			}
			left, ok, err := c.Read(ctx, lease)
			if ok && left.Value > 0 && c.Hold(ctx, lease, c.Choice().Hold) {
				_, err = c.Write(ctx, lease, left, left.Value-1)
			}
			if released := c.Release(ctx, lease); err == nil {
				err = released
			}
			return err
		},
	}
}

func ExampleRun() {
	found, err := impls.Match("lua-token/strategy")
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := servers.StartEmbedded() // or servers.StartPrivate, or an address
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	options := workloads.Defaults()
	options.Keys, options.Duration, options.Operations = 2, 0, 100
	options.TTL = time.Minute
	var record bytes.Buffer
	if _, err := load.Run(context.Background(), load.Config{
		Design: found[0], Server: server, Workload: seats(), Options: options, History: &record,
	}); err != nil {
		fmt.Println(err)
		return
	}
	source, err := history.NewSource(&record)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := checker.Check(source)
	fmt.Println(result.Find(lockbench.Exclusion.At(0)).Verdict, result.Find(lockbench.Effects.At(0)).Verdict, err)
	// Output: held held <nil>
}
