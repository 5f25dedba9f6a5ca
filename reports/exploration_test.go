package reports

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// exploredSample returns explorations of three designs: a design that breaks an unclaimed cell and
// a claimed one, in two scenarios; a design that holds everything; and a design with lock code that
// crashed.
func exploredSample() []results.Explored {
	died := exploredIn("watch-multi/poll", "contend", 0)
	died.Verdicts.Findings, died.Coverage = nil, results.Coverage{}
	died.Err = errors.New("the process that explored died (exit status 2): fatal error: all goroutines are asleep")
	overran := broken(overrun, false, 9, 9)
	overran.Counterexample = plainDelete("embedded").Verdicts.Find(overrun).Counterexample
	return []results.Explored{
		brokenByContention(), brokenByOverrun(),
		exploredIn("lua-token/token", "contend", 3000, held(exclusive, 900), held(crashed, 77)),
		exploredIn("lua-token/token", "overrun", 4000, held(exclusive, 100), overran,
			checker.CellFinding{Cell: crashed, Finding: checker.Finding{Claimed: true, Exercised: true}}),
		died,
	}
}

func lackingSample() results.Explored {
	e := exploredIn("lua-token/options", "extend", 0)
	e.Coverage, e.Verdicts.Findings, e.Lacks = results.Coverage{}, nil, "extend"
	return e
}

func exploredIn(design, scenario string, schedules int64, findings ...checker.CellFinding) results.Explored {
	h := header(design, "embedded")
	h.Workload, h.Started, h.Seed = scenario, "", 7
	h.Params = map[string]any{"clients": 2.0, "rounds": 2.0, "ttl_ns": 2e9}
	h.Server.Version = "miniredis v2.40.0"
	e := results.Explored{
		Judged: results.Judged{Header: h, Verdicts: checker.Result{Grants: schedules * 2}},
		Coverage: results.Coverage{
			Strategy: "exhaustive", Clients: 2, Threads: 1, Rounds: 2, Faults: 1, Moves: 2,
			Kinds: []string{"die-before", "lost-reply"}, Schedules: schedules, Pruned: 70, Complete: true,
		},
		Elapsed: 1200 * time.Millisecond,
	}
	e.Verdicts.Findings = judged(h, 0, findings...).Verdicts.Findings
	return e
}

func brokenByContention() results.Explored {
	e := exploredIn("lua-token/expire", "contend", 14_236,
		broken(stale, false, 7, 31), broken(crashed, true, 1, 12),
		broken(lockbench.Recovery.At(lockbench.Crash|lockbench.LostReply), true, 2, 5),
		checker.CellFinding{Cell: lease, Finding: checker.Finding{Claimed: true}},
	)
	e.Coverage.Strategy, e.Coverage.Complete, e.Coverage.Stopped = "random", false, "budget"
	e.Schedules = map[lockbench.Cell]results.Schedule{
		stale: {Sentence: "c1's late release freed c2's lock", FoundAt: 1812, Replay: "long one", Steps: make([]results.Step, 20)},
		crashed: {Sentence: "c1 died, and c2 was refused long after", FoundAt: 17, Replay: "design: lua-token/expire\n", Steps: []results.Step{
			{At: 0, Client: "c1", Command: "EVALSHA " + strings.Repeat("9", 40) + " 1 k token#1 2000 and much more of that", Reply: "1", Holders: []string{"c1"}},
			{At: int64(time.Millisecond), Client: "c1", Command: "DEL k", Fault: "die-before"},
			{At: int64(2 * time.Second), Client: "time"},
			{At: int64(2 * time.Second), Client: "c2", Command: "EVALSHA\n1 k", Reply: "0"},
		}},
	}
	e.FoundAfter = map[lockbench.Cell]time.Duration{crashed: 12 * time.Millisecond}
	return e
}

func brokenByOverrun() results.Explored {
	freed := broken(stale, false, 3, 10)
	freed.Counterexample = plainDelete("embedded").Verdicts.Find(stale).Counterexample
	untold := broken(told, false, 4, 10)
	untold.Counterexample = freed.Counterexample
	e := exploredIn("lua-token/expire", "overrun", 300, freed, untold)
	steps := []results.Step{
		{Client: "c1", Command: "EVALSHA k", Reply: "1", Holders: []string{"c1"}},
		{At: int64(2200 * time.Millisecond), Client: "c2", Command: "EVALSHA k", Reply: "1", Holders: []string{"c1", "c2"}},
		{At: int64(3 * time.Second), Client: "c1", Command: "DEL k", Reply: "1", Holders: []string{"c2"}},
	}
	e.Schedules = map[lockbench.Cell]results.Schedule{
		stale: {Sentence: "c1's late release freed c2's lock", FoundAt: 1, Replay: "short one\n", Steps: steps},
		told:  {Sentence: "c1 was told that it released", FoundAt: 1, Replay: "short one\n", Steps: steps},
	}
	return e
}

func TestTerminalExploration(t *testing.T) {
	all := results.NewExploration(exploredSample(), []string{"watch-multi/give-up"})
	if err := results.Replays("replays dir", results.Result{}, nil); err != nil { // nothing to write: no directory
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := results.Replays(dir, all, func(g results.Finding) bool { return g.Verdict == checker.Broken }); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		result results.Result
		opt    Options
	}{
		{"explored", all, Options{}},
		{"explored-narrow", all, Options{Width: 40, Color: true, Brief: true}},
		{"explored-held", results.NewExploration(append(exploredSample()[2:4], lackingSample()), nil), Options{}},
		{"explored-nothing", results.NewExploration(nil, []string{"lua-token/token"}), Options{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := Write(&buf, Text, &c.result, c.opt); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".txt", bytes.ReplaceAll(buf.Bytes(), []byte(dir), []byte("DIR")))
		})
	}
}

func TestExplorationColourSaysNothingMore(t *testing.T) {
	var plain, coloured bytes.Buffer
	r := results.NewExploration(exploredSample(), nil)
	if err := errors.Join(Write(&plain, Text, &r, Options{}), Write(&coloured, Text, &r, Options{Color: true})); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stripColour(coloured.String()), plain.String()); diff != "" {
		t.Errorf("the text differs (-coloured +plain):\n%s", diff)
	}
	if err := Write(full{}, Text, &r, Options{}); !errors.Is(err, errFull) {
		t.Errorf("no space left: got %v, want %v", err, errFull)
	}
}

func TestExplorationExit(t *testing.T) {
	all := exploredSample()
	lacking := lackingSample()
	nothing := exploredIn("d", "contend", 0, held(exclusive, 1))
	defect := exploredIn("d", "contend", 5, held(exclusive, 1))
	defect.Verdicts.Defects = []string{"it did not replay"}
	cases := []struct {
		name   string
		runs   []results.Explored
		notRun []string
		want   int
	}{
		{"a scenario tests what another leaves untested", all[2:4], nil, results.Passed},
		{"a claim that none tests", all[3:4], nil, results.Inconclusive},
		{"broken but not claimed", all[1:2], nil, results.Passed},
		{"a broken claim outweighs all", all, []string{"d"}, results.BrokenClaim},
		{"crashed", all[4:], nil, results.Inconclusive},
		{"no schedule", []results.Explored{nothing}, nil, results.Inconclusive},
		{"a defect", []results.Explored{defect}, nil, results.Inconclusive},
		{"not run", all[2:4], []string{"d"}, results.Inconclusive},
		{"nothing", nil, nil, results.Inconclusive},
		{"lacks what a scenario needs", append(all[2:4:4], lacking), nil, results.Passed},
		{"none has what the scenario needs", []results.Explored{lacking}, nil, results.Inconclusive},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := results.NewExploration(c.runs, c.notRun).Exit; got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestExplorationsFollowTheSchema(t *testing.T) {
	closed := compile(t, true)
	for _, r := range []results.Result{results.NewExploration(exploredSample(), []string{"x"}), results.NewExploration(nil, nil)} {
		if err := closed.Validate(encodedResult(t, r)); err != nil {
			t.Error(err)
		}
	}
}

func TestSchemaRefusesExplorations(t *testing.T) {
	var text bytes.Buffer
	if err := Write(&text, JSON, pointer(results.NewExploration(exploredSample()[:1], nil)), Options{}); err != nil {
		t.Fatal(err)
	}
	published := compile(t, false)
	for _, c := range []struct{ name, old, new string }{
		{"a strategy that is none", `"strategy": "random"`, `"strategy": "luck"`},
		{"steps without time", `"at_ns"`, `"at"`},
		{"no replay", `"replay"`, `"again"`},
		{"no timings", `"timings"`, `"times"`},
		{"fewer than no schedules", `"schedules": 14236`, `"schedules": -1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.ReplaceAll(text.String(), c.old, c.new)
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(bad))
			if err != nil || bad == text.String() {
				t.Fatalf("%q is not in the result, or %v", c.old, err)
			}
			if published.Validate(doc) == nil {
				t.Error("taken, want it refused")
			}
		})
	}
}

// TestTimingsStandApart checks that two explorations with different durations have
// the same JSON, except for the objects named timings.
func TestTimingsStandApart(t *testing.T) {
	timings := regexp.MustCompile(`(?s)"timings": \{[^}]*(\{[^}]*\}[^}]*)?\}`)
	var texts [2]string
	for i := range texts {
		runs := exploredSample()
		for j := range runs {
			runs[j].Elapsed += time.Duration(i) * time.Minute
			for g := range runs[j].FoundAfter {
				runs[j].FoundAfter[g] += time.Duration(i)
			}
		}
		var buf bytes.Buffer
		if err := Write(&buf, JSON, pointer(results.NewExploration(runs, nil)), Options{}); err != nil {
			t.Fatal(err)
		}
		texts[i] = buf.String()
	}
	if texts[0] == texts[1] {
		t.Error("the timings are not told")
	}
	if diff := cmp.Diff(timings.ReplaceAllString(texts[0], ""), timings.ReplaceAllString(texts[1], "")); diff != "" {
		t.Errorf("more than the timings differs:\n%s", diff)
	}
}

func TestReplays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := results.Replays(dir, results.NewExploration(exploredSample(), nil), func(g results.Finding) bool { return g.Claimed || g.Verdict == checker.Broken }); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"lua-token-expire.owner-release-outlived.replay": "short one\n", // not the longer one of the other scenario
		"lua-token-expire.recovery-crash.replay":         "design: lua-token/expire\n",
		"lua-token-expire.loss-reported-outlived.replay": "short one\n",
	}
	got := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(f)] = string(text)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("files (-got +want):\n%s", diff)
	}
	if err := results.Replays(files[0], results.NewExploration(exploredSample(), nil), func(results.Finding) bool { return true }); err == nil {
		t.Error("a file in the directory's place: got no error")
	}
}

// TestRunsOfOneDesign checks that scenarios together have the graver verdict, and the sum of their
// occasions.
func TestRunsOfOneDesign(t *testing.T) {
	merged := results.NewExploration(exploredSample(), nil).Designs()
	if len(merged.Runs) != 3 {
		t.Fatalf("got %d runs, want one for each of 3 designs", len(merged.Runs))
	}
	g := merged.Runs[0].Cells.At(stale)
	if g.Verdict != checker.Broken || g.Exposure != 41 || g.Violations != 10 || len(g.Schedule.Steps) != 3 {
		t.Errorf("owner-release: got %+v, want 10 of 41 broken, by 3 steps", g)
	}
	if diff := cmp.Diff(g.Scenarios, []string{"overrun", "contend"}); diff != "" {
		t.Errorf("scenarios, that of the schedule first (-got +want):\n%s", diff)
	}
	if got := merged.Runs[1].Cells.At(crashed); got.Verdict != checker.Held || !got.Exercised || got.Exposure != 77 {
		t.Errorf("recovery: got %+v, want held, as the scenario that tests it says", got)
	}
}
