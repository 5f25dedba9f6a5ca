package explore

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/workloads"
)

// TestSchedulesDoNotDependOnThoseBefore runs schedules drawn at random, and each of them
// once more after other schedules than the first time: it goes the same way, command by
// command. It tries a lock that renews, because that gives up connections by itself.
func TestSchedulesDoNotDependOnThoseBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	for _, d := range impls.All() {
		if d.Name != "hash-reentrant/notify" {
			continue
		}
		for _, s := range workloads.By(workloads.Explored) {
			if longtest.On() || s.Name == "abandon" || s.Name == "leftover" {
				tryOrders(t, Config{Design: d, Scenario: s.Name}, 300)
			}
		}
	}
}

// tryOrders runs so many schedules with any faults, and runs them again.
func tryOrders(t *testing.T, cfg Config, schedules int) {
	t.Run(cfg.Scenario, func(t *testing.T) {
		cfg.Faults, cfg.Kinds, cfg.Seed = 2, fault.Explored(), 1
		inWorld(t, cfg, func(w *world) { runTwice(t, w, schedules) })
	})
}

// inWorld calls body with a world that is ready for schedules. It skips t if the design
// cannot be explored so.
func inWorld(t *testing.T, cfg Config, body func(*world)) {
	t.Helper()
	cfg, program, err := cfg.resolve()
	if err != nil {
		t.Skip(err)
	}
	b := Bubble{Enter: func(body func()) { synctest.Test(t, func(*testing.T) { body() }) }, Wait: synctest.Wait}
	x := &explorer{cfg: cfg, program: program, bubble: b}
	err = x.enter(t.Context(), func() error {
		w, err := newWorld(cfg, program, b, x.global)
		if err != nil {
			return err
		}
		defer w.close()
		if err = w.warmUp(); err == nil {
			body(w)
		}
		return err
	})
	if err != nil {
		t.Skip(err)
	}
}

// runTwice runs schedules, and all of them again, the last one first.
func runTwice(t *testing.T, w *world, schedules int) {
	t.Helper()
	var made [][]strategy.Choice
	var rows [][]Row
	random := unending{strategy.NewRandom(w.cfg.Seed, w.cfg.Faults, w.cfg.Moves, 4*w.cfg.Clients*w.cfg.Rounds)}
	for range schedules {
		rows = append(rows, performed(t, w, random))
		made = append(made, slices.Clone(w.made))
	}
	for i, wishes := range slices.Backward(made) {
		if diff := cmp.Diff(rows[i], performed(t, w, &strategy.Guided{Choices: wishes})); diff != "" {
			t.Errorf("schedule %d, %v, went another way (-before +again):\n%s", i+1, wishes, diff)
			return
		}
	}
}

// unending is a strategy that ends no schedule.
type unending struct{ *strategy.Random }

func (unending) Halts() bool { return false }

// performed runs the next schedule of s and returns its steps.
func performed(t *testing.T, w *world, s halter) []Row {
	t.Helper()
	s.Begin()
	p, err := w.runShown(s)
	if err != nil {
		t.Fatal(err)
	}
	return p.notes.rows
}
