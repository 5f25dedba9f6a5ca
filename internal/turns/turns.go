package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/internal/results"
	"github.com/lockbench/lockbench/internal/wholefile"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// A Plan says which designs run, and how.
type Plan struct {
	// Of has the settings of all runs. Its subjects are ignored.
	Of runner.Plan
	// Sides are the base and the new design.
	Sides [2]runner.Subject
	// Rounds is the number of runs of each side.
	Rounds int
	// Save is the directory for the results, empty for none.
	Save string
	// Resume: results that are in Save count, and their runs are not made again.
	Resume bool
}

// A turn is one run of one side: 0 is the base, 1 the new one.
type turn struct{ side, round int }

func (t turn) String() string {
	return fmt.Sprintf("%s-%02d", [...]string{"base", "new"}[t.side], t.round)
}

// inTurns returns the turns; each side goes first every other round. The runs of a round have the
// same seed.
func inTurns(rounds int) (all []turn) {
	for i := range rounds {
		first := i % 2
		all = append(all, turn{first, i + 1}, turn{1 - first, i + 1})
	}
	return all
}

// A Session is a plan with its results so far.
type Session struct {
	Plan

	turns   []turn // to be run
	results map[turn]*results.Result
	now     string // the turn under way, as a subject's variant
	saved   error  // the first error of saving while the runs went on
}

// New makes the directory for the results of p and, if p resumes, loads those saved before.
func New(p Plan) (*Session, error) {
	s := &Session{Plan: p, results: map[turn]*results.Result{}}
	if p.Save != "" {
		if err := os.MkdirAll(p.Save, 0o755); err != nil {
			return nil, fmt.Errorf("--save: %w", err)
		}
	}
	for _, t := range inTurns(p.Rounds) {
		if p.Resume {
			if err := s.load(t); err != nil {
				return nil, err
			}
		}
		if s.results[t] == nil {
			s.turns = append(s.turns, t)
		}
	}
	return s, nil
}

// Runs returns the number of runs to make.
func (s *Session) Runs() int { return len(s.turns) }

// load loads the result of a turn, if it is saved.
func (s *Session) load(t turn) error {
	path := s.file(t)
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
	of := &s.Sides[t.side].Design
	if len(r.Runs) != 1 || r.Runs[0].Design != of.Name {
		return fmt.Errorf("%s is not of one run of %s; hint: another --save directory, or no --resume", path, of.Name)
	}
	if run := &r.Runs[0]; !run.Partial && run.Ended != load.EndedInterrupted && run.Ended != load.EndedServerLost { // else the run is made again
		r.NotRun = nil // as of the end of that session
		s.results[t] = r
	}
	return nil
}

func (s *Session) file(t turn) string { return filepath.Join(s.Save, t.String()+".json") }

// Run makes the missing runs, and returns the results of both sides; the last ones may be missing.
// Its error is about runs or files; the results so far come with it.
func (s *Session) Run(ctx context.Context, sink runner.Sink) (base, changed []results.Result, err error) {
	p := s.Of
	p.Subjects = nil
	for _, t := range s.turns {
		of := s.Sides[t.side]
		of.Variant = t.String()
		of.Change = func(o *workloads.Options) { o.Seed += uint64(t.round) }
		p.Subjects = append(p.Subjects, of)
	}
	came := runner.Result{}
	if len(s.turns) > 0 {
		came, err = runner.Run(ctx, p, sink, runner.Sink{Begin: s.begun, End: s.ended})
	}
	return s.sides(&came, err)
}

func (s *Session) begun(of runner.Subject, _ func() runner.Progress) { s.now = of.Variant }

// ended saves the result of a run at once, since a later run may be killed.
func (s *Session) ended(j *results.Judged) {
	for _, t := range s.turns {
		if s.now == t.String() {
			one := runner.Result{Runs: []results.Judged{*j}}
			s.saved = cmp.Or(s.saved, s.save(t, one.Report()))
		}
	}
}

// sides splits the runs by side, and saves each with the facts that are known only at the end.
func (s *Session) sides(came *runner.Result, failed error) (base, changed []results.Result, err error) {
	var missing []string
	if n := len(s.turns) - len(came.Runs); n > 0 {
		missing = []string{fmt.Sprintf("%d of %d runs", n, 2*s.Rounds)}
	}
	errs := []error{failed, s.saved}
	for i := range came.Runs {
		one := runner.Result{Runs: came.Runs[i : i+1], NotRun: missing, SelfCheck: came.SelfCheck}
		t := s.turns[i]
		s.results[t] = one.Report()
		if s.saved == nil {
			errs = append(errs, s.save(t, s.results[t]))
		}
	}
	both := [2][]results.Result{}
	for _, t := range inTurns(s.Rounds) {
		if r := s.results[t]; r != nil {
			both[t.side] = append(both[t.side], *r)
		}
	}
	return both[0], both[1], errors.Join(errs...)
}

// save writes a result if that was asked for.
func (s *Session) save(t turn, r *results.Result) error {
	if s.Save == "" {
		return nil
	}
	return wholefile.Write(s.file(t), func(w io.Writer) error { return reports.Write(w, reports.JSON, r, reports.Options{}) })
}
