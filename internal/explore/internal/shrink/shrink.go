// Package shrink makes a failing schedule of an exploration as small as it can, by removing
// parts and trying the rest. It makes the same tries in the same order every time, and does
// not know how schedules are run.
package shrink

import (
	"encoding/binary"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

// A Candidate is a schedule to try: its scope and its wished choices. After a run it has the
// choices made, and Cell is the cell that they broke.
type Candidate struct {
	Cell lockbench.Cell
	Scope
	Choices []strategy.Choice
}

// A Scope is the number of participants of a schedule, and of their rounds.
type Scope struct{ Clients, Threads, Rounds int }

// processes is the number of processes.
func (s Scope) processes() int { return (s.Clients + s.Threads - 1) / s.Threads }

// An Attempt runs a schedule that follows a candidate. It returns the result, and false if the
// schedule cannot be run, or breaks neither the candidate's cell nor the guarantee under fewer
// of the conditions.
type Attempt func(Candidate) (Candidate, bool)

// A shrinker is a shrinking under way.
type shrinker struct {
	attempt   Attempt
	stopped   func() bool
	left      int // tries
	best      Candidate
	attempted map[string]struct{} // keys of attempts: a failed one fails again
}

// cost orders schedules, the most expensive property first.
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

// Smallest returns the smallest schedule found that breaks the cell of first, within so many
// tries or until stopped reports that the result is wanted now. Its conditions may be fewer,
// and never others.
func Smallest(first Candidate, tries int, stopped func() bool, attempt Attempt) Candidate {
	s := &shrinker{attempt: attempt, stopped: stopped, left: tries, best: first, attempted: map[string]struct{}{}}
	for {
		before := s.best.cost()
		s.stopEarly()
		s.withoutDeviations()
		s.onlyTime()
		s.fewerClients()
		s.fewerRounds()
		s.withoutCommands()
		s.reorder()
		if s.best.cost() == before || s.over() {
			return s.best
		}
	}
}

// try runs a reduced schedule and keeps it if it still breaks the cell and is smaller. It runs
// nothing twice: the best only becomes smaller, so a second run adds nothing.
func (s *shrinker) try(scope Scope, choices []strategy.Choice) bool {
	next := Candidate{s.best.Cell, scope, choices}
	key := next.key()
	if _, again := s.attempted[key]; again {
		return false
	}
	if s.over() {
		return false
	}
	s.left -= 1 + len(choices)/long
	s.attempted[key] = struct{}{}
	c, breaks := s.attempt(next)
	now, best := c.cost(), s.best.cost()
	if !breaks || slices.Compare(now[:], best[:]) >= 0 {
		return false
	}
	s.best = c
	return true
}

// long is a number of choices. A schedule that has more takes more time to run, and there are more
// ways to reduce it.
const long = 128

// over reports whether nothing more is to be tried.
func (s *shrinker) over() bool { return s.left <= 0 || s.stopped() }

// stopEarly ends the schedule as soon as it has shown the violation. Up to long choices it tries every
// end. Beyond, it takes for granted that a schedule that goes on still shows the violation: it goes on
// twice as far each time, and then halves the distance.
func (s *shrinker) stopEarly() {
	choices := s.best.Choices
	stop := func(n int) bool {
		return s.try(s.best.Scope, append(slices.Clone(choices[:n]), strategy.Choice{Verb: strategy.VerbStop, Actor: strategy.NoActor}))
	}
	fails, n := 0, 1
	for n < len(choices) && !stop(n) {
		if s.over() {
			return
		}
		fails = n
		if n++; n > long {
			n = min(2*fails, len(choices))
		}
	}
	for fails+1 < n && !s.over() {
		if middle := (fails + n) / 2; stop(middle) {
			n = middle
		} else {
			fails = middle
		}
	}
}

// withoutDeviations removes faults and moves of time.
func (s *shrinker) withoutDeviations() {
	for i := len(s.best.Choices) - 1; i >= 0 && !s.over(); i-- {
		if i < len(s.best.Choices) && !s.best.Choices[i].Plain() {
			s.try(s.best.Scope, slices.Delete(slices.Clone(s.best.Choices), i, i+1))
		}
	}
}

// onlyTime replaces a pause or standstill with a move of time.
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

// chunks are the numbers of an actor's steps that are removed at once: rounds of a lock that
// works by transactions have a dozen, or nine.
var chunks = [...]int{12, 9, 6, 5, 4, 3, 2, 1}

// withoutCommands removes steps of an actor, several at first: a whole round is needed less
// often than one command of it.
func (s *shrinker) withoutCommands() {
	for _, size := range chunks {
		for i := len(s.best.Choices) - 1; i >= 0 && !s.over(); i-- {
			if i < len(s.best.Choices) && s.best.Choices[i].Verb == strategy.VerbRun {
				s.try(s.best.Scope, s.best.chunk(i, size))
			}
		}
	}
}

// chunk returns the choices of c without choice i and the size-1 choices of the same actor
// before it.
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

// fewerClients removes clients.
func (s *shrinker) fewerClients() {
	for client := s.best.Clients - 1; client >= 0 && s.best.Clients > 1; client-- {
		s.try(s.best.drop(client))
	}
}

// drop returns c without a client, and with the numbers of later clients adjusted.
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

// fewerRounds reduces the rounds of clients.
func (s *shrinker) fewerRounds() {
	for rounds := 1; rounds < s.best.Rounds; rounds++ {
		fewer := s.best.Scope
		fewer.Rounds = rounds
		if s.try(fewer, s.best.Choices) {
			return
		}
	}
}

// reorder lets clients act for longer before another does.
func (s *shrinker) reorder() {
	for i := 0; i+1 < len(s.best.Choices); i++ {
		for j := i + 1; j < len(s.best.Choices) && !s.over(); j++ {
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
