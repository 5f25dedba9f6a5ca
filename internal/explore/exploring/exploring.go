// Package exploring explores designs, several at a time and each scenario in a process of its
// own, and converts the results into the form that package reports shows.
package exploring

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/results"
)

// A Sink receives the progress of an exploration. All functions must be set. They may be called by
// several goroutines at once.
type Sink struct {
	// Say receives a line of text for people.
	Say func(text string)
	// Begin receives a design when its exploration begins. Other designs may be under way.
	Begin func(design string)
	// SoFar receives the progress of a scenario of a design from time to time.
	SoFar func(design, scenario string, p explore.Progress)
	// End receives the results of a design.
	End func(design string, runs []results.Explored)
}

// A session is a plan that is being explored.
type session struct {
	Plan
	sink Sink

	// The results, by index of the design; the worker that explores a design sets its element.
	runs   [][]results.Explored
	notRun [][]string
}

// Run explores the designs of a plan, several at a time and each scenario in a process of its own,
// until all are done or ctx ends. It returns an error if nothing can be explored at all; failures
// of single designs are in the result.
func Run(ctx context.Context, p Plan, sink Sink) (results.Result, error) {
	s := &session{Plan: p, sink: sink, runs: make([][]results.Explored, len(p.Designs)), notRun: make([][]string, len(p.Designs))}
	if ctx.Err() == nil { // otherwise the interrupt was announced already
		defer context.AfterFunc(ctx, func() { sink.Say("interrupted: ending it in good order; once more aborts") })()
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range s.workers() {
		workers.Go(func() {
			for i := range next {
				if err := s.one(ctx, i); err != nil {
					fail(err)
				}
			}
		})
	}
	for i := range s.Designs {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return results.Result{}, err
	}
	return s.result(), nil
}

func (s *session) result() results.Result {
	var runs []results.Explored
	var notRun []string
	for i := range s.Designs {
		runs = append(runs, s.runs[i]...)
		notRun = append(notRun, s.notRun[i]...)
	}
	return results.NewExploration(runs, notRun)
}

// one explores the i-th design in all scenarios. Budget that one scenario leaves over goes to the
// later ones.
func (s *session) one(ctx context.Context, i int) error {
	d, left := s.Designs[i], s.Config
	if ctx.Err() != nil {
		s.notRun[i] = append(s.notRun[i], d.Name)
		return nil
	}
	s.sink.Begin(d.Name)
	for j, scenario := range s.Scenarios {
		if ctx.Err() != nil {
			s.notRun[i] = append(s.notRun[i], d.Name+" "+scenario.Name)
			continue
		}
		began := time.Now()
		cfg := s.share(left, len(s.Scenarios)-j)
		cfg.Design, cfg.Scenario = d, scenario.Name
		cfg.Clients = max(cfg.Clients, scenario.Exploration.Clients) // a replay may have fewer
		run, err := s.scenario(ctx, cfg)
		if err != nil {
			return err
		}
		if run.Lacks != "" && !s.Named {
			continue
		}
		left.Schedules -= min(run.Coverage.Schedules, left.Schedules)
		left.Budget -= min(time.Since(began), left.Budget)
		s.runs[i] = append(s.runs[i], run)
	}
	s.sink.End(d.Name, s.runs[i])
	return nil
}

// share returns the settings for the next of several scenarios among which the budget in left is
// divided. No budget becomes zero, which would mean no limit.
func (s *session) share(left explore.Config, among int) explore.Config {
	if s.Config.Schedules > 0 {
		left.Schedules = max(1, left.Schedules/int64(among))
	}
	if s.Config.Budget > 0 {
		left.Budget = max(time.Nanosecond, left.Budget/time.Duration(among))
	}
	return left
}

// scenario explores one design in one scenario. It returns an error if the set-up failed.
func (s *session) scenario(ctx context.Context, cfg explore.Config) (results.Explored, error) {
	soFar := func(p explore.Progress) { s.sink.SoFar(cfg.Design.Name, cfg.Scenario, p) }
	result, err := bubble.Run(ctx, bubble.Job{Config: cfg}, soFar)
	run := Explored(cfg, result)
	var failure *bubble.Failure
	var lacks *explore.LacksError
	switch {
	case err == nil:
	case errors.As(err, &failure):
		run.Err = err
	case errors.As(err, &lacks):
		run.Lacks = string(lacks.Ability)
	default:
		return run, fmt.Errorf("%s: %s", cfg.Design.Name, strings.TrimPrefix(err.Error(), "explore: "))
	}
	return run, nil
}
