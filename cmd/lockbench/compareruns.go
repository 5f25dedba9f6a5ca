package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/workloads"
)

// mostRounds bounds --run.
const mostRounds = 1000

// runBoth runs the two designs of args in turns, and returns the results of each.
func (o *compareOptions) runBoth(cmd *cobra.Command, args []string) (base, changed []reports.Result, err error) {
	if o.rounds < 1 || o.rounds > mostRounds {
		return nil, nil, fmt.Errorf("--run %d: it is not from 1 to %d; hint: --run 10", o.rounds, mostRounds)
	}
	if len(args) != 2 {
		return nil, nil, fmt.Errorf("--run takes two designs, and there are %d; hint: lockbench compare --run %d lua-token/token lua-token/strategy", len(args), o.rounds)
	}
	if err := o.settings.settle(cmd.Flags()); err != nil {
		return nil, nil, err
	}
	p, err := o.plan(args)
	if err != nil {
		return nil, nil, err
	}
	if o.save != "" {
		if err := os.MkdirAll(o.save, 0o755); err != nil {
			return nil, nil, fmt.Errorf("--save: %w", err)
		}
	}
	s, err := o.settings.session(p, newProgress(cmd.ErrOrStderr(), o.settings.quiet, len(p.subjects)))
	if err != nil {
		return nil, nil, err
	}
	s.progress.say("%d runs of each, in turns%s", o.rounds, about(2*o.rounds, p.options))
	if err := s.run(cmd.Context()); err != nil {
		return nil, nil, err
	}
	return o.results(s)
}

// about tells how long so many runs take; nothing where operations end them.
func about(runs int, o workloads.Options) string {
	if o.Duration == 0 {
		return ""
	}
	return fmt.Sprintf("; about %v", (time.Duration(runs) * o.Duration).Round(time.Second))
}

// plan is that of run for the two designs, with its subjects in turns.
func (o *compareOptions) plan(args []string) (p plan, err error) {
	var two []subject
	var names []string
	for _, arg := range args {
		one := o.settings
		name, guards, err := splitGuard(arg)
		if err != nil {
			return p, err
		}
		one.designs, one.guards = []string{name}, guards
		if p, err = one.plan(); err != nil {
			return p, err
		}
		if len(p.subjects) != 1 {
			return p, fmt.Errorf("%s: it is %d designs, and a side has one; hint: lockbench list designs", arg, len(p.subjects))
		}
		two, names = append(two, p.subjects[0]), append(names, name)
	}
	p.patterns, p.subjects = names, inTurns(two[0], two[1], o.rounds)
	return p, nil
}

// inTurns lets two subjects take turns, each going first every other time, so that what
// changes on the machine meanwhile meets both alike. The runs of a round have one seed.
func inTurns(base, changed subject, rounds int) (all []subject) {
	for i := range rounds {
		base.round, changed.round = round{"base", i + 1}, round{"new", i + 1}
		pair := []subject{base, changed}
		if i%2 == 1 {
			pair[0], pair[1] = changed, base
		}
		all = append(all, pair...)
	}
	return all
}

// A round says of a subject which repetition it is, and of which side; zero where nothing
// is repeated.
type round struct {
	side   string
	number int
}

func (r round) String() string { return fmt.Sprintf("%s-%02d", r.side, r.number) }

// results parts the runs of a session by side. They are in the order of its subjects, of
// which the last ones may be missing.
func (o *compareOptions) results(s *session) (base, changed []reports.Result, err error) {
	var missing []string
	if n := len(s.subjects) - len(s.runs); n > 0 {
		missing = []string{fmt.Sprintf("%d of %d runs", n, len(s.subjects))}
	}
	var errs []error
	for i := range s.runs {
		r := reports.New(s.runs[i:i+1], missing)
		r.Prove(s.proof)
		if round := s.subjects[i].round; round.side == "base" {
			base, errs = append(base, r), append(errs, o.keep(r, round))
		} else {
			changed, errs = append(changed, r), append(errs, o.keep(r, round))
		}
	}
	return base, changed, errors.Join(errs...)
}

// keep saves the result of a run where that was asked for.
func (o *compareOptions) keep(r reports.Result, of round) error {
	if o.save == "" {
		return nil
	}
	return writeFile(filepath.Join(o.save, of.String()+".json"), func(w io.Writer) error { return reports.JSON(w, r) })
}
