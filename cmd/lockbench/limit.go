package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/limits"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/suggest"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

func newLimit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "limit",
		Short: "Search the highest rate, or the shortest lease, that is still safe",
		Long: `limit searches the value up to which a design keeps a target and everything it claims:
the highest rate of arrivals (limit rate) or the shortest lease (limit ttl). Every trial
is a run that is judged; the limit found is tried again before it is told.

Exit codes: 0 a limit was found; 1 a claim was broken on the way; 3 nothing can be said;
4 even the easiest value misses the target.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return suggest.Unknown("limit", args[0], commandNames(cmd))
		},
	}
	cmd.AddCommand(newLimitRate(), newLimitTTL())
	return cmd
}

// limitOptions are the flags that searches for limits have in common, beside those of
// run.
type limitOptions struct {
	settings  runOptions
	precision float64
	out       []string
}

func (o *limitOptions) flags(f *pflag.FlagSet, without ...string) {
	f.Float64Var(&o.precision, "precision", 0.05, "the `share` by which the limit may be missed")
	f.StringArrayVar(&o.out, "out", nil, outHelp(limitOutputs))
	// The design is an argument, and the rate and the number of operations are the search's.
	o.settings.flagsBut(f, append(without, "design", "fail-fast", "stages", "rate", "operations")...)
}

// validate tells what is wrong with the flags that all searches have.
func (o *limitOptions) validate() error {
	if !(o.precision > 0 && o.precision <= 1) {
		return fmt.Errorf("--precision %v: no share to miss a limit by; hint: above 0 and up to 1, such as 0.05", o.precision)
	}
	return nil
}

// A hunt is one search for a limit, on its way through trials.
type hunt struct {
	limit  reports.LimitSearch
	search *limits.Search
	// change sets the value to try, name how it is called.
	change func(*workloads.Options, float64)
	name   func(float64) string
	// judge says what came of a trial, and what was missed.
	judge func(j *reports.Judged, t *reports.LimitTrial) (limits.Outcome, string)
	say   func(format string, args ...any)

	// of is what is tried, value the value under trial once one has begun.
	of    runner.Subject
	begun bool
	value float64
}

// plan is that of run, for the one design of args.
func (o *limitOptions) plan(args []string) (runner.Plan, error) {
	o.settings.designs = args
	p, err := o.settings.plan()
	if err == nil && len(p.Subjects) != 1 {
		err = fmt.Errorf("%s is %d subjects, and a limit is of one; hint: name one design, and one guard at most", args[0], len(p.Subjects))
	}
	return p, err
}

// run searches, and writes what was found.
func (o *limitOptions) run(cmd *cobra.Command, p runner.Plan, h *hunt) error {
	out, err := parseOutputs(o.out, limitOutputs)
	if err != nil {
		return err
	}
	shown := progress.OfRuns(cmd.ErrOrStderr(), o.settings.quiet, 0)
	h.say, h.of = shown.Say, p.Subjects[0]
	p.Next, p.SelfCheckAt = h.next, h.found
	result, err := runPlan(cmd.Context(), p, shown)
	if err != nil {
		return err
	}
	if err := firstError(result.Runs); err != nil {
		return err
	}
	h.limit.SelfCheck = result.SelfCheck
	h.limit.Settle(h.search.Result())
	if err := out.write(cmd.OutOrStdout(), forms{
		jsonOutput.name: in(reports.LimitJSON, h.limit),
		"":              onTerminal(reports.TerminalLimit, h.limit),
	}); err != nil {
		return err
	}
	return verdictOf(h.limit.Exit)
}

// firstError is what kept a trial from being one.
func firstError(runs []reports.Judged) error {
	for i := range runs {
		if err := runs[i].Err; err != nil {
			return fmt.Errorf("trial %d: %w", i+1, err)
		}
	}
	return nil
}

// next takes up what came of the trial before, and returns the next one.
func (h *hunt) next(came *runner.Result) (runner.Subject, bool) {
	n := len(came.Runs)
	if h.begun && !h.take(came) {
		return runner.Subject{}, false
	}
	v, ok := h.search.Next()
	if !ok {
		return runner.Subject{}, false
	}
	h.begun, h.value = true, v
	of := h.of
	of.Variant = fmt.Sprintf("%s (trial %d)", h.name(v), n+1)
	of.Change = func(o *workloads.Options) {
		h.change(o, v)
		o.Seed += uint64(n) // repetitions are to differ
	}
	return of, true
}

// found sets the options to the limit, where a lock broken on purpose is to be caught.
func (h *hunt) found(o *workloads.Options) {
	if r := h.search.Result(); r.Limit > 0 {
		h.change(o, r.Limit)
	}
}

// take takes up the trial just made; false when there was none, or it failed.
func (h *hunt) take(came *runner.Result) bool {
	if len(came.Runs) != len(h.limit.Trials)+1 {
		return false
	}
	j := &came.Runs[len(came.Runs)-1]
	if len(h.limit.Trials) == 0 {
		h.describe(j)
	}
	if j.Err != nil || j.End.Trailer.Ended == load.EndedInterrupted {
		return false
	}
	t := reports.NewLimitTrial(h.value, j)
	t.Outcome, t.Why = h.judge(j, &t)
	if len(t.Broken) > 0 {
		t.Outcome, t.Why = limits.Fails, fmt.Sprintf("%s was broken", t.Broken[0])
	}
	h.limit.Trials = append(h.limit.Trials, t)
	h.say("  %s: %s %s", h.name(h.value), t.Outcome, t.Why)
	h.search.Report(t.Outcome)
	return true
}

// describe takes from a run what is true of all.
func (h *hunt) describe(j *reports.Judged) {
	l := &h.limit
	l.Design, l.Workload, l.Params, l.Seed = j.Header.Design, j.Header.Workload, j.Header.Params, j.Header.Seed
	l.Server, l.Environment = j.Header.Server, j.Header.Environment
}

// oneDesign takes the name of one design.
func oneDesign(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("it takes one design, and there are %d; hint: lockbench list designs", len(args))
	}
	_, err := impls.Match(args[0])
	return err
}
