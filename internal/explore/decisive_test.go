package explore_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/workloads"
)

// TestScenariosTestWhatTheyExercise explores sound designs with default settings: no
// claim that a scenario exercises may stay untested, or exploring a sound design would be
// inconclusive. It runs as many schedules as needed, at most 2400: a fraction of the default budget.
func TestScenariosTestWhatTheyExercise(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	for _, name := range []string{"lua-token/token", "lua-token/strategy", "hash-reentrant/notify"} {
		for _, s := range workloads.By(workloads.Explored) {
			if s.Exploration.OnRequest {
				continue
			}
			t.Run(name+" "+s.Name, func(t *testing.T) {
				var lacking []string
				for _, schedules := range []int64{50, 100, 400, 2400} {
					cfg := explore.Config{Design: find(t, name), Scenario: s.Name, Strategy: explore.Random, Schedules: schedules, Seed: 1}
					if lacking = untested(t, cfg); lacking == nil {
						return
					}
				}
				t.Error(lacking)
			})
		}
	}
}

// untested lists the claims that could have been tested and were not. It skips t if the
// lock lacks an ability that the scenario needs.
func untested(t *testing.T, cfg explore.Config) (all []string) {
	r, err := explore.Run(t.Context(), bubble.New(t), cfg, silent)
	if lacks := (*explore.LacksError)(nil); errors.As(err, &lacks) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		occasions := checker.Result{Findings: r.Findings}.Cells().Occasions(f.Cell, checker.Held, checker.Broken)
		if f.Claimed && f.Exercised && occasions == 0 {
			all = append(all, fmt.Sprintf("%s: %s", f.Cell, f.Note))
		}
	}
	return all
}
