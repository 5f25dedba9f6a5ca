package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/output"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// sweepOptions are the flags of sweep, beside those of run.
type sweepOptions struct {
	settings      runOptions
	clients, keys []int
	out           output.Flags
}

func newSweep() *cobra.Command {
	o := sweepOptions{settings: runOptions{params: sweepSettings(), workload: "mutex"}}
	cmd := &cobra.Command{
		Use:   "sweep DESIGN...",
		Short: "Run designs at every number of clients and keys, and show where they bend",
		Long: `sweep runs designs with each number of --clients on each number of --keys, for a second each
unless --duration says otherwise. It prints throughput, latency, hand-off, commands per grant
and fairness of each point, with a chart of the throughput. Every point is judged like any run:
a claim that contention breaks fails the sweep.`,
		Example: `  lockbench sweep lua-token/strategy
  lockbench sweep 'hash-reentrant/*' --clients 1,8,64 --keys 1,64 --out csv=sweep.csv
  lockbench sweep redislock/obtain --clients 4,32 --keys 1 --hold 5ms --duration 5s`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no design given; hint: name one or more, lockbench list designs")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *sweepOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.IntSliceVar(&o.clients, "clients", []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, "numbers of clients that compete for the locks, separated by commas")
	f.IntSliceVar(&o.keys, "keys", []int{1, 16, 1024}, "numbers of locks, separated by commas")
	o.out.Add(f, output.OfSweeps)
	// Designs are arguments, and in an open loop clients are not what is varied.
	o.settings.flagsBut(f, "design", "clients", "keys", "rate", "arrival", "stages")
}

// sweepSettings are short runs of clients that go for the lock again at once. They hold it
// for a moment: without one no two would ever be seen to hold it together.
func sweepSettings() workloads.Options {
	p := tour()
	p.KeyChoice, p.Stallers = workloads.Uniform, 0
	p.Hold, p.Wait = workloads.Always(200*time.Microsecond), time.Second
	p.Duration, p.Warmup = time.Second, 200*time.Millisecond
	return p
}

func (o *sweepOptions) run(cmd *cobra.Command, args []string) error {
	out, err := o.out.Parse(output.OfSweeps)
	if err != nil {
		return err
	}
	p, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	shown := progress.OfRuns(cmd.ErrOrStderr(), o.settings.quiet, len(p.Subjects))
	shown.Say("%d points%s", len(p.Subjects), about(len(p.Subjects), p.Options))
	result, failed := runPlan(cmd.Context(), p, shown)
	if failed != nil && len(result.Runs) == 0 {
		return failed
	}
	r := result.Report()
	if err := out.Write(cmd.OutOrStdout(), reports.Sweep(r), output.OfSweeps, failed); err != nil {
		return err
	}
	return verdictOf(r.Exit)
}

// plan is that of run, with every design at every point.
func (o *sweepOptions) plan(cmd *cobra.Command, args []string) (runner.Plan, error) {
	for _, list := range []struct {
		flag   string
		values []int
	}{{"clients", o.clients}, {"keys", o.keys}} {
		if slices.Sort(list.values); len(list.values) == 0 || list.values[0] < 1 {
			return runner.Plan{}, fmt.Errorf("--%s %v: there must be numbers, from 1 on; hint: --%s 1,8,64", list.flag, list.values, list.flag)
		}
	}
	o.clients, o.keys = slices.Compact(o.clients), slices.Compact(o.keys)
	if fixedKeys(o.settings.params.KeyChoice) {
		return runner.Plan{}, fmt.Errorf("--key-choice %s: the number of keys follows from the clients there; hint: --key-choice uniform", o.settings.params.KeyChoice)
	}
	o.settings.designs = args
	// A lock broken on purpose is to be caught where there is most competition.
	o.settings.params.Clients, o.settings.params.Keys = o.clients[len(o.clients)-1], o.keys[0]
	if err := o.settings.settle(cmd.Flags()); err != nil {
		return runner.Plan{}, err
	}
	p, err := o.settings.plan()
	if err != nil {
		return p, err
	}
	p.Subjects = o.points(p.Subjects)
	return p, nil
}

// points are the subjects at every number of keys and clients.
func (o *sweepOptions) points(subjects []runner.Subject) (all []runner.Subject) {
	for _, of := range subjects {
		for _, keys := range o.keys {
			for _, clients := range o.clients {
				of.Variant = fmt.Sprintf("%d clients, %d keys", clients, keys)
				of.Change = func(o *workloads.Options) { o.Clients, o.Keys, o.Processes = clients, keys, min(o.Processes, clients) }
				all = append(all, of)
			}
		}
	}
	return all
}
