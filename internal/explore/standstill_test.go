package explore

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/workloads"
)

var (
	stalled = flag.Int("stalled", longtest.Times(10, 60), "how many schedules with standstills to judge, of each lock, scenario and kind")
	table   = flag.Bool("table", false, "print what was judged as a table")
)

// A tally counts schedules with a standstill.
type tally struct{ schedules, stood, inside, within, accused, caught int }

func (c *tally) add(d tally) {
	c.schedules += d.schedules
	c.stood += d.stood
	c.inside += d.inside
	c.within += d.within
	c.accused += d.accused
	c.caught += d.caught
}

// overlaps watches a schedule for two clients inside of one key: both believe that they hold it,
// and are in no call of the lock. It knows no excuse, and nothing of the checker. within: both were
// within validity.
type overlaps struct {
	strategy.Chooser
	w              *world
	stood          int
	inside, within bool
}

// Took implements strategy.Chooser.
func (o *overlaps) Took(e *strategy.Effect) {
	if o.w.made[len(o.w.made)-1].Verb.Stands() {
		o.stood++
	}
	seen, valid := map[string]int{}, map[string]int{}
	for _, a := range o.w.clients {
		if a.crashed || a.call.inCall {
			continue
		}
		a.mu.Lock()
		for _, b := range a.beliefs {
			seen[b.key]++
			if b.until.After(time.Now()) {
				valid[b.key]++
			}
		}
		a.mu.Unlock()
	}
	for key, n := range seen {
		o.inside = o.inside || n > 1
		o.within = o.within || valid[key] > 1
	}
	o.Chooser.Took(e)
}

// counts lists the cells with violations of claims.
func counts(r checker.Result) (cells []string) {
	for _, f := range r.Findings {
		if f.Against > 0 {
			cells = append(cells, f.Cell.String())
		}
	}
	return cells
}

// standStill runs schedules of cfg, and counts those with a standstill. It calls accused with the
// violated claims of one.
func standStill(t *testing.T, cfg Config, schedules int, accused func(w *world, cells []string)) (sum tally) {
	t.Helper()
	cfg.Strategy, cfg.Faults, cfg.Seed = Random, 2, 1
	inWorld(t, cfg, func(w *world) {
		s := strategy.NewRandom(1, w.cfg.Faults, w.cfg.Moves, 4*w.cfg.Clients*w.cfg.Rounds)
		for tried := 0; sum.schedules < schedules && tried < 20*schedules; tried++ {
			o := &overlaps{Chooser: s, w: w}
			s.Begin()
			ended, err := w.run(o)
			if err == nil && ended && o.stood > 0 {
				err = w.finish()
				sum.add(w.tallied(o, accused))
			}
			w.end()
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	return sum
}

// tallied judges the schedule just run.
func (w *world) tallied(o *overlaps, accused func(*world, []string)) tally {
	c := tally{schedules: 1, stood: o.stood}
	cells := counts(w.judged())
	if len(cells) > 0 {
		accused(w, cells)
	}
	for _, n := range []struct {
		is   bool
		into *int
	}{{o.inside, &c.inside}, {o.within, &c.within}, {len(cells) > 0, &c.accused}, {len(cells) > 0 && o.within, &c.caught}} {
		if n.is {
			*n.into = 1
		}
	}
	return c
}

// explored are the scenarios that d can be explored in without being asked for by name.
func explored(d design.Design) (names []string) {
	for _, s := range workloads.By(workloads.Explored) {
		lacks := slices.Contains(s.Needs, workloads.Nests) && d.Reacquire == design.Refused || slices.Contains(s.Needs, workloads.Renews) && !d.Renews
		if !s.Exploration.OnRequest && !lacks {
			names = append(names, s.Name)
		}
	}
	return names
}

// standing are the kinds of standstills.
func standing() []fault.Kind { return fault.Of(fault.Standstill).Explored }

// TestSoundLocksThatStandStill: no claim of a sound lock is violated, however its processes and the
// server stand still.
func TestSoundLocksThatStandStill(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector sees in the mutants what it would see here")
	}
	if testing.Short() {
		t.Skip("searches take their time")
	}
	sums := map[fault.Kind]*tally{}
	for _, kind := range standing() {
		sums[kind] = &tally{}
	}
	for _, d := range append(impls.All(), mutants.Sound()...) {
		if len(d.Claims.Keeps) == 0 || d.Explorable() != nil {
			continue
		}
		for _, scenario := range explored(d) {
			for kind, sum := range sums {
				t.Run(fmt.Sprintf("%s/%s/%s", d.Name, scenario, kind), func(t *testing.T) {
					cfg := Config{Design: d, Scenario: scenario, Kinds: []fault.Kind{kind}}
					sum.add(standStill(t, cfg, *stalled, func(w *world, cells []string) {
						t.Errorf("%s by %v", strings.Join(cells, ", "), w.made)
					}))
				})
			}
		}
	}
	for _, kind := range standing() {
		if sums[kind].schedules == 0 || sums[kind].inside == 0 {
			t.Errorf("%s: %d schedules, %d of which with two inside; want some", kind, sums[kind].schedules, sums[kind].inside)
		}
		sums[kind].row("sound", string(kind))
	}
}

// row prints a row of the table.
func (c tally) row(name, kind string) {
	if *table {
		fmt.Printf("| %s | %s | %d | %d | %d | %d | %d | %d |\n", name, kind, c.schedules, c.stood, c.inside, c.within, c.accused, c.caught)
	}
}

// TestMutantsThatStandStill: if two clients are inside within their validity, a broken lock is
// accused, whichever party stood still.
func TestMutantsThatStandStill(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	for _, kind := range standing() {
		var sum tally
		for _, m := range mutants.Mutants() {
			cfg := Config{Design: m.Design(), Scenario: m.Scenario, Threads: m.Threads, TTL: m.TTL, Kinds: []fault.Kind{kind}}
			sum.add(standStill(t, cfg, 4**stalled, func(*world, []string) {}))
		}
		if sum.within == 0 || sum.caught*100 < 95*sum.within {
			t.Errorf("%s: caught in %d of %d schedules with two inside, want 95 %%", kind, sum.caught, sum.within)
		}
		sum.row("mutants", string(kind))
	}
}

// TestStandstillsAreReplayed: a schedule with a violation by a standstill goes into a file, and
// shows the same again.
func TestStandstillsAreReplayed(t *testing.T) {
	token, err := impls.Match("lua-token/strategy")
	if err != nil {
		t.Fatal(err)
	}
	b := Bubble{Enter: func(body func()) { synctest.Test(t, func(*testing.T) { body() }) }, Wait: synctest.Wait}
	for _, kind := range standing() {
		cfg := Config{Design: token[0], Moves: -1, Rounds: 1, Kinds: []fault.Kind{kind}, Strategy: Exhaustive, Schedules: 1000}
		r, err := Run(t.Context(), b, cfg, func(Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		shown, is := r.Counterexamples[lockbench.Exclusion.At(lockbench.Outlived)]
		if !is || !strings.Contains(string(shown.Replay.Text), " "+string(kind)+" ") {
			t.Errorf("%s: no standstill has two inside of %s:\n%s", kind, token[0].Name, shown.Replay.Text)
			continue
		}
		again, err := Rerun(t.Context(), b, token[0], shown.Replay)
		if err != nil || len(again.Defects) > 0 || again.Counterexamples[shown.Cell].Verdict != checker.Broken {
			t.Errorf("%s: again: %v, defects %q, %s", kind, err, again.Defects, shown.Replay.Text)
		}
	}
}
