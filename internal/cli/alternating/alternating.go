// Package alternating runs two designs alternately, so that changes on the machine affect both
// alike. It saves each result when its run is over, and can resume from saved results. A session
// needs no flags, so it is not part of the command, its only user.
package alternating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/lib/wholefile"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// A Plan says which designs run, and how.
type Plan struct {
	// Settings are the settings of all runs. Their subjects are ignored.
	Settings runner.Plan
	// Sides are the base and the new design.
	Sides [2]runner.Subject
	// Rounds is the number of runs of each side.
	Rounds int
	// Save is the directory for the results; empty saves none.
	Save string
	// Resume takes the results that are in Save, and makes only the missing runs.
	Resume bool
}

// A runID names one run: its side, 0 for the base and 1 for the new design, and its round, from 1.
type runID struct{ side, round int }

// String returns the name of the run's file, without its extension.
func (id runID) String() string {
	return fmt.Sprintf("%s-%02d", [...]string{"base", "new"}[id.side], id.round)
}

// schedule returns the runs in their order: each side goes first every other round.
func schedule(rounds int) (all []runID) {
	for i := range rounds {
		first := i % 2
		all = append(all, runID{first, i + 1}, runID{1 - first, i + 1})
	}
	return all
}

// A Session is a plan with its results so far.
type Session struct {
	Plan

	missing []runID // the runs to make
	results map[runID]*results.Result
	current string // the run in progress, as the variant of its subject
	saveErr error  // the first error of saving a result between two runs
}

// New makes the directory for the results of p and, if p resumes, loads the results saved before.
func New(p Plan) (*Session, error) {
	s := &Session{Plan: p, results: map[runID]*results.Result{}}
	if p.Save != "" {
		if err := os.MkdirAll(p.Save, 0o755); err != nil {
			return nil, fmt.Errorf("--save: %w", err)
		}
	}
	for _, id := range schedule(p.Rounds) {
		if p.Resume {
			if err := s.load(id); err != nil {
				return nil, err
			}
		}
		if s.results[id] == nil {
			s.missing = append(s.missing, id)
		}
	}
	return s, nil
}

// Runs returns the number of runs to make.
func (s *Session) Runs() int { return len(s.missing) }

// load loads the result of a run, if it is saved.
func (s *Session) load(id runID) error {
	path := s.file(id)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := results.ReadAs[*results.Result](f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	want := s.Sides[id.side].Design.Name
	if len(r.Runs) != 1 || r.Runs[0].Design != want {
		return fmt.Errorf("%s is not of one run of %s; hint: another --save directory, or no --resume", path, want)
	}
	if run := &r.Runs[0]; !run.Partial && run.Ended != load.EndedInterrupted && run.Ended != load.EndedServerLost { // others are made again
		r.NotRun = nil // the runs that its session did not make
		s.results[id] = r
	}
	return nil
}

func (s *Session) file(id runID) string { return filepath.Join(s.Save, id.String()+".json") }

// Run makes the missing runs, and returns the results of both sides. The runs of a round have the
// same seed. If Run fails or ctx ends, it returns the results so far.
func (s *Session) Run(ctx context.Context, sink runner.Sink) (base, changed []results.Result, err error) {
	p := s.Settings
	p.Subjects = nil
	for _, id := range s.missing {
		subject := s.Sides[id.side]
		subject.Variant = id.String()
		subject.Change = func(o *workloads.Options) { o.Seed += uint64(id.round) }
		p.Subjects = append(p.Subjects, subject)
	}
	made := runner.Result{}
	if len(s.missing) > 0 {
		made, err = runner.Run(ctx, p, sink, runner.Sink{Begin: s.begun, End: s.ended})
	}
	return s.sides(&made, err)
}

func (s *Session) begun(subject runner.Subject, _ func() runner.Progress) {
	s.current = subject.Variant
}

// ended saves the result of a run at once: the process may be killed during a later run.
func (s *Session) ended(j *results.Judged) {
	for _, id := range s.missing {
		if s.current == id.String() {
			one := runner.Result{Runs: []results.Judged{*j}}
			s.saveErr = cmp.Or(s.saveErr, s.save(id, one.Report()))
		}
	}
}

// sides splits the runs by side. It saves each again, with the runs that were not made and the
// self-check, which are known only at the end.
func (s *Session) sides(made *runner.Result, failed error) (base, changed []results.Result, err error) {
	var notRun []string
	if n := len(s.missing) - len(made.Runs); n > 0 {
		notRun = []string{fmt.Sprintf("%d of %d runs", n, 2*s.Rounds)}
	}
	errs := []error{failed, s.saveErr}
	for i := range made.Runs {
		one := runner.Result{Runs: made.Runs[i : i+1], NotRun: notRun, SelfCheck: made.SelfCheck}
		id := s.missing[i]
		s.results[id] = one.Report()
		if s.saveErr == nil {
			errs = append(errs, s.save(id, s.results[id]))
		}
	}
	both := [2][]results.Result{}
	for _, id := range schedule(s.Rounds) {
		if r := s.results[id]; r != nil {
			both[id.side] = append(both[id.side], *r)
		}
	}
	return both[0], both[1], errors.Join(errs...)
}

// save writes a result, unless no directory is given.
func (s *Session) save(id runID, r *results.Result) error {
	if s.Save == "" {
		return nil
	}
	return wholefile.Write(s.file(id), func(w io.Writer) error { return reports.Write(w, reports.JSON, r, reports.Options{}) })
}
