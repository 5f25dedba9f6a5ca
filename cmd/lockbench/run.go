package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/internal/evidence"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// singleOptions are the flags of run: the runs to make, and the outputs and judgements of
// their one result.
type singleOptions struct {
	runOptions
	points   pointList
	out      outFlags
	gate     gateOptions
	accept   acceptFlag
	budget   budgetFlag
	metrics  metricsOptions
	ui       bool
	evidence evidence.Options
	share    runinfo.Share
	machines machineFlags
}

func newRun() *cobra.Command {
	o := singleOptions{runOptions: runOptions{params: tour()}}
	cmd := &cobra.Command{
		Use:   "run [RUNFILE.yaml]",
		Short: "Run designs under a workload, and judge and measure them",
		Long: `run drives designs, one after another, with the clients of a workload. It records every
operation, and judges and measures the record. Without flags it runs five of lockbench's own
designs and two controls in less than a minute, and nothing has to be installed: it starts
redis-server from PATH, or else an embedded server. A design that locks on several servers gets
several.

A run file is a YAML file whose keys are these flags. Flags on the command line override it.
lockbench init writes one; - reads standard input.

--clients and --keys take several values: every design runs with every combination of them, one
run after the other, each for --duration. The runs are one result. --out csv writes a row for
each run. On a terminal, a chart shows the rates of a design with three or more numbers of
clients.

Last, run checks itself with a lock that is broken on purpose. If it does not catch that lock,
every guarantee that was held counts as untested (exit 3).

Ctrl-C ends the run and reports what was measured; a second Ctrl-C aborts.`,
		Example: `  lockbench run
  lockbench run --design 'lua-token/*,watch-multi/poll' --clients 64
  lockbench run --workload reentrant --depth 3 --server redis://localhost:6379
  lockbench run --fault crash --fault lost-reply,p=0.01 --design 'lua-token/*'
  lockbench run --design 'file/*' --clients 1,8,64 --keys 1,64 --out csv=points.csv
  lockbench run --service postgres
  lockbench run run.yaml --duration 1m
  lockbench run --key-choice own --history histories --out json=r.json`,
		Args: oneRunFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := readRunFile(cmd, args, newRun().Flags())
			if err != nil {
				return err
			}
			return file.Locate(o.run(cmd), settingOf(cmd.Flags()))
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *singleOptions) flags(f *pflag.FlagSet) {
	o.points.flags(f, o.params)
	o.flagsBut(f, "clients", "keys")
	f.Var(newTextFlag(&o.share, "part"), "share", "the part of the run that this machine makes, such as 1/2: some of --groups, on a server that all machines reach; lockbench merge joins the histories")
	o.machines.add(f, &o.params)
	o.budget.add(f)
	exploreFlag(f, &o.evidence)
	evidenceFlags(f, &o.evidence)
	o.out.addWithEvidence(f, runOutputs)
	o.gate.flags(f)
	o.gate.abortFlag(f)
	o.accept.add(f)
	o.metrics.flag(f)
	uiFlag(f, &o.ui)
}

// settleAll checks the flags, and derives those that were not given.
func (o *singleOptions) settleAll(f *pflag.FlagSet) error {
	if err := o.points.check(); err != nil {
		return err
	}
	o.points.contended(&o.params)
	if err := o.settle(f); err != nil {
		return err
	}
	if err := o.checkShare(f); err != nil {
		return err
	}
	return o.machines.settle(f, &o.runOptions, o.share)
}

func (o *singleOptions) run(cmd *cobra.Command) error {
	if err := o.settleAll(cmd.Flags()); err != nil {
		return err
	}
	p, out, gates, err := o.plan(cmd.Context())
	if err != nil {
		return err
	}
	if err := o.budget.divide(cmd.Flags(), &p, &o.evidence.Explore); err != nil {
		return err
	}
	request, err := o.evidence.Parse()
	if err != nil {
		return err
	}
	accepted, err := o.accept.load(o.failFast)
	if err != nil {
		return err
	}
	if err := o.commands.try(cmd.Context(), o.server); err != nil {
		return err
	}
	searches, designs := make(evidence.Searches), designsOf(p.Subjects)
	rows := progress.Table{Conclude: func(j *results.Judged) *conclusion.Conclusion {
		one := results.New([]results.Judged{*j}, nil)
		request.Conclude(&one, designs, searches)
		return one.Runs[0].Conclusion
	}}
	for _, of := range p.Subjects {
		rows.Names = append(rows.Names, of.Label())
	}
	machines, err := o.machines.open(cmd.Context(), &p, sayTo(cmd.ErrOrStderr(), o.quiet))
	if err != nil {
		return err
	}
	ctx, shown, err := o.show(cmd, &p, &rows)
	if err != nil {
		return errors.Join(err, machines.End(err))
	}
	machines.SayTo(shown.Say)
	scope := newExploreOptions().config
	scope.Seed = p.Options.Seed
	search := request.InTurns(searches, designs, scope, shown.Say)
	p.Before = func(ctx context.Context, of runner.Subject) { search(ctx, of.Design) }
	result, failed := o.observed(ctx, p, shown, out.hlog())
	failed = errors.Join(failed, machines.End(failed))
	if failed != nil && len(result.Runs) == 0 {
		return failed
	}
	r := result.Report()
	request.Conclude(r, designs, searches)
	r.Accept(accepted, time.Now())
	r.Gate(gates)
	if err := out.writeRuns(cmd.OutOrStdout(), r, failed); err != nil {
		return err
	}
	return verdictOf(r.Exit)
}

// checkShare returns an error if the parts of the run would not be parts of one run.
func (o *singleOptions) checkShare(f *pflag.FlagSet) error {
	switch {
	case o.share.Whole():
		return nil
	case len(o.servers) == 0:
		return fmt.Errorf("share %v: each machine would lock on a server of its own; hint: --server URL, of one that all machines reach", o.share)
	case !f.Changed("seed"):
		return fmt.Errorf("share %v: each machine would draw another seed; hint: --seed 1 on all of them", o.share)
	case o.history == "":
		return fmt.Errorf("share %v: lockbench merge needs the histories of all parts; hint: --history FOLDER", o.share)
	}
	return nil
}

// server returns a Redis server as one of the runs has it.
func (o *singleOptions) server(ctx context.Context) (*servers.Server, error) {
	url := ""
	if i := slices.IndexFunc(o.servers, func(url string) bool { return !strings.HasPrefix(url, "file:") }); i >= 0 {
		url = o.servers[i]
	}
	return servers.Choose(ctx, url)
}

// plan returns the runs to make, and the outputs and thresholds of their one result.
func (o *singleOptions) plan(ctx context.Context) (p runner.Plan, out outPaths, gates []thresholds.Threshold, err error) {
	if p, err = o.runOptions.plan(ctx); err != nil {
		return p, out, nil, err
	}
	p.Share = o.share
	if o.service != "" || len(o.designs) == 0 && !o.commands.given() { // the tour
		p.AddControls(impls.Controls())
	}
	p.PlaceControls()
	p.Subjects = o.points.times(p.Subjects, o.params)
	if err = p.Check(); err != nil {
		return p, out, nil, err
	}
	if out, err = o.out.parse(runOutputs); err != nil {
		return p, out, nil, err
	}
	if gates, err = o.gate.thresholds(thresholds.Live); err != nil {
		return p, out, nil, err
	}
	if p.AbortOn, err = o.gate.abortOn(gates); err != nil {
		return p, out, nil, err
	}
	return p, out, gates, inScope(gates, namesOf(designsOf(p.Subjects)))
}

// observed runs a plan, shows its progress, serves its metrics and logs its latencies.
func (o *singleOptions) observed(ctx context.Context, p runner.Plan, shown progress.Runs, hlogs []string) (result runner.Result, err error) {
	logs := newIntervalLogs(hlogs)
	defer func() { err = errors.Join(err, logs.close()) }()
	metrics, stop, err := o.metrics.open(len(p.Subjects), shown.Say)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return runPlan(ctx, p, shown, metrics, logs.sinkOfPlan(&p))
}
