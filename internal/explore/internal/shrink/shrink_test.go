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

// longSchedule returns a schedule of a client that polls, and an Attempt that needs its first choices.
func longSchedule(all, needed int) (Candidate, Attempt) {
	first := Candidate{Scope: Scope{Clients: 2, Threads: 1, Rounds: 1}}
	for i := range all {
		first.Choices = append(first.Choices, run(i%2))
	}
	return first, func(c Candidate) (Candidate, bool) { return c, len(c.Choices) > needed } // with the choice to stop
}

// TestLongSchedulesEndEarly checks that few tries find where a long schedule can end.
func TestLongSchedulesEndEarly(t *testing.T) {
	const needed = 2000
	first, attempt := longSchedule(20_000, needed)
	tries, last := 0, 0
	got := Smallest(first, 4000, func() bool { return false }, func(c Candidate) (Candidate, bool) {
		tries++
		c, breaks := attempt(c)
		if breaks {
			last = tries
		}
		return c, breaks
	})
	if len(got.Choices) != needed+1 || last > 2*long {
		t.Errorf("got %d choices, by try %d; want %d, by try %d at most", len(got.Choices), last, needed+1, 2*long)
	}
}

// TestStoppedAtOnce checks that shrinking does not go through the many reductions of a long schedule
// after it is stopped, or has no try left.
func TestStoppedAtOnce(t *testing.T) {
	const needed = 500
	first, attempt := longSchedule(600, needed)
	stopped, asked := false, 0
	stop := func() bool {
		if stopped {
			asked++
		}
		return stopped
	}
	Smallest(first, 1<<40, stop, func(c Candidate) (Candidate, bool) {
		c, breaks := attempt(c)
		stopped = stopped || breaks && len(c.Choices) == needed+1
		return c, breaks
	})
	if !stopped || asked > 10*needed {
		t.Errorf("stopped %v, and %d reductions were considered after that, want %d at most", stopped, asked, 10*needed)
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
