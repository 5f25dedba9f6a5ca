package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/bubble"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/reports"
)

// exploreSession explores the designs of a plan, several at a time, each scenario
// in a process of its own.
type exploreSession struct {
	explorePlan
	progress exploreProgress

	// By design, each filled in by the worker that explores it.
	runs   [][]reports.Explored
	notRun [][]string
}

// run explores until all is done or ctx ends. The error says why nothing can be
// explored at all; what happened to single designs is in the result.
func (s *exploreSession) run(ctx context.Context) (reports.Result, error) {
	s.runs, s.notRun = make([][]reports.Explored, len(s.designs)), make([][]string, len(s.designs))
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	defer s.progress.close()
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.NumCPU(), len(s.designs)) {
		workers.Go(func() {
			for i := range next {
				if err := s.one(ctx, i); err != nil {
					fail(err)
				}
			}
		})
	}
	for i := range s.designs {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return reports.Result{}, err
	}
	return s.result(), nil
}

func (s *exploreSession) result() reports.Result {
	var runs []reports.Explored
	var notRun []string
	for i := range s.designs {
		runs = append(runs, s.runs[i]...)
		notRun = append(notRun, s.notRun[i]...)
	}
	return reports.NewExploration(runs, notRun)
}

// one explores the i-th design in all scenarios. What one of them leaves of the
// budget goes to those after it.
func (s *exploreSession) one(ctx context.Context, i int) error {
	d, left := s.designs[i], s.config
	if ctx.Err() != nil {
		s.notRun[i] = append(s.notRun[i], d.Name)
		return nil
	}
	s.progress.begin(d.Name)
	for j, scenario := range s.scenarios {
		if ctx.Err() != nil {
			s.notRun[i] = append(s.notRun[i], d.Name+" "+scenario.Name)
			continue
		}
		began := time.Now()
		cfg := s.share(left, len(s.scenarios)-j)
		cfg.Design, cfg.Scenario = d, scenario.Name
		run, err := s.scenario(ctx, cfg)
		if err != nil {
			return err
		}
		if run.Lacks != "" && !s.named {
			continue
		}
		left.Schedules -= min(run.Coverage.Schedules, left.Schedules)
		left.Budget -= min(time.Since(began), left.Budget)
		s.runs[i] = append(s.runs[i], run)
	}
	s.progress.end(d.Name, s.runs[i])
	return nil
}

// share is what a scenario gets where so many are to share what is left. It is
// never zero, which would be no limit.
func (s *exploreSession) share(left explore.Config, among int) explore.Config {
	if s.config.Schedules > 0 {
		left.Schedules = max(1, left.Schedules/int64(among))
	}
	if s.config.Budget > 0 {
		left.Budget = max(time.Nanosecond, left.Budget/time.Duration(among))
	}
	return left
}

// scenario explores one design in one scenario. The error is of the set-up.
func (s *exploreSession) scenario(ctx context.Context, cfg explore.Config) (reports.Explored, error) {
	tell := func(p explore.Progress) { s.progress.tell(cfg.Design.Name, cfg.Scenario, p) }
	result, err := bubble.Run(ctx, bubble.Job{Config: cfg}, tell)
	run := explored(cfg, result)
	var failure *bubble.Failure
	var lacks *explore.LacksError
	switch {
	case err == nil:
	case errors.As(err, &failure):
		run.Err = err
	case errors.As(err, &lacks):
		run.Lacks = lacks.Ability
	default:
		return run, fmt.Errorf("%s: %s", cfg.Design.Name, strings.TrimPrefix(err.Error(), "explore: "))
	}
	return run, nil
}

// findDesign returns the design of that name, which may be the one that is broken on
// purpose.
func findDesign(name string) (design.Design, error) {
	if name == mutants.SelfCheckName {
		return mutants.SelfCheck("plain-del"), nil
	}
	found, err := impls.Match(name)
	if err != nil {
		return design.Design{}, err
	}
	return found[0], nil
}
