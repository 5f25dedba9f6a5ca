package shrink

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

// run is a command of an actor.
func run(actor int) strategy.Choice { return strategy.Choice{Verb: strategy.VerbRun, Actor: actor} }

// shows is an Attempt of a lock that breaks when some client runs twice, with another's
// command between; under a crash if one dies in the schedule.
func shows(tries *int) Attempt {
	return func(c Candidate) (Candidate, bool) {
		*tries++
		c.Cell.Under = 0
		var ran []int
		for _, made := range c.Choices {
			switch made.Verb {
			case strategy.VerbDieBefore:
				c.Cell.Under = lockbench.Crash
			case strategy.VerbRun:
				ran = append(ran, made.Actor)
			}
		}
		for i, actor := range ran {
			between := slices.IndexFunc(ran[i:], func(other int) bool { return other != actor })
			if between > 0 && slices.Contains(ran[i+between:], actor) {
				return c, true
			}
		}
		return c, false
	}
}

// TestSmallest takes away clients, rounds, faults, moves and commands that nothing needs, and
// the condition that goes with a fault.
func TestSmallest(t *testing.T) {
	first := Candidate{
		Cell:  lockbench.Exclusion.At(lockbench.Crash),
		Scope: Scope{Clients: 3, Threads: 1, Rounds: 2},
		Choices: []strategy.Choice{
			run(0), {Verb: strategy.VerbMove, Actor: strategy.NoActor, Nth: 1}, run(0), run(2), {Verb: strategy.VerbDieBefore, Actor: 2},
			run(1), run(1), run(0), run(2), run(1),
		},
	}
	tries := 0
	got := Smallest(first, 4000, func() bool { return false }, shows(&tries))
	want := Candidate{
		Cell:    lockbench.Exclusion.At(0),
		Scope:   Scope{Clients: 2, Threads: 1, Rounds: 1},
		Choices: []strategy.Choice{run(0), run(1), run(0)},
	}
	got.Choices = slices.DeleteFunc(got.Choices, func(c strategy.Choice) bool { return c.Verb == strategy.VerbStop })
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("after %d tries (-got +want):\n%s", tries, diff)
	}
}

// TestLongSchedules checks that a schedule that is polled a thousand times ends early by few tries, and
// that shrinking goes through no more of its millions of reductions when no try is left.
func TestLongSchedules(t *testing.T) {
	const shown = 2000
	first := Candidate{Scope: Scope{Clients: 2, Threads: 1, Rounds: 1}}
	for i := range 20_000 {
		first.Choices = append(first.Choices, run(i%2))
	}
	tries, early := 0, 0
	got := Smallest(first, 4000, func() bool { return false }, func(c Candidate) (Candidate, bool) {
		tries++
		breaks := len(c.Choices) > shown // with the choice to stop
		if breaks {
			early = tries
		}
		return c, breaks
	})
	if len(got.Choices) != shown+1 || early > 2*long {
		t.Errorf("got %d choices, the last success at try %d of %d; want %d, at most %d", len(got.Choices), early, tries, shown+1, 2*long)
	}
}

// TestSmallestEnds: it makes at most the allowed tries, and none after it is stopped.
func TestSmallestEnds(t *testing.T) {
	first := Candidate{Scope: Scope{Clients: 2, Threads: 1, Rounds: 1}, Choices: []strategy.Choice{run(0), run(1), run(1), run(0), run(0)}}
	for _, most := range []int{0, 1, 3} {
		tries := 0
		Smallest(first, most, func() bool { return false }, shows(&tries))
		if tries > most {
			t.Errorf("got %d tries, want %d at most", tries, most)
		}
	}
	tries := 0
	if got := Smallest(first, 100, func() bool { return true }, shows(&tries)); tries > 0 || !cmp.Equal(got, first) {
		t.Errorf("stopped: got %+v after %d tries", got, tries)
	}
}

// TestNothingIsTriedTwice: the last pass, which finds nothing smaller, would try all of it again.
func TestNothingIsTriedTwice(t *testing.T) {
	first := Candidate{Scope: Scope{Clients: 3, Threads: 1, Rounds: 2}, Choices: []strategy.Choice{run(0), run(2), run(1), run(1), run(0), run(1)}}
	tries := 0
	attempt := shows(&tries)
	seen := map[string]bool{}
	Smallest(first, 4000, func() bool { return false }, func(c Candidate) (Candidate, bool) {
		if what := fmt.Sprint(c.Scope, c.Choices); seen[what] {
			t.Errorf("tried again: %s", what)
		} else {
			seen[what] = true
		}
		return attempt(c)
	})
	if tries < 10 {
		t.Errorf("only %d tries", tries)
	}
}

// TestDrop renumbers the clients after the removed one, and the background of their processes.
func TestDrop(t *testing.T) {
	for _, c := range []struct {
		name    string
		threads int
		want    []int
	}{
		{"a process each", 1, []int{0, 1, 2, 3}},
		{"two a process", 2, []int{0, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Clients are 0, 1 and 2, the background of their processes 3 and so on.
			whole := Candidate{Scope: Scope{Clients: 3, Threads: c.threads, Rounds: 1}}
			for actor := range 3 + whole.processes() {
				whole.Choices = append(whole.Choices, run(actor))
			}
			scope, left := whole.drop(1)
			var got []int
			for _, made := range left {
				got = append(got, made.Actor)
			}
			if want := (Scope{Clients: 2, Threads: c.threads, Rounds: 1}); scope != want || !slices.Equal(got, c.want) {
				t.Errorf("got %+v with actors %v, want %+v with %v", scope, got, want, c.want)
			}
		})
	}
}
