package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/cli/alternating"
	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// mostRounds bounds --run.
const mostRounds = 1000

// runBoth runs the two designs of args in turns, and returns the results of each.
func (o *compareOptions) runBoth(cmd *cobra.Command, args []string) (base, changed []results.Result, err error) {
	if o.rounds < 1 || o.rounds > mostRounds {
		return nil, nil, fmt.Errorf("--run %d: it is not from 1 to %d; hint: --run 10", o.rounds, mostRounds)
	}
	if n := len(args) + len(o.settings.commands.adapters); n != 2 {
		return nil, nil, fmt.Errorf("--run takes two designs, and %d are given; hint: lockbench compare --run %d lua-token/token lua-token/strategy, or --adapter in place of a design", n, o.rounds)
	}
	if err := o.settings.settle(cmd.Flags()); err != nil {
		return nil, nil, err
	}
	if o.resume && o.save == "" {
		return nil, nil, errors.New("--resume: no directory of saved results; hint: --save DIR")
	}
	p, err := o.plan(cmd.Context(), args)
	if err != nil {
		return nil, nil, err
	}
	s, err := alternating.New(p)
	if err != nil {
		return nil, nil, err
	}
	shown := progress.OfRuns(cmd.ErrOrStderr(), o.settings.quiet, s.Runs(), nil)
	defer shown.Close()
	shown.Say("%d runs of each, alternately%s", o.rounds, about(s.Runs(), p.Settings.Options))
	return s.Run(cmd.Context(), shown.Sink())
}

// about returns the expected time of a number of runs; empty if a number of operations ends each.
func about(runs int, o workloads.Options) string {
	if o.Duration == 0 {
		return ""
	}
	return fmt.Sprintf("; about %v", (time.Duration(runs) * o.Duration).Round(time.Second))
}

// plan returns the plan of run for the two designs: those of args, then those of adapters.
func (o *compareOptions) plan(ctx context.Context, args []string) (p alternating.Plan, err error) {
	p = alternating.Plan{Rounds: o.rounds, Save: o.save, Resume: o.resume}
	var sides []runner.Subject
	for _, arg := range args {
		one := o.settings
		one.commands = commandFlags{}
		name, guards, err := splitGuard(arg)
		if err != nil {
			return p, err
		}
		one.designs, one.guards = []string{name}, guards
		if p.Settings, err = one.plan(ctx); err != nil {
			return p, err
		}
		if len(p.Settings.Subjects) != 1 {
			return p, fmt.Errorf("%s: it matches %d designs, and a side is one; hint: lockbench list designs", arg, len(p.Settings.Subjects))
		}
		sides = append(sides, p.Settings.Subjects...)
	}
	if o.settings.commands.given() {
		if p.Settings, err = o.settings.plan(ctx); err != nil {
			return p, err
		}
		sides = append(sides, p.Settings.Subjects...)
	}
	p.Sides = [2]runner.Subject(sides)
	if settings := &p.Settings.Options; settings.Processes == 0 && sides[0].Design.Owners != sides[1].Design.Owners {
		settings.Processes = settings.Clients // the default depends on the design, and speeds must have equal settings
	}
	return p, nil
}
