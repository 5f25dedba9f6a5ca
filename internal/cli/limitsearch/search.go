// Package limitsearch searches for a limit of a design: the highest rate of arrivals, or the
// shortest lease, that is still safe. Package limits chooses the value of each trial; this package
// makes a run with that value and judges it.
package limitsearch

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// A Search is a search for a limit by trials.
type Search struct {
	// Say receives a line of text on each trial.
	Say func(format string, args ...any)
	// Budget is the time for all trials and the self-check, zero if it is unlimited. When it is nearly
	// over, the search only confirms what it has.
	Budget time.Duration

	limit results.LimitSearch
	steps *limits.Search
	// change sets the value to try, name formats it.
	change func(*workloads.Options, float64)
	name   func(float64) string
	// judge returns the outcome of a trial and, unless it held, the missed condition.
	judge func(j *results.Judged, t *results.LimitTrial) (limits.Outcome, string)
	// still reports whether standstills alone may explain the missed condition.
	still func(j *results.Judged, t *results.LimitTrial) bool
	// again is the number of times that the value was repeated because of standstills.
	again int
	// begun reports whether there was a trial; value is its value.
	begun bool
	value float64
	// clients is the number of clients in each trial.
	clients int64
	// started is when the search began, at when the current trial began, and longest the time of the
	// longest trial.
	started, at time.Time
	longest     time.Duration
}

// Run makes the trials, with the only subject of the plan.
func (s *Search) Run(ctx context.Context, p runner.Plan, sinks ...runner.Sink) (results.LimitSearch, error) {
	of := p.Subjects[0]
	o, err := p.Workload.Options(p.Options)
	if err != nil {
		return s.limit, err
	}
	s.clients = int64(o.Clients)
	p.Next = func(came *runner.Result) (runner.Subject, bool) { return s.next(of, came) }
	p.SelfCheckAt = s.found
	result, err := runner.Run(ctx, p, sinks...)
	if err == nil {
		err = firstError(result.Runs)
	}
	s.limit.SelfCheck = result.SelfCheck
	s.limit.Settle(s.steps.Result())
	return s.limit, err
}

// firstError returns the first error that prevented a trial.
func firstError(runs []results.Judged) error {
	for i := range runs {
		if err := runs[i].Err; err != nil {
			return fmt.Errorf("trial %d: %w", i+1, err)
		}
	}
	return nil
}

// next records the outcome of the last trial and returns the subject of the next one.
func (s *Search) next(of runner.Subject, came *runner.Result) (runner.Subject, bool) {
	n := len(came.Runs)
	if s.begun && !s.take(came) {
		return runner.Subject{}, false
	}
	s.hurry(time.Now())
	v, ok := s.steps.Next()
	if !ok {
		return runner.Subject{}, false
	}
	s.begun, s.value = true, v
	of.Variant = fmt.Sprintf("%s (trial %d)", s.name(v), n+1)
	of.Change = func(o *workloads.Options) {
		s.change(o, v)
		o.Seed += uint64(n) // repetitions must differ
	}
	return of, true
}

// reserved is the number of trials that there must be time for: the next one, the confirmation and
// the self-check.
const reserved = 3

// hurry takes note of the time, and has the search finish if that is nearly over.
func (s *Search) hurry(now time.Time) {
	if s.started.IsZero() {
		s.started = now
	} else {
		s.longest = max(s.longest, now.Sub(s.at))
	}
	s.at = now
	if s.Budget > 0 && s.Budget-now.Sub(s.started) < reserved*s.longest {
		s.steps.Finish()
	}
}

// soFar describes what is known, and the time that is left.
func (s *Search) soFar() string {
	text := ""
	if r := s.steps.Result(); r.Limit > 0 {
		text = "; so far " + s.name(r.Limit)
	}
	if s.Budget > 0 {
		text += fmt.Sprintf("; %v left at most", max(0, s.Budget-time.Since(s.started)).Round(time.Second))
	}
	return text
}

// found sets the options of the self-check to the limit that was found.
func (s *Search) found(o *workloads.Options) {
	if r := s.steps.Result(); r.Limit > 0 {
		s.change(o, r.Limit)
	}
}

// take records the outcome of the last trial. It returns false if there was none, or if it failed.
func (s *Search) take(came *runner.Result) bool {
	if len(came.Runs) != len(s.limit.Trials)+1 {
		return false
	}
	j := &came.Runs[len(came.Runs)-1]
	if len(s.limit.Trials) == 0 {
		s.describe(j)
	}
	if j.Err != nil || j.End.Trailer.Ended == load.EndedInterrupted {
		return false
	}
	t := results.NewLimitTrial(s.value, j)
	t.Outcome, t.Why = s.judge(j, &t)
	if not := results.ServerProblem(j); not != "" {
		t.Outcome, t.Why = limits.Unable, not
	}
	broken := t.Broken()
	stood := t.Outcome != limits.Holds && len(broken) == 0 && s.still(j, &t)
	switch still := j.Verdicts.Standstills; {
	case len(broken) > 0:
		t.Outcome, t.Why = limits.Fails, fmt.Sprintf("%s was broken", broken[0])
	case stood:
		t.Outcome = limits.Unable
		t.Why = fmt.Sprintf("lockbench or its server stood still for %s in %s", figures.Compact(int64(still.For)), figures.Plural(still.Times, "standstill"))
	}
	s.limit.Trials = append(s.limit.Trials, t)
	s.report(t.Outcome, stood)
	s.Say("  %s: %s %s%s", s.name(s.value), t.Outcome, t.Why, s.soFar())
	return true
}

// mostAgain is the largest number of repetitions of a value because of standstills.
const mostAgain = 3

// report reports the outcome of a trial to the search, unless standstills may explain it and the
// trial is repeated.
func (s *Search) report(came limits.Outcome, stood bool) {
	if s.again++; stood && s.again <= mostAgain {
		return
	}
	s.again = 0
	s.steps.Report(came)
}

// describe copies the properties that all trials share from a run.
func (s *Search) describe(j *results.Judged) {
	l := &s.limit
	l.Design, l.Workload, l.Params, l.Seed = j.Header.Design, j.Header.Workload, j.Header.Params, j.Header.Seed
	l.Server, l.Environment = j.Header.Server, j.Header.Environment
}
