package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/results"
	"github.com/lockbench/lockbench/internal/wholefile"
	"github.com/lockbench/lockbench/reports"
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
	if len(args) != 2 {
		return nil, nil, fmt.Errorf("--run takes two designs, and there are %d; hint: lockbench compare --run %d lua-token/token lua-token/strategy", len(args), o.rounds)
	}
	if err := o.settings.settle(cmd.Flags()); err != nil {
		return nil, nil, err
	}
	p, turns, err := o.plan(args)
	if err != nil {
		return nil, nil, err
	}
	if o.save != "" {
		if err := os.MkdirAll(o.save, 0o755); err != nil {
			return nil, nil, fmt.Errorf("--save: %w", err)
		}
	}
	shown := progress.OfRuns(cmd.ErrOrStderr(), o.settings.quiet, len(p.Subjects))
	shown.Say("%d runs of each, in turns%s", o.rounds, about(2*o.rounds, p.Options))
	result, failed := runPlan(cmd.Context(), p, shown)
	base, changed, err = o.results(&result, turns)
	return base, changed, errors.Join(failed, err)
}

// about returns how long so many runs take; nothing where operations end them.
func about(runs int, o workloads.Options) string {
	if o.Duration == 0 {
		return ""
	}
	return fmt.Sprintf("; about %v", (time.Duration(runs) * o.Duration).Round(time.Second))
}

// plan is that of run for the two designs, with its subjects in turns.
func (o *compareOptions) plan(args []string) (p runner.Plan, all []turn, err error) {
	var two []runner.Subject
	for _, arg := range args {
		one := o.settings
		name, guards, err := splitGuard(arg)
		if err != nil {
			return p, nil, err
		}
		one.designs, one.guards = []string{name}, guards
		if p, err = one.plan(); err != nil {
			return p, nil, err
		}
		if len(p.Subjects) != 1 {
			return p, nil, fmt.Errorf("%s: it is %d designs, and a side has one; hint: lockbench list designs", arg, len(p.Subjects))
		}
		two = append(two, p.Subjects[0])
	}
	all = inTurns(o.rounds)
	p.Subjects = nil
	for _, t := range all {
		of := two[t.side]
		of.Variant = t.String()
		of.Change = func(o *workloads.Options) { o.Seed += uint64(t.round) }
		p.Subjects = append(p.Subjects, of)
	}
	return p, all, nil
}

// A turn is one run of one side: 0 is the base, 1 the new one.
type turn struct{ side, round int }

func (t turn) String() string {
	return fmt.Sprintf("%s-%02d", [...]string{"base", "new"}[t.side], t.round)
}

// inTurns lets the two sides take turns, each going first every other time, so that what
// changes on the machine meanwhile meets both alike. The runs of a round have one seed.
func inTurns(rounds int) (all []turn) {
	for i := range rounds {
		first := i % 2
		all = append(all, turn{first, i + 1}, turn{1 - first, i + 1})
	}
	return all
}

// results parts the runs of a session by side. They are in the order of the turns, of
// which the last ones may be missing.
func (o *compareOptions) results(came *runner.Result, turns []turn) (base, changed []results.Result, err error) {
	var missing []string
	if n := len(turns) - len(came.Runs); n > 0 {
		missing = []string{fmt.Sprintf("%d of %d runs", n, len(turns))}
	}
	sides := [2][]results.Result{}
	var errs []error
	for i := range came.Runs {
		one := runner.Result{Runs: came.Runs[i : i+1], NotRun: missing, SelfCheck: came.SelfCheck}
		r, t := one.Report(), turns[i]
		sides[t.side], errs = append(sides[t.side], *r), append(errs, o.keep(r, t))
	}
	return sides[0], sides[1], errors.Join(errs...)
}

// keep saves the result of a run where that was asked for.
func (o *compareOptions) keep(r *results.Result, of turn) error {
	if o.save == "" {
		return nil
	}
	return wholefile.Write(filepath.Join(o.save, of.String()+".json"), func(w io.Writer) error { return reports.Write(w, reports.JSON, r, reports.Options{}) })
}
