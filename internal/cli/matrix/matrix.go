// Package matrix tests which designs keep which guarantees: by live runs, with and without faults,
// and by exploration. It works part by part: a part is one kind of run of every design. After each
// part it writes the matrix, so that an interrupted session can be resumed.
package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/internal/evidence"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/lib/wholefile"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// Settings are the settings of a matrix.
type Settings struct {
	// Budget is the time for the whole matrix. Schedules is the number of schedules to explore of
	// each design; zero is as many as the budget allows.
	Budget    time.Duration
	Schedules int64
	// Drivers are [Live], [Explore] or both.
	Drivers []string
	// Servers are the URLs for live runs, see [runner.Plan].
	Servers []string
	// Seed determines all random choices.
	Seed uint64
	// History is the directory that keeps the histories of live runs; empty keeps none.
	History string
	// Load has the options of live runs, and Length is the time of each. Scope has the settings of
	// explorations.
	Load   workloads.Options
	Length time.Duration
	Scope  explore.Config
}

// A Session makes the missing parts of a matrix, one after the other.
type Session struct {
	Settings
	Matrix results.Matrix
	// Files are the paths to which the matrix is written after each part.
	Files []string
	// Gates are additional thresholds for the matrix.
	Gates []thresholds.Threshold

	designs  []design.Design
	progress *progress.Parts
	live     []livePart
	began    time.Time
	failed   error // error of writing the matrix
}

// New returns a session that makes a new matrix of these designs.
func New(settings Settings, designs []design.Design, shown *progress.Parts) *Session {
	s := &Session{
		Settings: settings, designs: designs, progress: shown,
		Matrix: results.Matrix{
			Environment: exploring.Environment(),
			Settings: results.MatrixSettings{
				Seed: settings.Seed, BudgetNS: int64(settings.Budget), Schedules: settings.Schedules, Drivers: settings.Drivers,
			},
		},
	}
	s.Load.Seed = settings.Seed
	s.plan()
	return s
}

// Resume returns a session that makes the missing parts of m, for the designs of m and for those in
// added. It uses the seed and the number of schedules of m. Rows are in the order of the catalogue.
// Resume returns an error if the code of a design has changed since m was made.
func Resume(settings Settings, m results.Matrix, added []design.Design, shown *progress.Parts) (*Session, error) {
	settings.Seed, settings.Schedules = m.Settings.Seed, m.Settings.Schedules
	s := &Session{Settings: settings, designs: added, progress: shown, Matrix: m}
	s.Load.Seed = settings.Seed
	for _, d := range impls.All() {
		known := slices.ContainsFunc(added, func(a design.Design) bool { return a.Name == d.Name })
		if m.Row(d.Name) != nil && !known {
			s.designs = append(s.designs, d)
		}
	}
	for _, d := range s.designs {
		if err := unchanged(d, m.Row(d.Name)); err != nil {
			return nil, err
		}
	}
	s.plan()
	names := impls.Names()
	place := func(r results.MatrixRow) int {
		if i := slices.Index(names, r.Design); i >= 0 {
			return i
		}
		return len(names) // a lock of the user's own comes last, as in a new matrix
	}
	slices.SortStableFunc(s.Matrix.Rows, func(a, b results.MatrixRow) int { return place(a) - place(b) })
	return s, nil
}

// unchanged returns an error if a row was made with another version of the design.
func unchanged(d design.Design, r *results.MatrixRow) error {
	switch {
	case r == nil:
		return nil
	case r.Library != d.Library:
		return fmt.Errorf("%s was %s, and is %s now; hint: begin anew, without --resume", d.Name, r.Library, d.Library)
	case r.Version != impls.Version(d.Name):
		return fmt.Errorf("the code of %s is not what it was (version %s, now %s); hint: begin anew, without --resume", d.Name, r.Version, impls.Version(d.Name))
	case !slices.Equal(r.Claims.Terms(), d.Claims.Terms()):
		return fmt.Errorf("%s claims something else by now; hint: begin anew, without --resume", d.Name)
	}
	return nil
}

// plan chooses the parts, in addition to those that the matrix has already, and adds a row for each
// design without one.
func (s *Session) plan() {
	m := &s.Matrix
	had := m.Settings.Parts
	m.Settings.Parts, m.Notes = nil, nil
	if slices.Contains(s.Drivers, Live) {
		n := s.affordable(s.runs())
		var left []livePart
		for i, p := range liveParts() {
			if i >= n && !slices.Contains(had, p.name) {
				left = append(left, p)
				continue
			}
			s.live = append(s.live, p)
			m.Settings.Parts = append(m.Settings.Parts, p.name)
		}
		if len(left) > 0 {
			m.Notes = append(m.Notes, fmt.Sprintf("the budget of %v is too short for %s", s.Budget, partNames(left)))
		}
	}
	if slices.Contains(s.Drivers, Explore) {
		m.Settings.Parts = append(m.Settings.Parts, Explore)
	}
	if m.SelfCheck.Design == "" {
		m.SelfCheck = newRow(mutants.SelfCheck("plain-del"))
	}
	for _, d := range s.designs {
		if m.Row(d.Name) == nil {
			m.Rows = append(m.Rows, newRow(d))
		}
	}
}

// runs returns the duration of all runs of a part, self-check included, in runs of the usual
// length.
func (s *Session) runs() int {
	n := 1
	for i := range s.designs {
		n += int(lengthFactor(&s.designs[i]))
	}
	return n
}

func partNames(parts []livePart) string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// newRow returns the row of a design without any part.
func newRow(d design.Design) results.MatrixRow {
	r := results.MatrixRow{Design: d.Name, Source: d.Source, Library: d.Library, Version: impls.Version(d.Name), Claims: d.Claims}
	if err := d.Explorable(); err != nil {
		why, _, _ := strings.Cut(err.Error(), "; hint: ")
		_, why, _ = strings.Cut(why, "cannot be explored: ")
		r.Without = append(r.Without, results.MatrixOmission{Part: Explore, Why: why})
	}
	for _, p := range liveParts() {
		if _, has := p.forDesign(d); !has {
			r.Without = append(r.Without, results.MatrixOmission{Part: p.name, Why: "its faults cannot be injected into the design's service"})
		}
	}
	return r
}

// Run makes the missing parts, live runs first. It returns an error if the set-up failed; findings
// are in s.Matrix.
func (s *Session) Run(ctx context.Context) error {
	s.began = time.Now()
	defer s.progress.Close()
	if !s.unlimited() {
		s.progress.Deadline = s.began.Add(s.Budget)
	}
	s.progress.Total = s.undoneCount()
	for i, p := range s.live {
		if err := s.runLive(ctx, p); err != nil && i == 0 {
			return err
		} else if err != nil {
			s.leaveOut(p.name, err)
		}
	}
	var err error
	if slices.Contains(s.Matrix.Settings.Parts, Explore) {
		err = s.explore(ctx)
	}
	s.save()
	return errors.Join(err, s.failed)
}

// unlimited reports whether the exploration, and so the matrix, has no time limit.
func (s *Settings) unlimited() bool {
	return s.Schedules > 0 && slices.Contains(s.Drivers, Explore)
}

// undoneCount returns the number of parts, over all designs, that are still missing.
func (s *Session) undoneCount() int {
	n := 0
	for _, p := range s.Matrix.Settings.Parts {
		n += len(s.undone(p))
	}
	return n
}

// undone returns the designs that still lack part. If there is any, the lock broken on purpose
// comes first, unless its own part is done.
func (s *Session) undone(part string) []design.Design {
	var found []design.Design
	for _, d := range s.designs {
		if r := s.Matrix.Row(d.Name); !r.Has(part) && !slices.ContainsFunc(r.Without, func(o results.MatrixOmission) bool { return o.Part == part }) {
			found = append(found, d)
		}
	}
	if len(found) > 0 && !s.Matrix.SelfCheck.Has(part) {
		found = slices.Insert(found, 0, mutants.SelfCheck("plain-del"))
	}
	return found
}

// row returns the row of a design, or of the lock broken on purpose.
func (s *Session) row(name string) *results.MatrixRow {
	if name == mutants.SelfCheckName {
		return &s.Matrix.SelfCheck
	}
	return s.Matrix.Row(name)
}

// leaveOut removes a part that cannot be made from the plan, and adds a note with the reason.
func (s *Session) leaveOut(part string, err error) {
	why, _, _ := strings.Cut(err.Error(), "; hint: ")
	s.Matrix.Notes = append(s.Matrix.Notes, fmt.Sprintf("%s was left out: %s", part, why))
	s.Matrix.Settings.Parts = slices.DeleteFunc(s.Matrix.Settings.Parts, func(p string) bool { return p == part })
}

// save settles the matrix and replaces each file atomically.
func (s *Session) save() {
	s.Matrix.Settle()
	evidence.ConcludeMatrix(&s.Matrix, s.designs)
	s.Matrix.Gate(s.Gates)
	for _, path := range s.Files {
		if path == "-" {
			continue
		}
		if err := wholefile.Write(path, func(f io.Writer) error { return reports.Write(f, reports.JSON, &s.Matrix, reports.Options{}) }); err != nil && s.failed == nil {
			s.failed = err
		}
	}
}

// runLive makes a live run of every design that lacks this part.
func (s *Session) runLive(ctx context.Context, p livePart) error {
	designs := s.undone(p.name)
	if len(designs) == 0 || ctx.Err() != nil {
		return nil
	}
	dir, temporary, err := s.histories(p.name)
	if err != nil {
		return err
	}
	for len(designs) > 0 && err == nil { // run designs with the same faults together
		its, _ := p.forDesign(designs[0])
		plan := runner.Plan{Workload: workloads.Must("oversell"), Options: s.Load, Faults: its.faults, Servers: s.Servers, History: dir}
		for len(designs) > 0 {
			next, _ := p.forDesign(designs[0])
			if !slices.Equal(next.faults, its.faults) {
				break
			}
			plan.Subjects = append(plan.Subjects, its.subject(designs[0]))
			designs = designs[1:]
		}
		_, err = runner.Run(ctx, plan, s.liveSink(ctx, its, temporary == nil))
	}
	if temporary != nil {
		err = errors.Join(err, temporary.Remove())
	}
	return err
}

// histories returns the directory for the histories of a part, a temporary one unless they are
// kept.
func (s *Session) histories(part string) (dir string, temporary *tempdir.Dir, err error) {
	if s.History != "" {
		return filepath.Join(s.History, results.FileName(part)), nil, nil
	}
	if temporary, err = tempdir.Fresh(); err != nil {
		return "", nil, fmt.Errorf("no place for histories: %w; hint: --history DIR", err)
	}
	return temporary.Path, temporary, nil
}

// explore explores every design that lacks this part, several at a time, in the rest of the budget.
func (s *Session) explore(ctx context.Context) error {
	designs := s.undone(Explore)
	if len(designs) == 0 || ctx.Err() != nil {
		return nil
	}
	p := exploring.Plan{Designs: designs, Config: s.config(len(designs))}
	if err := p.Choose(nil); err != nil {
		return err
	}
	_, err := exploring.Run(ctx, p, s.exploreSink(ctx, p.Config))
	return err
}

// config returns the settings for the exploration of each of a number of designs.
func (s *Session) config(designs int) explore.Config {
	c := s.Scope
	c.Seed, c.Schedules, c.Budget = s.Seed, s.Schedules, 0
	if c.Schedules == 0 {
		left := max(s.Budget-time.Since(s.began), time.Second)
		c.Budget = left * time.Duration(min(runtime.NumCPU(), designs)) / time.Duration(designs)
	}
	return c
}
