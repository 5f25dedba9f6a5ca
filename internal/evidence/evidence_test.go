package evidence

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/results"
)

// TestMain lets this program serve as the child process that explores, with mutants as well.
func TestMain(m *testing.M) {
	bubble.Child(find)
	os.Exit(m.Run())
}

func find(name, definition string) (design.Design, error) {
	if mutant, is := strings.CutPrefix(name, "mutants/"); is {
		all := mutants.Mutants()
		if i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == mutant }); i >= 0 {
			return all[i].Design(), nil
		}
	}
	return exploring.FindDesign(name, definition)
}

// scope returns the default scope of an exploration, bounded by a number of schedules instead of
// time, so that slow machines find the same.
func scope(seed uint64, schedules int64) explore.Config {
	return explore.Config{Clients: 2, Threads: 1, Rounds: 2, Faults: 1, Moves: 2, TTL: 2 * time.Second, Seed: seed, Schedules: schedules}
}

func designs(t *testing.T, names ...string) []design.Design {
	t.Helper()
	found, err := impls.Match(names...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// live returns a result with runs without any findings.
func live(names ...string) *results.Result {
	r := &results.Result{Server: runinfo.Server{Kind: "private", Version: "redis 0.0"}, Environment: exploring.Environment()}
	for _, name := range names {
		r.Runs = append(r.Runs, results.Run{
			RunSettings: results.RunSettings{Design: name, Params: map[string]any{"clients": 2., "processes": 2.}},
			Cells:       results.NewCells(map[lockbench.Cell]results.Finding{lockbench.Exclusion.At(0): {Finding: checker.Finding{Verdict: checker.Held, Exposure: 1000}}}),
		})
	}
	return r
}

func request(t *testing.T, o Options) Request {
	t.Helper()
	if o.Known == "" {
		o.Known = "off"
	}
	q, err := o.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestSearchConcludes checks that exploration finds breaches that a short run does not, and that
// the conclusion is the worse of both, with its source.
func TestSearchConcludes(t *testing.T) {
	if testing.Short() {
		t.Skip("explores four locks, each in processes of its own")
	}
	some := designs(t, "setnx-getset/naive", "lua-token/expire", "lua-token/strategy", "lua-token/fenced", "redsync/quorum")
	searches, err := Plan{Designs: some, Scope: scope(1, 2400)}.Search(t.Context(), unheard)
	if err != nil {
		t.Fatal(err)
	}
	r := live("setnx-getset/naive", "lua-token/expire", "lua-token/strategy", "lua-token/fenced", "redsync/quorum", "nobody/knows")
	request(t, Options{}).Conclude(r, some, searches)
	for i, want := range []struct {
		word conclusion.Word
		late bool
	}{{conclusion.DoNotUse, false}, {conclusion.DoNotUse, false}, {conclusion.NeedsGuard, true}, {conclusion.NeedsGuard, true}, {conclusion.NotKnown, false}} {
		run := &r.Runs[i]
		if got := run.Conclusion; got == nil || got.Word != want.word || got.Late != want.late || want.word != conclusion.NotKnown && got.Source != conclusion.Explored {
			t.Errorf("%s: got %+v, want %q, late %v", run.Design, got, want.word, want.late)
		}
	}
	if got := r.Runs[4].Search; got == nil || !strings.Contains(got.NotDone, "5 servers") {
		t.Errorf("quorum: got %+v, want the reason why it is not explored", got)
	}
	if got := r.Runs[5].Conclusion; got == nil || got.Word != conclusion.NotKnown || len(got.LeftOut) != 4 {
		t.Errorf("no design of the catalogue, of which nothing was seen: got %+v, want that it is not known, under all usual conditions", got)
	}
	if got := r.Runs[3].Conclusion.Guard; got != lockbench.FenceGuard {
		t.Errorf("fenced: got guard %q, want that of its fences", got)
	}
}

// TestForeign checks that conditions which cannot occur on the service of a lock are foreign to it.
func TestForeign(t *testing.T) {
	for name, want := range map[string][3]bool{ // script-flush, state-loss, crash
		"lua-token/strategy": {}, "postgres/session": {true, false, false}, "nats/kv": {true, true, false},
	} {
		foreign := Lock(designs(t, name)[0]).Foreign
		got := [3]bool{foreign.Has(lockbench.ScriptFlush), foreign.Has(lockbench.StateLoss), foreign.Has(lockbench.Crash)}
		if got != want {
			t.Errorf("%s: script-flush, state-loss and crash are foreign %v, want %v", name, got, want)
		}
	}
}

// TestCutLeases checks that a lock that cuts a lease to its unit is no lock that lets two owners in
// when nothing goes wrong, unless the next owner comes earlier than a unit before the end.
func TestCutLeases(t *testing.T) {
	for name, want := range map[string]conclusion.Word{
		"cut-millis":  conclusion.NotWithoutGuard,
		"get-set":     conclusion.DoNotUse,
		"drift-added": conclusion.DoNotUse, // by 22 ms of a lease of 2 s
	} {
		d, err := find("mutants/"+name, "")
		if err != nil {
			t.Fatal(err)
		}
		found := Searches{d.Name: &results.Search{}}
		plan := Plan{Scope: scope(1, 2400)}.part([]design.Design{d}, 1, []string{"contend", "odd-leases", "release-twice"})
		if err := (Plan{}).explore(t.Context(), "explore", plan, unheard, found); err != nil {
			t.Fatal(err)
		}
		r := live(d.Name)
		request(t, Options{}).Conclude(r, []design.Design{d}, found)
		if got := r.Runs[0].Conclusion; got == nil || got.Word != want || got.Cell.Under != 0 {
			t.Errorf("%s: got %+v, want %q, when nothing goes wrong", name, got, want)
		}
	}
}

// TestGuardNeedsAStore checks that the conclusion on a run names no guard if the workload has no
// store to guard.
func TestGuardNeedsAStore(t *testing.T) {
	for workload, want := range map[string]lockbench.Guard{"cron": "", "oversell": lockbench.CompareGuard, "": lockbench.CompareGuard} {
		r := live("lua-token/strategy")
		r.Runs[0].Workload = workload
		request(t, Options{Known: "on"}).Conclude(r, designs(t, "lua-token/strategy"), nil)
		if got := r.Runs[0].Conclusion; got.Word != conclusion.NeedsGuard || got.Guard != want {
			t.Errorf("%q: got %+v, want guard %q", workload, got, want)
		}
	}
}

// TestSearchFailsClaims checks that a claim that exploration breaks fails the run, like one
// that the run breaks, and that the same breach fails nothing if it is not claimed.
func TestSearchFailsClaims(t *testing.T) {
	for _, claimed := range []bool{false, true} {
		some := designs(t, "lua-token/expire")
		if claimed {
			some[0].Claims = lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.OwnerRelease}, Survives: conclusion.All()}
		}
		searches, err := Plan{Designs: some, Scope: scope(1, 1000)}.Search(t.Context(), unheard)
		if err != nil {
			t.Fatal(err)
		}
		r := live("lua-token/expire")
		request(t, Options{}).Conclude(r, some, searches)
		if got := r.Runs[0].Exit == results.BrokenClaim; got != claimed {
			t.Errorf("claimed %v: got exit %d", claimed, r.Runs[0].Exit)
		}
	}
}

// TestReleasedMatrixIsUsed checks that a run without exploration concludes from the released
// matrix, unless that is off.
func TestReleasedMatrixIsUsed(t *testing.T) {
	some := designs(t, "setnx-getset/naive")
	for known, want := range map[string]conclusion.Word{"on": conclusion.DoNotUse, "off": conclusion.NotKnown} {
		r := live("setnx-getset/naive")
		request(t, Options{Known: known}).Conclude(r, some, nil)
		if got := r.Runs[0].Conclusion; got.Word != want {
			t.Errorf("known %s: got %+v, want %q", known, got, want)
		}
	}
	r := live("setnx-getset/naive")
	r.Environment.Version = "v0.0.0-another"
	request(t, Options{Known: "on"}).Conclude(r, some, nil)
	if got := r.Runs[0]; got.Known != nil {
		t.Errorf("a run of another lockbench: got %+v, want nothing known", got.Known)
	}
}

// TestPointsConcludeTogether checks that all points of a lock have one conclusion, at the first
// point, with the other findings on the lock.
func TestPointsConcludeTogether(t *testing.T) {
	r := live("lua-token/strategy", "lua-token/strategy")
	for i, clients := range []float64{2, 64} {
		r.Runs[i].Params = map[string]any{"clients": clients, "processes": 2.}
	}
	r.Runs[1].Cells.Set(lockbench.Recovery.At(lockbench.Crash), results.Finding{Finding: checker.Finding{Verdict: checker.Broken, Exposure: 9, Violations: 1}})
	request(t, Options{Known: "on"}).Conclude(r, designs(t, "lua-token/strategy"), nil)
	first, second := &r.Runs[0], &r.Runs[1]
	if got := first.Conclusion; got == nil || got.Word != conclusion.DoNotUse || got.Source != conclusion.Seen {
		t.Errorf("the first point: got %+v, want what the second broke", got)
	}
	if second.Conclusion != nil || second.Known != nil || first.Known == nil {
		t.Errorf("conclusion %+v and known row %v of the second point, known row %v of the first; want the first alone to have them", second.Conclusion, second.Known, first.Known)
	}
	first.Known = nil
	request(t, Options{}).Conclude(r, designs(t, "lua-token/strategy"), nil)
	if !slices.ContainsFunc(first.Conclusion.Open, func(o conclusion.Open) bool { return o.Under == lockbench.ThreadDeath }) {
		t.Errorf("tried too little: %v; want the death of a thread, since processes of the second point have several", first.Conclusion.Open)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Known: "perhaps"}, "--known perhaps"},
		{Options{Known: "on", Explore: -time.Second}, "--explore -1s"},
		{Options{Known: "on", Conditions: []string{"crsh"}}, "crash"},
	} {
		if _, err := c.o.Parse(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want an error with %q", c.o, err, c.want)
		}
	}
	q := request(t, Options{Conditions: []string{"none"}})
	if q.over != 0 {
		t.Errorf("none: got %v", q.over)
	}
}

// unreleased are the names of mutants, which no matrix has.
var unreleased = []string{
	"get-del", "shared-token", "equal-tokens", "setnx-expire", "get-set", "extend-recreates", "failed-extend-frees",
	"release-fallback", "silent-loss", "evalsha-only",
}

// TestExplorationAloneFindsMutants checks that exploration finds nine of ten locks outside of
// the released matrix broken, in the time that a run gives it, for any seed.
func TestExplorationAloneFindsMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("explores ten locks, each in processes of its own")
	}
	seeds := longtest.Times(1, 6)
	for seed := range uint64(seeds) {
		var missed []string
		some := make([]design.Design, 0, len(unreleased))
		for _, name := range unreleased {
			d, err := find("mutants/"+name, "")
			if err != nil {
				t.Fatal(err)
			}
			some = append(some, d)
		}
		searches, err := Plan{Designs: some, Scope: scope(seed+1, 2000)}.Search(context.Background(), unheard)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range some {
			if !slices.ContainsFunc(searches[d.Name].Parts.Together(false).Broken(), func(cell lockbench.Cell) bool { return !documented(cell) }) {
				missed = append(missed, d.Name)
			}
		}
		if len(missed) > 1 {
			t.Errorf("seed %d: %v were not found", seed+1, missed)
		}
	}
}

// documented reports whether every lock with a lease breaks cell, so that a breach does not count
// as catching a mutant.
func documented(cell lockbench.Cell) bool {
	return cell.Under.Has(lockbench.Outlived) && (cell.Guarantee == lockbench.Exclusion || cell.Guarantee == lockbench.Effects) ||
		cell.Under.Has(lockbench.StateLoss) || cell.Under.Has(lockbench.Skew)
}
