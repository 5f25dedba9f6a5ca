package explore

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/explore/internal/strategy"
)

// A shrinker makes the schedule that broke a cell as small as it can, by running what
// is left when parts are taken away. Conditions may go with them, and none may come. It
// tries the same things in the same order every time.
type shrinker struct {
	explorer *explorer
	failure  failure
	left     int           // tries
	until    time.Duration // real time since the start of the exploration; zero: no limit
	best     candidate
}

// A candidate is a schedule to try: a configuration and the choices wished for.
// After it was run these are the choices made, and cell is what they broke.
type candidate struct {
	cell    lockbench.Cell
	cfg     Config
	choices []strategy.Choice
}

// shrinkTries bounds the schedules run to shrink one.
const shrinkTries = 4000

// shrinkTime is the least that all shrinking together may take of real time, where
// time is limited; else it is half of the budget on top of it.
const shrinkTime = 3 * time.Second / 2

// shrinkUntil is when to be done with the next of so many failures, each having an
// equal part of the time.
func (x *explorer) shrinkUntil(left int) time.Duration {
	budget := x.limit.budget
	if budget == 0 {
		return 0
	}
	now := x.watch.read()
	rest := max(0, budget+max(budget/2, shrinkTime)-now)
	return now + rest/time.Duration(left)
}

// stopped reports whether to try no more: what was found is wanted now.
func (s *shrinker) stopped() bool {
	x := s.explorer
	return x.limit.ctx.Err() != nil || time.Now().Year() >= lastYear || s.until > 0 && x.watch.read() >= s.until
}

// cost orders schedules, the dearest thing first.
func (c candidate) cost() [8]int {
	var faults, moves, steps, switches int
	last := strategy.NoActor
	for _, made := range c.choices {
		f, m := made.Cost()
		faults, moves = faults+f, moves+m
		if made.Verb == strategy.VerbStop || made.Verb == strategy.VerbBegin || made.Verb == strategy.VerbWait {
			continue
		}
		steps++
		if made.Actor != strategy.NoActor && made.Actor != last {
			switches++
			last = made.Actor
		}
	}
	return [8]int{faults, moves, c.cell.Under.Count(), c.cfg.Clients, steps, c.cfg.Rounds, switches, len(c.choices)}
}

// shrink returns the smallest schedule found that breaks what f breaks, done by then.
func (x *explorer) shrink(f failure, until time.Duration) candidate {
	s := &shrinker{explorer: x, failure: f, left: shrinkTries, until: until, best: f.candidate}
	for {
		before := s.best.cost()
		s.stopEarly()
		s.withoutDeviations()
		s.onlyTime()
		s.fewerClients()
		s.fewerRounds()
		s.withoutCommands()
		s.reorder()
		if s.best.cost() == before || s.left <= 0 || s.stopped() {
			return s.best
		}
	}
}

// try runs what is left of the best so far and keeps it if it still breaks its cell, or
// the guarantee under fewer of the conditions, and is smaller.
func (s *shrinker) try(cfg Config, choices []strategy.Choice) bool {
	if s.left--; s.left < 0 || s.stopped() {
		return false
	}
	made, r, ok := s.explorer.attempt(candidate{s.best.cell, cfg, choices})
	if !ok {
		return false
	}
	s.turnUp(cfg, made, r)
	cell, does := breaks(r, s.best.cell, s.failure.against)
	c := candidate{cell, cfg, made}
	now, best := c.cost(), s.best.cost()
	taken := !s.failure.against && s.explorer.found[cell].against // that cell is shown by what counts
	if !does || taken || slices.Compare(now[:], best[:]) >= 0 {
		return false
	}
	s.best = c
	return true
}

// turnUp keeps what counts against the claims and was not found before: to shrink what
// does not count may lead to it, and is not to hide it.
func (s *shrinker) turnUp(cfg Config, made []strategy.Choice, r checker.Result) {
	for i := range r.Findings {
		f := &r.Findings[i]
		own := s.failure.against && explains(s.best.cell, f.Cell)
		if broken(f, true) && !own && !s.explorer.explained(f.Cell, true, true) {
			s.explorer.found[f.Cell] = failure{candidate{f.Cell, cfg, made}, true, s.failure.at, s.failure.after}
		}
	}
}

// attempt runs a schedule that follows c. It returns the choices made and what is found of
// them until the next schedule, and false where it cannot be run.
func (x *explorer) attempt(c candidate) ([]strategy.Choice, checker.Result, bool) {
	w, err := x.worldFor(c.cfg)
	if err != nil {
		return nil, checker.Result{}, false
	}
	follow := &strategy.Guided{Wishes: c.choices}
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

// stopEarly ends the schedule as soon as what it shows has happened.
func (s *shrinker) stopEarly() {
	choices := s.best.choices
	for n := 1; n < len(choices); n++ {
		short := append(slices.Clone(choices[:n]), strategy.Choice{Verb: strategy.VerbStop, Actor: strategy.NoActor})
		if s.try(s.best.cfg, short) {
			return
		}
	}
}

// withoutDeviations leaves out faults and moves of time.
func (s *shrinker) withoutDeviations() {
	for i := len(s.best.choices) - 1; i >= 0; i-- {
		if i < len(s.best.choices) && !s.best.choices[i].Plain() {
			s.try(s.best.cfg, slices.Delete(slices.Clone(s.best.choices), i, i+1))
		}
	}
}

// onlyTime has time pass where a client paused.
func (s *shrinker) onlyTime() {
	for i, c := range s.best.choices {
		if c.Verb != strategy.VerbPause {
			continue
		}
		for nth := range 6 { // the edges of three leases
			passing := slices.Clone(s.best.choices)
			passing[i] = strategy.Choice{Verb: strategy.VerbMove, Actor: strategy.NoActor, Nth: nth}
			if s.try(s.best.cfg, passing) {
				return
			}
		}
	}
}

// chunks are how many steps of an actor are left out at once: rounds of a lock that
// works by transactions have a dozen, or nine.
var chunks = [...]int{12, 9, 6, 5, 4, 3, 2, 1}

// withoutCommands leaves out what an actor does, several steps at first: a whole
// round is needed more seldom than one command of it.
func (s *shrinker) withoutCommands() {
	for _, size := range chunks {
		for i := len(s.best.choices) - 1; i >= 0; i-- {
			if i < len(s.best.choices) && s.best.choices[i].Verb == strategy.VerbRun {
				s.try(s.best.cfg, s.best.chunk(i, size))
			}
		}
	}
}

// chunk is the choices of c without one and those next before it of the same actor,
// size in all.
func (c candidate) chunk(i, size int) []strategy.Choice {
	actor := c.choices[i].Actor
	kept := slices.Clone(c.choices)
	for ; i >= 0 && size > 0; i-- {
		if kept[i].Verb == strategy.VerbRun && kept[i].Actor == actor {
			kept = slices.Delete(kept, i, i+1)
			size--
		}
	}
	return kept
}

// fewerClients leaves out clients.
func (s *shrinker) fewerClients() {
	for client := s.best.cfg.Clients - 1; client >= 0 && s.best.cfg.Clients > 1; client-- {
		s.try(s.best.drop(client))
	}
}

// drop is c without a client, those after it moved up.
func (c candidate) drop(client int) (Config, []strategy.Choice) {
	fewer := c.cfg
	fewer.Clients--
	processes := func(cfg Config) int { return (cfg.Clients + cfg.Threads - 1) / cfg.Threads }
	var choices []strategy.Choice
	for _, made := range c.choices {
		switch {
		case made.Actor == strategy.NoActor, made.Actor < client:
		case made.Actor == client:
			continue
		case made.Actor < c.cfg.Clients:
			made.Actor--
		default: // the background of a process
			process := made.Actor - c.cfg.Clients
			if fewer.Threads == 1 && process > client {
				process--
			}
			if fewer.Threads == 1 && made.Actor-c.cfg.Clients == client || process >= processes(fewer) {
				continue
			}
			made.Actor = fewer.Clients + process
		}
		choices = append(choices, made)
	}
	return fewer, choices
}

// fewerRounds has clients go through the program less often.
func (s *shrinker) fewerRounds() {
	for rounds := 1; rounds < s.best.cfg.Rounds; rounds++ {
		fewer := s.best.cfg
		fewer.Rounds = rounds
		if s.try(fewer, s.best.choices) {
			return
		}
	}
}

// reorder has clients act for longer before another does.
func (s *shrinker) reorder() {
	for i := 0; i+1 < len(s.best.choices); i++ {
		for j := i + 1; j < len(s.best.choices); j++ {
			if c := s.best.choices; c[j].Actor == c[i].Actor || c[j].Verb != strategy.VerbRun {
				continue
			}
			moved := slices.Clone(s.best.choices)
			one := moved[j]
			moved = slices.Insert(slices.Delete(moved, j, j+1), i, one)
			s.try(s.best.cfg, moved)
		}
	}
}

// worldFor is the world that schedules of cfg run in, made when it is first asked
// for.
func (x *explorer) worldFor(cfg Config) (*world, error) {
	if same(cfg, x.world.cfg) {
		return x.world, nil
	}
	for _, w := range x.others {
		if same(cfg, w.cfg) {
			return w, nil
		}
	}
	w, err := newWorld(cfg, x.program, x.bubble, x.global)
	if err != nil {
		return nil, err
	}
	x.others = append(x.others, w)
	return w, w.warm()
}

// same reports whether schedules of a and b run in one world.
func same(a, b Config) bool {
	return a.Clients == b.Clients && a.Rounds == b.Rounds && a.Threads == b.Threads
}
