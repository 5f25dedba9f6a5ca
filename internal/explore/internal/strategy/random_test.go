package strategy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ways are those to draw a schedule.
var ways = map[string]func(seed uint64, faults, moves, steps int) *Random{"random": NewRandom, "pct": NewPCT}

// drawn runs n schedules of m, drawn in a way by a seed, and counts their outcomes.
func drawn(m model, way string, seed uint64, n int) map[string]int {
	found := map[string]int{}
	r := ways[way](seed, m.faults, m.moves, 4*len(m.programs))
	for range n {
		r.Begin()
		outcome, _ := m.run(r)
		found[outcome]++
	}
	return found
}

func TestRandomDrawsEverything(t *testing.T) {
	m := model{programs: [][]string{{"w x", "r y"}, {"w y", "r x"}}, faults: 1, moves: 1}
	all, _ := m.outcomes(t, true)
	for way := range ways {
		t.Run(way, func(t *testing.T) {
			found := drawn(m, way, 1, 20_000)
			for outcome := range all {
				if found[outcome] == 0 {
					t.Errorf("never drawn: %s", outcome)
				}
			}
			for outcome := range found {
				if all[outcome] == 0 {
					t.Errorf("drawn, and not among all: %s", outcome)
				}
			}
		})
	}
}

func TestSeedsDecide(t *testing.T) {
	m := model{programs: [][]string{{"w x", "w x"}, {"w x", "w x"}, {"w x"}}, faults: 1, moves: 2}
	for way := range ways {
		first, again := drawn(m, way, 5, 200), drawn(m, way, 5, 200)
		if diff := cmp.Diff(again, first); diff != "" {
			t.Errorf("%s: one seed, twice (-second +first):\n%s", way, diff)
		}
		if cmp.Equal(drawn(m, way, 6, 200), first) {
			t.Errorf("%s: another seed drew the same", way)
		}
	}
}

// TestPCTPrefersFewSwitches: an actor goes on until a point of change.
func TestPCTPrefersFewSwitches(t *testing.T) {
	m := model{programs: [][]string{{"w x", "w x", "w x", "w x"}, {"w x", "w x", "w x", "w x"}}}
	share := func(way string) int {
		found := drawn(m, way, 0, 2000)
		return found["map[x:[w0 w0 w0 w0 w1 w1 w1 w1]] []"] + found["map[x:[w1 w1 w1 w1 w0 w0 w0 w0]] []"]
	}
	if pct, random := share("pct"), share("random"); pct < 2*random {
		t.Errorf("of 2000 schedules PCT ran %d one after the other, random %d; want twice as many at least", pct, random)
	}
}
