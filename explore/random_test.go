package explore

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawn runs n schedules of m and counts what they come to.
func drawn(m model, cfg Config, n int) map[string]int {
	found := map[string]int{}
	r := newRandom(cfg)
	for range n {
		r.begin()
		outcome, _ := m.run(r)
		found[outcome]++
	}
	return found
}

func TestRandomDrawsEverything(t *testing.T) {
	m := model{programs: [][]string{{"w x", "r y"}, {"w y", "r x"}}, faults: 1, moves: 1}
	all, _ := m.outcomes(t, true)
	for _, strategy := range []Strategy{Random, PCT} {
		t.Run(string(strategy), func(t *testing.T) {
			cfg := Config{Clients: 2, Rounds: 1, Faults: 1, Moves: 1, Strategy: strategy, Seed: 1}
			found := drawn(m, cfg, 20_000)
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
	for _, strategy := range []Strategy{Random, PCT} {
		cfg := Config{Clients: 3, Rounds: 1, Faults: 1, Moves: 2, Strategy: strategy, Seed: 5}
		first, again := drawn(m, cfg, 200), drawn(m, cfg, 200)
		if diff := cmp.Diff(again, first); diff != "" {
			t.Errorf("%s: one seed, twice (-second +first):\n%s", strategy, diff)
		}
		cfg.Seed = 6
		if cmp.Equal(drawn(m, cfg, 200), first) {
			t.Errorf("%s: another seed drew the same", strategy)
		}
	}
}

// TestPCTPrefersFewSwitches: an actor goes on until a point of change.
func TestPCTPrefersFewSwitches(t *testing.T) {
	m := model{programs: [][]string{{"w x", "w x", "w x", "w x"}, {"w x", "w x", "w x", "w x"}}}
	share := func(s Strategy) int {
		found := drawn(m, Config{Clients: 2, Rounds: 1, Strategy: s}, 2000)
		return found["map[x:[w0 w0 w0 w0 w1 w1 w1 w1]] []"] + found["map[x:[w1 w1 w1 w1 w0 w0 w0 w0]] []"]
	}
	if pct, random := share(PCT), share(Random); pct < 2*random {
		t.Errorf("of 2000 schedules PCT ran %d one after the other, random %d; want twice as many at least", pct, random)
	}
}
