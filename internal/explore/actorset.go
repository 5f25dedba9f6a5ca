package explore

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// An actorSet is the set of actors, which is the same in all schedules. The field actors has the
// clients, in order, and then the background of each process; the actor of a choice is an index
// into it. The prober, which has a process of its own, is not in it.
type actorSet struct {
	processes []*process
	clients   []*actor
	actors    []*actor
	prober    *actor // tries the keys at the end of a schedule
}

// sender returns the actor that sent c.
func (cs *actorSet) sender(c *stepserver.Command) *actor {
	switch {
	case c.Client >= 0 && c.Client < len(cs.clients):
		return cs.clients[c.Client]
	case c.Process >= 0 && c.Process < len(cs.processes):
		return cs.actors[len(cs.clients)+c.Process]
	}
	return nil
}

// allDone reports whether every client is done.
func (cs *actorSet) allDone() bool {
	for _, a := range cs.clients {
		if !a.done() {
			return false
		}
	}
	return true
}

// unfinished returns a client, or the prober, that has not ended its part; nil if there is none.
func (cs *actorSet) unfinished() *actor {
	for _, a := range cs.clients {
		if !a.exited {
			return a
		}
	}
	if !cs.prober.exited {
		return cs.prober
	}
	return nil
}

// skewed returns the largest error of a clock.
func (cs *actorSet) skewed() (most time.Duration) {
	for _, p := range cs.processes {
		most = max(most, p.skew, -p.skew)
	}
	return most
}

// nameOf returns the name of the actor of c.
func (cs *actorSet) nameOf(c strategy.Choice) string {
	switch {
	case c.Actor != strategy.NoActor:
		return cs.actors[c.Actor].name
	case c.Verb.OfServer():
		return strategy.ByServer
	}
	return strategy.ByTime
}

// sentence returns the sentence of the counterexample of a finding, with the names of the clients.
func (cs *actorSet) sentence(f checker.CellFinding) string {
	if f.Counterexample == nil {
		return ""
	}
	return numbered.ReplaceAllStringFunc(f.Counterexample.Sentence, func(s string) string {
		number, err := strconv.Atoi(numbered.FindStringSubmatch(s)[1])
		switch {
		case err == nil && number < len(cs.clients):
			return cs.clients[number].name
		case err == nil && number == cs.prober.number:
			return cs.prober.name
		}
		return s
	})
}

var numbered = regexp.MustCompile(`client (\d+)`)

// holders returns the names of the clients that believe to hold a key.
func (cs *actorSet) holders() (names []string) {
	for _, a := range cs.clients {
		a.mu.Lock()
		holds := len(a.beliefs) > 0 && !a.crashed
		a.mu.Unlock()
		if holds {
			names = append(names, a.name)
		}
	}
	return slices.Clip(names)
}
