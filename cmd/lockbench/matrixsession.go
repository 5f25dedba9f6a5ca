package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/thresholds"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// matrixSession finds out what a matrix lacks, part by part.
type matrixSession struct {
	options  matrixOptions
	designs  []design.Design
	progress *matrixProgress
	// files are where the matrix is written as it goes.
	files []string

	gates  []thresholds.Threshold
	matrix reports.Matrix
	live   []livePart
	load   workloads.Options // of live runs
	began  time.Time
	failed error // of writing the matrix on the way
}

// plan decides which parts there are, beside those that a file has already, and makes
// a row for each design that has none.
func (s *matrixSession) plan() {
	m := &s.matrix
	s.load = liveOptions(s.options.seed)
	had := m.Settings.Parts
	m.Settings.Parts, m.Notes = nil, nil
	if slices.Contains(s.options.drivers, driverLive) {
		fitting := len(liveFitting(s.options.budget, len(s.designs)+1))
		var left []livePart
		for i, p := range liveParts() {
			if i >= fitting && !slices.Contains(had, p.name) {
				left = append(left, p)
				continue
			}
			s.live = append(s.live, p)
			m.Settings.Parts = append(m.Settings.Parts, p.name)
		}
		if len(left) > 0 {
			m.Notes = append(m.Notes, fmt.Sprintf("the budget of %v is too short for %s", s.options.budget, partNames(left)))
		}
	}
	if slices.Contains(s.options.drivers, driverExplore) {
		m.Settings.Parts = append(m.Settings.Parts, partExplore)
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

func partNames(parts []livePart) string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// newRow is the row of a design of which nothing is known.
func newRow(d design.Design) reports.MatrixRow {
	r := reports.MatrixRow{Design: d.Name, Source: d.Source, Library: d.Library, Claims: d.Claims}
	if err := d.Explorable(); err != nil {
		why, _, _ := strings.Cut(err.Error(), "; hint: ")
		_, why, _ = strings.Cut(why, "cannot be explored: ")
		r.Without = append(r.Without, reports.MatrixOmission{Part: partExplore, Why: why})
	}
	return r
}

// judgeBy has the matrix judged by thresholds, too.
func (s *matrixSession) judgeBy(o *gateOptions) (err error) {
	if s.gates, err = o.thresholds(thresholds.Explored); err != nil {
		return err
	}
	return inScope(s.gates, namesOf(s.designs))
}

// run does what is missing, live runs first. The error is of the set-up; what is
// found out is in s.matrix.
func (s *matrixSession) run(ctx context.Context) error {
	s.began = time.Now()
	defer s.progress.close()
	if !s.options.unlimited() {
		s.progress.deadline = s.began.Add(s.options.budget)
	}
	s.progress.total = s.missing()
	for i, p := range s.live {
		if err := s.runLive(ctx, p); err != nil && i == 0 {
			return err
		} else if err != nil {
			s.leaveOut(p.name, err)
		}
	}
	if slices.Contains(s.matrix.Settings.Parts, partExplore) {
		if err := s.explore(ctx); err != nil {
			return err
		}
	}
	s.save()
	return s.failed
}

// unlimited tells whether the exploration, and so all, takes as long as it takes.
func (o *matrixOptions) unlimited() bool {
	return o.schedules > 0 && slices.Contains(o.drivers, driverExplore)
}

// missing is how many parts are to be done.
func (s *matrixSession) missing() int {
	n := 0
	for _, p := range s.matrix.Settings.Parts {
		n += len(s.lacking(p))
	}
	return n
}

// lacking are the designs of which a part is to be done, the broken one first: always,
// when there is any.
func (s *matrixSession) lacking(part string) []design.Design {
	var found []design.Design
	for _, d := range s.designs {
		if r := s.matrix.Row(d.Name); !r.Has(part) && (part != partExplore || d.Explorable() == nil) {
			found = append(found, d)
		}
	}
	if len(found) > 0 && !s.matrix.SelfCheck.Has(part) {
		found = slices.Insert(found, 0, mutants.SelfCheck("plain-del"))
	}
	return found
}

// row is where what is found of a design goes.
func (s *matrixSession) row(name string) *reports.MatrixRow {
	if name == mutants.SelfCheckName {
		return &s.matrix.SelfCheck
	}
	return s.matrix.Row(name)
}

// leaveOut takes a part that cannot be done out of the plan, and says why.
func (s *matrixSession) leaveOut(part string, err error) {
	why, _, _ := strings.Cut(err.Error(), "; hint: ")
	s.matrix.Notes = append(s.matrix.Notes, fmt.Sprintf("%s was left out: %s", part, why))
	s.matrix.Settings.Parts = slices.DeleteFunc(s.matrix.Settings.Parts, func(p string) bool { return p == part })
}

// save settles the matrix and writes it where it is to be, in one step.
func (s *matrixSession) save() {
	s.matrix.Settle()
	s.matrix.Gate(s.gates)
	for _, path := range s.files {
		if path == toStdout {
			continue
		}
		if err := replaceFile(path, func(f *os.File) error { return reports.MatrixJSON(f, s.matrix) }); err != nil && s.failed == nil {
			s.failed = err
		}
	}
}

// replaceFile writes a file that is either as before or whole, at any time.
func replaceFile(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".lockbench-")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// runLive makes a live run of every design that lacks it.
func (s *matrixSession) runLive(ctx context.Context, p livePart) error {
	designs := s.lacking(p.name)
	if len(designs) == 0 || ctx.Err() != nil {
		return nil
	}
	dir, kept, err := s.histories(p.name)
	if err != nil {
		return err
	}
	plan := runner.Plan{Workload: workloads.Oversell(), Options: s.load, Faults: p.faults, Servers: s.options.redis, History: dir}
	for _, d := range designs {
		plan.Subjects = append(plan.Subjects, runner.Subject{Design: d, Optional: true})
	}
	live := matrixLive{matrixProgress: s.progress, session: s, part: p, ctx: ctx, kept: kept}
	_, err = runner.Run(ctx, plan, live.sink())
	if !kept {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// histories is where those of a part are written, and whether they are kept.
func (s *matrixSession) histories(part string) (dir string, kept bool, err error) {
	if s.options.history == "" {
		if dir, err = os.MkdirTemp("", "lockbench-"); err != nil {
			err = fmt.Errorf("no place for histories: %w; hint: --history DIR", err)
		}
		return dir, false, err
	}
	return filepath.Join(s.options.history, reports.FileName(part)), true, nil
}

// explore explores every design that lacks it, several at a time, in what is left of
// the budget.
func (s *matrixSession) explore(ctx context.Context) error {
	designs := s.lacking(partExplore)
	if len(designs) == 0 || ctx.Err() != nil {
		return nil
	}
	defer sayInterrupted(ctx, s.progress.say)()
	e := &exploreSession{explorePlan: explorePlan{designs: designs, config: s.exploreConfig(len(designs))}}
	e.progress = &matrixExplored{matrixProgress: s.progress, session: s, config: e.config, ctx: ctx}
	if err := e.choose(nil); err != nil {
		return err
	}
	_, err := e.run(ctx)
	return err
}

// exploreConfig is that of each of so many designs.
func (s *matrixSession) exploreConfig(designs int) explore.Config {
	c := newExploreOptions().config
	c.Seed, c.Schedules, c.Budget = s.options.seed, s.options.schedules, 0
	if c.Schedules == 0 {
		left := max(s.options.budget-time.Since(s.began), time.Second)
		c.Budget = left * time.Duration(min(runtime.NumCPU(), designs)) / time.Duration(designs)
	}
	return c
}
