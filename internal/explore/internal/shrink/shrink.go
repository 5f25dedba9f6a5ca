// Package shrink makes the schedule of an exploration that broke something as small as it
// can, by trying what is left when parts are taken away. It tries the same things in the same
// order every time, and knows nothing of how they are run.
package shrink

import (
	"encoding/binary"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

// A Candidate is a schedule to try: who takes part, and the choices wished for.
// After it was run these are the choices made, and Cell is what they broke.
type Candidate struct {
	Cell lockbench.Cell
	Scope
	Choices []strategy.Choice
}

// A Scope is who takes part in a schedule, and for how long.
type Scope struct{ Clients, Threads, Rounds int }

// processes is how many processes the clients live in.
func (s Scope) processes() int { return (s.Clients + s.Threads - 1) / s.Threads }

// An Attempt runs a schedule that follows a candidate. It returns what came of it, and false
// if that cannot be run, or breaks neither the candidate's cell nor the guarantee under fewer
// of the conditions.
type Attempt func(Candidate) (Candidate, bool)

// A shrinker is a shrinking under way.
type shrinker struct {
	attempt Attempt
	stopped func() bool
	left    int // tries
	best    Candidate
	tried   map[string]struct{} // keys of what was attempted: what failed once fails again
}

// cost orders schedules, the dearest thing first.
func (c Candidate) cost() [8]int {
	var faults, moves, steps, switches int
	last := strategy.NoActor
	for _, made := range c.Choices {
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
	return [8]int{faults, moves, c.Cell.Under.Count(), c.Clients, steps, c.Rounds, switches, len(c.Choices)}
}

// key is equal for candidates that run alike.
func (c Candidate) key() string {
	key := make([]byte, 0, 4*(1+len(c.Choices)))
	add := func(numbers ...int) {
		for _, n := range numbers {
			key = binary.AppendVarint(key, int64(n))
		}
	}
	add(c.Clients, c.Threads, c.Rounds)
	for _, made := range c.Choices {
		add(int(made.Verb), made.Actor, made.Nth, int(made.At))
	}
	return string(key)
}

// Smallest returns the smallest schedule found that breaks what first breaks, within so many
// tries or until stopped reports that it is wanted now. Conditions may go with what is taken
// away, and none may come.
func Smallest(first Candidate, tries int, stopped func() bool, attempt Attempt) Candidate {
	s := &shrinker{attempt: attempt, stopped: stopped, left: tries, best: first, tried: map[string]struct{}{}}
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

// try runs what is left of the best so far and keeps it if it still breaks what it did and is
// smaller. It runs nothing twice: the best only becomes smaller, so a second run adds nothing.
func (s *shrinker) try(scope Scope, choices []strategy.Choice) bool {
	next := Candidate{s.best.Cell, scope, choices}
	key := next.key()
	if _, again := s.tried[key]; again {
		return false
	}
	if s.left--; s.left < 0 || s.stopped() {
		return false
	}
	s.tried[key] = struct{}{}
	c, breaks := s.attempt(next)
	now, best := c.cost(), s.best.cost()
	if !breaks || slices.Compare(now[:], best[:]) >= 0 {
		return false
	}
	s.best = c
	return true
}

// stopEarly ends the schedule as soon as what it shows has happened.
func (s *shrinker) stopEarly() {
	choices := s.best.Choices
	for n := 1; n < len(choices); n++ {
		short := append(slices.Clone(choices[:n]), strategy.Choice{Verb: strategy.VerbStop, Actor: strategy.NoActor})
		if s.try(s.best.Scope, short) {
			return
		}
	}
}

// withoutDeviations leaves out faults and moves of time.
func (s *shrinker) withoutDeviations() {
	for i := len(s.best.Choices) - 1; i >= 0; i-- {
		if i < len(s.best.Choices) && !s.best.Choices[i].Plain() {
			s.try(s.best.Scope, slices.Delete(slices.Clone(s.best.Choices), i, i+1))
		}
	}
}

// onlyTime has time pass where somebody stood still.
func (s *shrinker) onlyTime() {
	for i, c := range s.best.Choices {
		if c.Verb != strategy.VerbPause && !c.Verb.Stands() {
			continue
		}
		for nth := range 6 { // the edges of three leases
			passing := slices.Clone(s.best.Choices)
			passing[i] = strategy.Choice{Verb: strategy.VerbMove, Actor: strategy.NoActor, Nth: nth}
			if s.try(s.best.Scope, passing) {
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
		for i := len(s.best.Choices) - 1; i >= 0; i-- {
			if i < len(s.best.Choices) && s.best.Choices[i].Verb == strategy.VerbRun {
				s.try(s.best.Scope, s.best.chunk(i, size))
			}
		}
	}
}

// chunk is the choices of c without one and those next before it of the same actor,
// size in all.
func (c Candidate) chunk(i, size int) []strategy.Choice {
	actor := c.Choices[i].Actor
	kept := slices.Clone(c.Choices)
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
	for client := s.best.Clients - 1; client >= 0 && s.best.Clients > 1; client-- {
		s.try(s.best.drop(client))
	}
}

// drop is c without a client, those after it moved up.
func (c Candidate) drop(client int) (Scope, []strategy.Choice) {
	fewer := c.Scope
	fewer.Clients--
	var choices []strategy.Choice
	for _, made := range c.Choices {
		switch {
		case made.Actor == strategy.NoActor, made.Actor < client:
		case made.Actor == client:
			continue
		case made.Actor < c.Clients:
			made.Actor--
		default: // the background of a process
			process := made.Actor - c.Clients
			if fewer.Threads == 1 && process > client {
				process--
			}
			if fewer.Threads == 1 && made.Actor-c.Clients == client || process >= fewer.processes() {
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
	for rounds := 1; rounds < s.best.Rounds; rounds++ {
		fewer := s.best.Scope
		fewer.Rounds = rounds
		if s.try(fewer, s.best.Choices) {
			return
		}
	}
}

// reorder has clients act for longer before another does.
func (s *shrinker) reorder() {
	for i := 0; i+1 < len(s.best.Choices); i++ {
		for j := i + 1; j < len(s.best.Choices); j++ {
			if c := s.best.Choices; c[j].Actor == c[i].Actor || c[j].Verb != strategy.VerbRun {
				continue
			}
			moved := slices.Clone(s.best.Choices)
			one := moved[j]
			moved = slices.Insert(slices.Delete(moved, j, j+1), i, one)
			s.try(s.best.Scope, moved)
		}
	}
}
