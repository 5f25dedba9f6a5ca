package strategy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// A model is a world without a server: each actor has a list of accesses, "r x" or "w x", and
// the effects of accesses show in a trace of each variable.
type model struct {
	programs [][]string
	faults   int
	moves    int
}

// run runs the model once, as s chooses, and returns the outcome: for each variable the order
// of writes, and between them the readers. It returns false if s stopped it.
func (m model) run(s Chooser) (outcome string, ended bool) {
	next := make([]int, len(m.programs))
	traces := map[string][]string{}
	left := struct{ faults, moves int }{m.faults, m.moves}
	var all []string // faults and moves, with the accesses made by then
	var e Effect
	last := VerbBegin
	for steps := 0; ; steps++ {
		var choices []Choice
		for a, program := range m.programs {
			if next[a] < len(program) {
				choices = append(choices, Choice{Verb: VerbRun, Actor: a})
			}
		}
		if len(choices) == 0 {
			return fmt.Sprint(traces, all), true
		}
		if left.faults > 0 {
			choices = append(choices, Choice{Verb: VerbScriptFlush, Actor: NoActor})
		}
		if left.moves > 0 && last != VerbMove {
			choices = append(choices, Choice{Verb: VerbMove, Actor: NoActor})
		}
		i := s.Choose(Point{choices, steps})
		if i == Stop {
			return "", false
		}
		c := choices[i]
		faults, moves := c.Cost()
		left.faults, left.moves, last = left.faults-faults, left.moves-moves, c.Verb
		if c.Actor == NoActor {
			e.Reset(NoActor, NoActor)
			e.Global = true
			all = append(all, fmt.Sprint(c.Verb, next))
		} else {
			e.Reset(c.Actor, c.Actor)
			m.access(c.Actor, m.programs[c.Actor][next[c.Actor]], traces, &e)
			next[c.Actor]++
		}
		s.Took(&e)
	}
}

func (m model) access(actor int, access string, traces map[string][]string, e *Effect) {
	how, name, _ := strings.Cut(access, " ")
	trace := traces[name]
	if how == "w" {
		trace = append(trace, fmt.Sprintf("w%d", actor))
		e.Server = append(e.Server, stepserver.Effect{Process: actor, Writes: []string{name}})
	} else {
		e.Server = append(e.Server, stepserver.Effect{Process: actor, Reads: []string{name}})
		// Reads between two writes are a set: their order is nothing.
		i := len(trace)
		for i > 0 && strings.HasPrefix(trace[i-1], "r") && trace[i-1] > fmt.Sprintf("r%d", actor) {
			i--
		}
		trace = slices.Insert(trace, i, fmt.Sprintf("r%d", actor))
	}
	traces[name] = trace
}

// outcomes goes through all schedules of m and returns their outcomes, and their number.
func (m model) outcomes(t *testing.T, reduce bool) (found map[string]int, schedules int) {
	t.Helper()
	found = map[string]int{}
	x := NewExhaustive(m.faults, m.moves, reduce)
	for x.Begin() {
		outcome, ended := m.run(x)
		if x.Divergence != "" {
			t.Fatal(x.Divergence)
		}
		if ended && x.Fresh() {
			found[outcome]++
			schedules++
		}
	}
	return found, schedules
}

func TestExhaustiveCoversAllOrders(t *testing.T) {
	for _, c := range []struct {
		name string
		m    model
		// all and reduced are how many schedules there are.
		all, reduced int
	}{
		{"unrelated", model{programs: [][]string{{"w x", "w x"}, {"w y", "w y"}}}, 6, 1},
		{"one variable", model{programs: [][]string{{"w x", "w x"}, {"w x", "w x"}}}, 6, 6},
		{"readers", model{programs: [][]string{{"r x", "r x"}, {"r x", "r x"}}}, 6, 1},
		{"reader and writer", model{programs: [][]string{{"r x", "w y"}, {"w x", "r y"}}}, 6, 4},
		{"three", model{programs: [][]string{{"w x", "r y"}, {"w y", "r z"}, {"w z", "r x"}}}, 90, 7},
		{"a fault", model{programs: [][]string{{"w x"}, {"w y"}}, faults: 1}, 6, 4},
		{"a move", model{programs: [][]string{{"w x", "w x"}, {"w x"}}, moves: 1}, 12, 12},
		{"moves", model{programs: [][]string{{"w x"}, {"w x"}}, moves: 2}, 8, 8},
		{"all of it", model{programs: [][]string{{"w x", "r y"}, {"w y", "r x"}}, faults: 1, moves: 1}, 174, 109},
		{"alone", model{programs: [][]string{{"w x"}}}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, all := c.m.outcomes(t, false)
			got, reduced := c.m.outcomes(t, true)
			if diff := cmp.Diff(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))); diff != "" {
				t.Errorf("outcomes (-reduced +all):\n%s", diff)
			}
			if all != c.all || reduced != c.reduced {
				t.Errorf("got %d schedules, %d with reduction; want %d and %d", all, reduced, c.all, c.reduced)
			}
			for outcome, times := range got {
				if times != 1 {
					t.Errorf("%d schedules came to %s, want one", times, outcome)
				}
			}
		})
	}
}

// TestExhaustiveGoesBySimplicity wants schedules without fault and move first.
func TestExhaustiveGoesBySimplicity(t *testing.T) {
	m := model{programs: [][]string{{"w x"}, {"w x"}}, faults: 1, moves: 1}
	x := NewExhaustive(1, 1, true)
	last := 0
	for x.Begin() {
		if _, ended := m.run(x); !ended || !x.Fresh() {
			continue
		}
		if x.used < last {
			t.Fatalf("a schedule with %d faults and moves after one with %d", x.used, last)
		}
		last = x.used
	}
	if last != 2 {
		t.Errorf("the last schedule had %d faults and moves, want 2", last)
	}
}

// TestDivergenceIsNoticed gives other choices to the second run of a prefix: it is dropped, and
// the search goes on.
func TestDivergenceIsNoticed(t *testing.T) {
	x := NewExhaustive(0, 0, true)
	x.Begin()
	model{programs: [][]string{{"w x"}, {"w x"}, {"w x"}}}.run(x)
	x.Begin()
	if _, ended := (model{programs: [][]string{{"w x", "w x"}, {"w x"}, {"w x"}}}).run(x); ended || x.Diverged != 1 || x.Divergence == "" || x.Fresh() {
		t.Errorf("ended %t, %d diverged, %q, fresh %t; want it noticed", ended, x.Diverged, x.Divergence, x.Fresh())
	}
	if !x.Begin() {
		t.Error("the search ended")
	}
}

// TestOtherInstantsAreNoDivergence: a move of time to another instant is followed, and noted.
func TestOtherInstantsAreNoDivergence(t *testing.T) {
	at := func(end time.Duration) Point {
		return Point{Choices: []Choice{{Verb: VerbRun}, {Verb: VerbMove, Actor: NoActor, At: end}}}
	}
	x := NewExhaustive(0, 1, true)
	for n, end := range []time.Duration{time.Second, time.Second, time.Second + time.Millisecond} {
		if !x.Begin() {
			t.Fatal("the search ended")
		}
		moves := max(0, n-1) // the second pass has one move
		if got := x.Choose(at(end)); got != moves || x.Diverged > 0 || x.Varied != (moves > 0) {
			t.Errorf("run %d: choice %d, %d diverged, varied %t", n, got, x.Diverged, x.Varied)
		}
		x.Took(&Effect{})
	}
}
