package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/thresholds"
	"github.com/lockbench/lockbench/reports"
)

// singleOptions are the flags of run: beside what is run and how, what is made of the one
// result that comes of it.
type singleOptions struct {
	runOptions
	out     []string
	gate    gateOptions
	metrics metricsOptions
	ui      bool
}

func newRun() *cobra.Command {
	o := singleOptions{runOptions: runOptions{params: tour()}}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO.yaml]",
		Short: "Run designs under a workload, and judge and measure them",
		Long: `run drives designs one after another with the clients of a workload, records what
happened, judges the record and measures it. Without flags it is a tour of all our
designs that takes less than a minute and needs nothing installed: a private
redis-server from PATH is used, or else an embedded server. Designs that lock on
several servers get as many, each on its own.

A scenario is a YAML file whose keys are these flags; flags given beside it come
first. lockbench init writes one, and - reads standard input.

A run ends with a lock that is broken on purpose. If this self-check is not caught, held
counts as untested (exit 3).

Ctrl-C ends the run in good order and reports what was measured; once more aborts.`,
		Example: `  lockbench run
  lockbench run --design 'lua-token/*,watch-multi/poll' --clients 64 --duration 1m
  lockbench run --workload reentrant --depth 3 --slow-keys 0 --redis redis://localhost:6379
  lockbench run --rate 1000 --clients 64 --workload mutex --design lua-token/token
  lockbench run --fault crash --fault lost-reply,p=0.01 --design 'lua-token/*'
  lockbench run --design lua-token/fenced --guard none,fence,cas
  lockbench run --design 'redsync/*'
  lockbench run scenario.yaml --duration 1m
  lockbench run --key-choice own --history histories --out json=result.json`,
		Args: oneScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := readScenario(cmd, args, newRun().Flags())
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
	o.runOptions.flags(f)
	f.StringArrayVar(&o.out, "out", nil, outHelp(runOutputs))
	o.gate.flags(f)
	o.gate.abortFlag(f)
	o.metrics.flag(f)
	uiFlag(f, &o.ui)
}

// A singlePlan is a plan with what is to be made of its one result.
type singlePlan struct {
	plan
	out     outputs
	gates   []thresholds.Threshold
	abortOn []thresholds.Threshold
}

func (o *singleOptions) plan() (p singlePlan, err error) {
	if p.plan, err = o.runOptions.plan(); err != nil {
		return p, err
	}
	if p.out, err = parseOutputs(o.out, runOutputs); err != nil {
		return p, err
	}
	if p.gates, err = o.gate.thresholds(thresholds.Live); err != nil {
		return p, err
	}
	if p.abortOn, err = o.gate.abortOn(p.gates); err != nil {
		return p, err
	}
	return p, inScope(p.gates, designNames(p.subjects))
}

func (o *singleOptions) run(cmd *cobra.Command) error {
	if err := o.settle(cmd.Flags()); err != nil {
		return err
	}
	p, err := o.plan()
	if err != nil {
		return err
	}
	ctx, progress, err := o.show(cmd, &p.plan)
	if err != nil {
		return err
	}
	s, closing, err := o.session(p, progress)
	if err != nil {
		return err
	}
	if err = errors.Join(s.run(ctx), closing()); err != nil {
		return err
	}
	r := reports.New(s.runs, s.notRun)
	r.Prove(s.proof)
	r.Gate(p.gates, s.runs)
	if err := p.out.writeRuns(cmd.OutOrStdout(), r, s.runs); err != nil {
		return err
	}
	return verdictOf(r.Exit)
}

// session is the session of a plan with those who look on, and what closes these.
func (o *singleOptions) session(p singlePlan, progress progress) (s *session, closing func() error, err error) {
	if s, err = o.runOptions.session(p.plan, progress); err != nil {
		return nil, nil, err
	}
	s.abortOn = p.abortOn
	logs, err := openIntervalLogs(p.out["hlog"])
	if err != nil {
		return nil, nil, errors.Join(err, s.records.tidy(nil))
	}
	s.also = logs.of(p.subjects)
	if s.metrics, err = o.metrics.open(len(p.subjects), s.progress.say); err != nil {
		return nil, nil, errors.Join(err, logs.close(), s.records.tidy(nil))
	}
	return s, func() error { return errors.Join(s.metrics.close(), logs.close()) }, nil
}
