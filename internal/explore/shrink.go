package explore

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore/internal/shrink"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

// shrinkTries bounds the schedules that are run to shrink one.
const shrinkTries = 4000

// shrinkTime is the least real time for all shrinking in an exploration with a time budget.
// Shrinking may take half of the budget, or shrinkTime if that is longer, after the budget is
// spent.
const shrinkTime = 3 * time.Second / 2

// shrinkUntil returns the deadline for shrinking the next of the remaining failures. Each gets an
// equal share of the time.
func (x *explorer) shrinkUntil(left int) time.Duration {
	budget := x.limit.budget
	if budget == 0 {
		return 0
	}
	now := x.stopwatch.read()
	rest := max(0, budget+max(budget/2, shrinkTime)-now)
	return now + rest/time.Duration(left)
}

// shrink returns the smallest schedule found that breaks the cell of f. until is the limit in real
// time since the start of the exploration; zero is none.
func (x *explorer) shrink(f failure, until time.Duration) shrink.Candidate {
	stopped := func() bool { // the result is wanted now
		return x.limit.ctx.Err() != nil || time.Now().Year() >= lastYear || until > 0 && x.stopwatch.read() >= until
	}
	return shrink.Smallest(f.Candidate, shrinkTries, stopped, func(c shrink.Candidate) (shrink.Candidate, bool) {
		made, r, ok := x.attempt(c)
		if !ok {
			return c, false
		}
		x.keepNewFailure(f, shrink.Candidate{Cell: c.Cell, Scope: c.Scope, Choices: made}, r)
		cell, does := firstBroken(r, c.Cell, f.against)
		taken := !f.against && x.failures[cell].against // a violation that counts against the claims is shown for this cell instead
		return shrink.Candidate{Cell: cell, Scope: c.Scope, Choices: made}, does && !taken
	})
}

// keepNewFailure keeps a violation that counts against the claims and that shrinking another one
// led to.
func (x *explorer) keepNewFailure(from failure, c shrink.Candidate, r checker.Result) {
	shrunk := from.finding()
	for i := range r.Findings {
		f := &r.Findings[i]
		own := from.against && (c.Cell == f.Cell || checker.Explains(c.Cell, f.Cell, &shrunk, &f.Finding))
		if broken(f, true) && !own && !x.failures[f.Cell].against && !x.explained(f.Cell, true) {
			x.failures[f.Cell] = failure{shrink.Candidate{Cell: f.Cell, Scope: c.Scope, Choices: c.Choices}, true, from.schedule, from.elapsed}
		}
	}
}

// attempt runs a schedule that follows c. It returns the choices made, and the verdicts, valid
// until the next schedule; false if c cannot be run.
func (x *explorer) attempt(c shrink.Candidate) ([]strategy.Choice, checker.Result, bool) {
	defer x.progress()
	w, err := x.worldFor(c.Scope)
	if err != nil {
		return nil, checker.Result{}, false
	}
	follow := &strategy.Guided{Choices: c.Choices}
	follow.Begin()
	ended, err := w.run(follow)
	if err != nil || !ended && !follow.Halts() {
		w.end()
		return nil, checker.Result{}, false
	}
	err = w.finish()
	r := w.judged()
	made := slices.Clone(w.made)
	if follow.Halts() {
		made = append(made, strategy.Choice{Verb: strategy.VerbStop, Actor: strategy.NoActor})
	}
	w.end()
	return made, r, err == nil
}

// worldFor returns the world for a scope, which is made on first use.
func (x *explorer) worldFor(s shrink.Scope) (*world, error) {
	if s == x.world.cfg.scope() {
		return x.world, nil
	}
	for _, w := range x.smallerWorlds {
		if s == w.cfg.scope() {
			return w, nil
		}
	}
	w, err := newWorld(x.cfg.within(s), x.program, x.bubble, x.global)
	if err != nil {
		return nil, err
	}
	x.smallerWorlds = append(x.smallerWorlds, w)
	return w, w.warmUp()
}

// scope is the scope of the schedules of c.
func (c *Config) scope() shrink.Scope {
	return shrink.Scope{Clients: c.Clients, Threads: c.Threads, Rounds: c.Rounds}
}

// within is c with another scope.
func (c Config) within(s shrink.Scope) Config {
	c.Clients, c.Threads, c.Rounds = s.Clients, s.Threads, s.Rounds
	return c
}
