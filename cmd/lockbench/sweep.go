package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/workloads"
)

// sweepOutputs are the kinds of output of sweep.
var sweepOutputs = []outputForm{jsonOutput, {"csv", "FILE (a row a point, latencies in ns)"}, benchOutput}

// sweepOptions are the flags of sweep, beside those of run.
type sweepOptions struct {
	settings      runOptions
	clients, keys []int
	out           []string
}

func newSweep() *cobra.Command {
	o := sweepOptions{settings: runOptions{params: sweepSettings(), workload: workloads.Mutex().Name}}
	cmd := &cobra.Command{
		Use:   "sweep DESIGN...",
		Short: "Run designs at every number of clients and keys, and show where they bend",
		Long: `sweep runs designs with every number of --clients on every number of --keys, a second
each unless --duration says otherwise, and shows throughput, latency, hand-off, commands
per grant and fairness of each point, with a chart of the throughput. Every point is
judged like any run: a claim that contention breaks is told, and fails the sweep.`,
		Example: `  lockbench sweep lua-token/strategy
  lockbench sweep 'hash-reentrant/*' --clients 1,8,64 --keys 1,64 --out csv=sweep.csv
  lockbench sweep redislock/obtain --clients 4,32 --keys 1 --hold 5ms --duration 5s`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("sweep: no design given; hint: name one or more, lockbench list designs")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			err := o.run(cmd, args)
			if isVerdict(err) {
				return err
			}
			return fmt.Errorf("sweep: %w", err)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

// notOfSweep are the flags of run that sweeps do without.
var notOfSweep = append([]string{"design", "clients", "keys", "rate", "arrival", "stages"}, onlyOfRun...)

func (o *sweepOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.IntSliceVar(&o.clients, "clients", []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, "numbers of owners that compete, by comma")
	f.IntSliceVar(&o.keys, "keys", []int{1, 16, 1024}, "numbers of locks, by comma")
	f.StringArrayVar(&o.out, "out", nil, outHelp(sweepOutputs))
	all := pflag.NewFlagSet("run", pflag.ContinueOnError)
	o.settings.flags(all)
	all.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(notOfSweep, flag.Name) {
			f.AddFlag(flag)
		}
	})
}

// sweepSettings are short runs of clients that go for the lock again at once. They hold it
// for a moment: without one no two would ever be seen to hold it together.
func sweepSettings() workloads.Options {
	p := tour()
	p.KeyChoice, p.SlowKeys = workloads.Uniform, 0
	p.Hold, p.Wait = workloads.Always(200*time.Microsecond), time.Second
	p.Duration, p.Warmup = time.Second, 200*time.Millisecond
	return p
}

func (o *sweepOptions) run(cmd *cobra.Command, args []string) error {
	out, err := parseOutputs(o.out, sweepOutputs)
	if err != nil {
		return err
	}
	p, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	records, err := newRecords(o.settings.history)
	if err != nil {
		return err
	}
	collectRarely()
	s := &session{plan: p, records: records, proves: true, failFast: o.settings.failFast, progress: newProgress(cmd.ErrOrStderr(), o.settings.quiet, len(p.subjects))}
	s.progress.say("%d points of %v; about %v", len(p.subjects), p.options.Duration, (time.Duration(len(p.subjects)) * p.options.Duration).Round(time.Second))
	err = s.run(cmd.Context(), o.settings.redis)
	if err = errors.Join(err, records.tidy(s.runs)); err != nil {
		return err
	}
	r := reports.New(s.runs, s.notRun)
	r.Prove(s.proof)
	if err := o.write(cmd.OutOrStdout(), out, r); err != nil {
		return err
	}
	return verdictOf(r.Exit)
}

func (o *sweepOptions) write(w io.Writer, out outputs, r reports.Result) error {
	return out.files(w, map[string]rendering{
		jsonOutput.name:  func(w io.Writer) error { return reports.JSON(w, r) },
		benchOutput.name: func(w io.Writer) error { return reports.Bench(w, r) },
		"csv":            func(w io.Writer) error { return reports.SweepCSV(w, r) },
		"":               func(w io.Writer) error { return reports.TerminalSweep(w, r, terminalOptions(w)) },
	})
}

// plan is that of run, with every design at every point.
func (o *sweepOptions) plan(cmd *cobra.Command, args []string) (plan, error) {
	for _, list := range []struct {
		flag   string
		values []int
	}{{"clients", o.clients}, {"keys", o.keys}} {
		if slices.Sort(list.values); len(list.values) == 0 || list.values[0] < 1 {
			return plan{}, fmt.Errorf("--%s %v: there must be numbers, from 1 on; hint: --%s 1,8,64", list.flag, list.values, list.flag)
		}
	}
	o.clients, o.keys = slices.Compact(o.clients), slices.Compact(o.keys)
	if fixedKeys(o.settings.params.KeyChoice) {
		return plan{}, fmt.Errorf("--key-choice %s: the number of keys follows from the clients there; hint: --key-choice uniform", o.settings.params.KeyChoice)
	}
	o.settings.designs = args
	// A lock broken on purpose is to be caught where there is most competition.
	o.settings.params.Clients, o.settings.params.Keys = o.clients[len(o.clients)-1], o.keys[0]
	o.settings.settle(cmd.Flags())
	p, err := o.settings.plan()
	if err != nil {
		return p, err
	}
	p.subjects = o.points(p.subjects)
	return p, nil
}

// points are the subjects at every number of keys and clients.
func (o *sweepOptions) points(subjects []subject) (all []subject) {
	for _, of := range subjects {
		for _, keys := range o.keys {
			for _, clients := range o.clients {
				of.variant = fmt.Sprintf("%d clients, %d keys", clients, keys)
				of.change = func(o *workloads.Options) { o.Clients, o.Keys, o.Processes = clients, keys, min(o.Processes, clients) }
				all = append(all, of)
			}
		}
	}
	return all
}
