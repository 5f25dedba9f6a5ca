package explore_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

func find(t testing.TB, name string) design.Design {
	t.Helper()
	all, err := impls.Match(name)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func silent(explore.Progress) {}

// goroutines skips, in short runs, designs that start no goroutines of their own: other designs
// show the race detector the same.
func goroutines(t *testing.T, name string) {
	t.Helper()
	if testing.Short() && name != "hash-reentrant/watchdog" && name != "hash-reentrant/notify" {
		t.Skip("the design starts no goroutines")
	}
}

func run(t *testing.T, cfg explore.Config) explore.Result {
	t.Helper()
	r, err := explore.Run(t.Context(), bubble.New(t), cfg, silent)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Defects {
		t.Errorf("defect: %s", d)
	}
	if r.Coverage.Diverged > 0 {
		t.Errorf("%d schedules went another way when run again", r.Coverage.Diverged)
	}
	return r
}

// TestLittleBudget checks that the shortest budget is enough for a schedule.
func TestLittleBudget(t *testing.T) {
	r := run(t, explore.Config{Design: find(t, "lua-token/token"), Scenario: "contend", Budget: 1})
	if n := r.Coverage.Schedules; n != 1 {
		t.Errorf("got %d schedules, want one", n)
	}
}

// TestEveryDesign explores each design a little, and runs every counterexample again.
func TestEveryDesign(t *testing.T) {
	if testing.Short() {
		t.Skip("shortening a dozen designs' schedules takes its time")
	}
	for _, d := range impls.All() {
		if d.Explorable() != nil {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			schedules := int64(longtest.Times(60, 300))
			r := run(t, explore.Config{Design: d, Strategy: explore.Random, Schedules: schedules, Seed: 7})
			if r.Coverage.Schedules != schedules || r.Grants == 0 {
				t.Errorf("got %d schedules with %d grants, want %d with some", r.Coverage.Schedules, r.Grants, schedules)
			}
			explained(t, r)
			for g, w := range r.Counterexamples {
				again, err := explore.Rerun(t.Context(), bubble.New(t), d, w.Replay)
				if err != nil {
					t.Fatalf("%s: %v", g, err)
				}
				if len(again.Defects) > 0 || again.Counterexamples[g].Verdict != w.Verdict {
					t.Errorf("%s: got %s with defects %q, want %s again; file:\n%s", g, again.Counterexamples[g].Verdict, again.Defects, w.Verdict, w.Replay.Text)
				}
				if diff := cmp.Diff(again.Counterexamples[g].Rows, w.Rows); diff != "" {
					t.Errorf("%s: rows (-again +first):\n%s", g, diff)
				}
			}
		})
	}
}

// explained wants a counterexample for each broken cell: its own, or one of the same guarantee
// under fewer conditions, that violates a claim if the cell's does.
func explained(t *testing.T, r explore.Result) {
	t.Helper()
	findings := checker.Result{Findings: r.Findings}
	for _, f := range r.Findings {
		shown := f.Violations == 0
		for cell := range r.Counterexamples {
			by := findings.Find(cell)
			fewer := cell.Guarantee == f.Cell.Guarantee && f.Cell.Under.Has(cell.Under)
			shown = shown || fewer && (by.Against > 0 || f.Against == 0)
		}
		if !shown {
			t.Errorf("%s is broken, and nothing shows it", f.Cell)
		}
	}
	for cell := range r.Counterexamples {
		if findings.Find(cell).Violations == 0 {
			t.Errorf("a counterexample of %s is shown, which is not found broken", cell)
		}
	}
}

// TestKindsBringTheirConditions explores each kind of fault alone: only the conditions of its row
// touch anything, and one of them does.
func TestKindsBringTheirConditions(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	for _, kind := range fault.Explored() {
		t.Run(string(kind), func(t *testing.T) {
			var touched lockbench.Conditions
			names := []string{"setnx-getset/timestamp", "hash-reentrant/plain"}
			if kind == fault.SlowReply { // moves of time alone have its renewals time out, too
				names = append(names, "hash-reentrant/notify")
			}
			for _, name := range names {
				for _, scenario := range []string{"contend", "overrun"} {
					r := run(t, explore.Config{
						Design: find(t, name), Scenario: scenario, Strategy: explore.Random, Schedules: 300, Seed: 1, Kinds: []fault.Kind{kind},
					})
					for _, f := range r.Findings {
						if f.Exposure > 0 {
							touched |= f.Cell.Under
						}
					}
				}
			}
			want := fault.Of(kind).Conditions
			if kind == fault.SlowReply { // a move of time while a renewal waits
				want |= lockbench.Pause
			}
			if got := touched &^ lockbench.Outlived; !want.Has(got) || got == 0 && want != 0 {
				t.Errorf("got occasions under %q, want them under some of %q", got, want)
			}
		})
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	runs := longtest.Times(2, 3)
	for _, name := range []string{"lua-token/strategy", "hash-reentrant/watchdog", "hash-reentrant/notify", "setnx-getset/timestamp"} {
		t.Run(name, func(t *testing.T) {
			goroutines(t, name)
			cfg := explore.Config{Design: find(t, name), Clients: 3, Schedules: int64(longtest.Times(60, 200)), Seed: 42}
			first := written(run(t, cfg))
			for range runs - 1 {
				if diff := cmp.Diff(written(run(t, cfg)), first); diff != "" {
					t.Fatalf("another run of the same seed (-again +first):\n%s", diff)
				}
			}
		})
	}
}

// TestSameSeedSameBytesInOneProcess lets threads share the design's state of a process, under the
// faults that affect their waits and clocks, by every strategy.
func TestSameSeedSameBytesInOneProcess(t *testing.T) {
	for _, name := range []string{"hash-reentrant/watchdog", "hash-reentrant/notify", "watch-multi/poll"} {
		for _, strategy := range []explore.Strategy{explore.Exhaustive, explore.Random, explore.PCT} {
			t.Run(name+" "+string(strategy), func(t *testing.T) {
				goroutines(t, name)
				cfg := explore.Config{
					Design: find(t, name), Scenario: "overrun", Threads: 2, Rounds: 1, Strategy: strategy, Schedules: int64(longtest.Times(8, 20)), Seed: uint64(longtest.Times(1, 42)),
					Kinds: []fault.Kind{fault.Cancel, fault.Cut, fault.Pause, fault.Skew},
				}
				first := written(run(t, cfg))
				if diff := cmp.Diff(written(run(t, cfg)), first); diff != "" {
					t.Fatalf("another run of the same seed (-again +first):\n%s", diff)
				}
			})
		}
	}
}

// TestRowsTellTheLease checks that a schedule tells which lease was asked for, where that is not the
// usual one.
func TestRowsTellTheLease(t *testing.T) {
	told := func(r explore.Result) bool {
		for _, w := range r.Counterexamples {
			for _, row := range w.Rows {
				if strings.HasPrefix(row.Command, "acquire for 2.9ms: ") {
					return true
				}
			}
		}
		return false
	}
	cfg := explore.Config{Design: find(t, "setnx-getset/timestamp"), Scenario: "odd-leases", Schedules: 200, Seed: 1}
	if !told(run(t, cfg)) {
		t.Error("no row tells the lease of 2.9 ms, which the design rounds")
	}
	cfg.Scenario = "contend"
	if told(run(t, cfg)) {
		t.Error("a row tells a lease of 2.9 ms, for which nobody asked")
	}
}

// TestVirtualTimeEnds explores leases so long that the clocks of a bubble would run
// out, which would crash the program. Most of the two centuries until then are slept
// through, or it takes seconds.
func TestVirtualTimeEnds(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	b := bubble.New(t)
	enter := b.Enter
	b.Enter = func(body func()) {
		enter(func() {
			time.Sleep(2 * century / 100 * time.Duration(longtest.Times(99, 0)))
			body()
		})
	}
	r, err := explore.Run(t.Context(), b, explore.Config{
		Design: find(t, "lua-token/strategy"), Scenario: "overrun", TTL: 24 * time.Hour,
		Faults: -1, Strategy: explore.Random, Schedules: 200_000,
	}, silent)
	if err != nil || len(r.Defects) > 0 {
		t.Fatalf("got %v, defects %q", err, r.Defects)
	}
	if r.Coverage.Stopped != "clock" || r.Grants == 0 {
		t.Errorf("stopped by %q after %d schedules, want clock", r.Coverage.Stopped, r.Coverage.Schedules)
	}
}

// written is all of a result but its real times.
func written(r explore.Result) explore.Result {
	r.Elapsed = 0
	r.Counterexamples = maps.Clone(r.Counterexamples)
	for g, w := range r.Counterexamples {
		w.FoundAfter = 0
		r.Counterexamples[g] = w
	}
	return r
}

// TestKnownFaultsAreFound explores designs with documented faults that need only two clients.
func TestKnownFaultsAreFound(t *testing.T) {
	for _, c := range []struct {
		design string
		breaks []string
	}{
		{"setnx-getset/naive", []string{"exclusion@outlived", "owner-release@outlived", "loss-reported@outlived", "recovery@crash", "recovery@lost-reply"}},
		{"lua-token/expire", []string{"exclusion@outlived", "owner-release@outlived", "loss-reported@outlived"}},
		{"lua-token/token", []string{"loss-reported@outlived"}},
		{"lua-token/strategy", nil},
	} {
		t.Run(c.design, func(t *testing.T) {
			goroutines(t, c.design)
			r := run(t, explore.Config{
				Design: find(t, c.design), Strategy: explore.Random, Schedules: int64(longtest.Times(600, 2000)),
				Kinds: []fault.Kind{fault.DieBefore, fault.DieAfter, fault.Pause, fault.LostReply},
			})
			var broken []string
			for _, f := range r.Findings {
				if f.Against > 0 && c.breaks == nil {
					t.Errorf("%s is broken, want no claim to be", f.Cell)
				}
				if f.Verdict == checker.Broken {
					broken = append(broken, f.Cell.String())
				}
			}
			for _, want := range c.breaks {
				if !slices.Contains(broken, want) {
					t.Errorf("%s is not broken", want)
				}
			}
			for g, w := range r.Counterexamples {
				if steps := bytes.Count(w.Replay.Text, []byte(" run ")); steps > 12 {
					t.Errorf("%s: %d commands in the counterexample, want 12 at most:\n%s", g, steps, w.Replay.Text)
				}
			}
		})
	}
}

// TestCrashedProcessesAreRetiredBeforeClose: a process died while its watchdog waited for an
// answer and all its clients had returned; closing it waits for the watchdog.
func TestCrashedProcessesAreRetiredBeforeClose(t *testing.T) {
	r := run(t, explore.Config{
		Design: find(t, "hash-reentrant/watchdog"), Scenario: "overrun", Schedules: 1500, Seed: 1,
		Kinds: []fault.Kind{fault.DieBefore, fault.DieAfter},
	})
	if r.Coverage.Schedules < 1000 {
		t.Errorf("covered %+v, want all of the schedules", r.Coverage)
	}
}

// TestClaimsHold goes through all schedules of a small scope. It would also reveal a schedule with
// effects on the next one: that breaks claims at wrong places, or differs the second time.
func TestClaimsHold(t *testing.T) {
	all := []fault.Kind{fault.DieBefore, fault.DieAfter, fault.Pause, fault.LostReply, fault.Cut, fault.Cancel}
	for _, c := range []struct {
		name  string
		moves int
		kinds []fault.Kind
	}{
		{"lua-token/token", 1, []fault.Kind{fault.DieBefore, fault.LostReply}},
		{"lua-token/strategy", -1, all},
		{"hash-reentrant/plain", -1, all},
		{"hash-reentrant/notify", -1, all},
	} {
		t.Run(c.name, func(t *testing.T) {
			goroutines(t, c.name)
			r := run(t, explore.Config{Design: find(t, c.name), Strategy: explore.Exhaustive, Schedules: 100_000, Moves: c.moves, Kinds: c.kinds})
			if !r.Coverage.Complete || r.Coverage.Schedules < 500 {
				t.Errorf("covered %+v, want some hundred schedules and all", r.Coverage)
			}
			for _, f := range r.Findings {
				if f.Against > 0 {
					t.Errorf("%s is broken: %s\n%s", f.Cell, r.Counterexamples[f.Cell].Sentence, r.Counterexamples[f.Cell].Replay.Text)
				}
			}
		})
	}
}
