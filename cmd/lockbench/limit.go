package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/cli/limitsearch"
	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/runner"
)

func newLimit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "limit",
		Short: "Find the highest rate, or the shortest lease, that is still safe",
		Long: `limit finds the last value at which a design still meets its targets and keeps its claims: the
highest rate of arrivals (limit rate) or the shortest lease (limit ttl). Every trial is a run
that is judged. The limit found is tried again before it is reported.

Exit codes: 0 a limit was found; 1 a claim was broken on the way; 3 inconclusive; 4 even the
easiest value misses the target.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no limit named; hint: lockbench limit rate DESIGN, or lockbench limit ttl DESIGN")
			}
			if err := misplaced(args, "rate or ttl belongs", "lockbench limit rate %s"); err != nil {
				return err
			}
			return suggest.Unknown("limit", args[0], commandNames(cmd))
		},
	}
	cmd.AddCommand(newLimitRate(), newLimitTTL())
	return cmd
}

// limitOptions are the common flags of searches for limits, beside the flags of run.
type limitOptions struct {
	settings  runOptions
	precision float64
	budget    time.Duration
	out       outFlags
}

func (o *limitOptions) flags(f *pflag.FlagSet, without ...string) {
	f.Float64Var(&o.precision, "precision", 0.05, "largest error of the limit, as a `share` of it")
	f.DurationVar(&o.budget, "budget", 2*time.Minute, "time for all trials and the self-check: when it is nearly over, the best value is confirmed; 0s has no end")
	o.out.add(f, limitOutputs)
	// A design of lockbench is an argument; the search sets the rate and the number of operations.
	o.settings.flagsBut(f, append(without, "design", "service", "take", "free", "extend", "fail-fast", "stages", "rate", "operations")...)
}

// validate returns an error if a common flag of all searches is wrong.
func (o *limitOptions) validate() error {
	if !(o.precision > 0 && o.precision <= 1) {
		return fmt.Errorf("--precision %v: it is not an error of the limit; hint: above 0 and up to 1, such as 0.05", o.precision)
	}
	if o.budget < 0 {
		return fmt.Errorf("--budget %v: time does not run backwards; hint: 2m, or 0s for a search without an end", o.budget)
	}
	return nil
}

// programs is the default number of clients of an adapter, since each trial starts a program for each.
const programs = 8

// plan returns the plan of run, for the one design of args or of an adapter.
func (o *limitOptions) plan(cmd *cobra.Command, args []string) (runner.Plan, error) {
	o.settings.designs = args
	if o.settings.commands.given() && !cmd.Flags().Changed("clients") {
		o.settings.params.Clients = programs
	}
	if err := o.settings.settle(cmd.Flags()); err != nil {
		return runner.Plan{}, err
	}
	p, err := o.settings.plan(cmd.Context())
	if err == nil && len(p.Subjects) != 1 {
		err = fmt.Errorf("%s: %d combinations of design and guard, and limit takes one; hint: name one design, and one guard at most", strings.Join(append(args, o.settings.commands.adapters...), ", "), len(p.Subjects))
	}
	return p, err
}

// run searches, and writes the result.
func (o *limitOptions) run(cmd *cobra.Command, p runner.Plan, search *limitsearch.Search) error {
	out, err := o.out.parse(limitOutputs)
	if err != nil {
		return err
	}
	shown := progress.OfRuns(cmd.ErrOrStderr(), o.settings.quiet, 0, nil)
	search.Say, search.Budget = shown.Say, o.budget
	limit, failed := search.Run(cmd.Context(), p, shown.Sink())
	shown.Close()
	if failed != nil && len(limit.Trials) == 0 {
		return failed
	}
	if err := out.write(cmd.OutOrStdout(), &limit, limitOutputs, failed); err != nil {
		return err
	}
	return verdictOf(limit.Exit)
}

// oneDesign takes the name of one design, or an adapter.
func (o *limitOptions) oneDesign(_ *cobra.Command, args []string) error {
	if n := len(args) + len(o.settings.commands.adapters); n != 1 {
		return fmt.Errorf("it takes one design, and %d are given; hint: lockbench list designs, or --adapter in place of a name", n)
	}
	if len(args) == 0 {
		return nil
	}
	_, err := impls.Match(args[0])
	return err
}
