package runner_test

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// seats sells seats: the holder of a train's lock reads the number of free seats, prints
// the ticket and writes one less.
func seats() workloads.Program {
	return workloads.Program{
		Name:      "seats",
		Summary:   "sell the seats of trains",
		Needs:     []workloads.Ability{workloads.HasStore},
		Exercises: workloads.Contended(lockbench.Effects.At(0)),
		Stock:     func(workloads.Options) int64 { return 1000 },
		Step: func(ctx context.Context, c *workloads.Client) error {
			lease, err := c.Acquire(ctx)
			if lease == nil {
				return err
			}
			left, ok, err := c.Read(ctx, lease)
			if ok && left.Value > 0 && c.Hold(ctx, lease) {
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
		panic(err)
	}
	plan := runner.Plan{Subjects: []runner.Subject{{Design: found[0]}}, Workload: seats(), Options: workloads.Defaults()}
	plan.Options.Keys, plan.Options.Duration, plan.Options.Operations = 2, 0, 100
	plan.Options.TTL = time.Minute
	result, err := runner.Run(context.Background(), plan)
	if err != nil {
		panic(err)
	}
	run := &result.Runs[0]
	fmt.Println(run.Verdicts.Find(lockbench.Exclusion.At(0)).Verdict, run.Verdicts.Find(lockbench.Effects.At(0)).Verdict)
	_, measured := run.Latency("acquire", 99)
	fmt.Println("99 % of acquires have a longest:", measured, "grants have a rate:", run.GrantsPerSecond() > 0)
	// Output:
	// held held
	// 99 % of acquires have a longest: true grants have a rate: true
}
