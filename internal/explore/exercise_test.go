package explore

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/workloads"
)

func TestExercises(t *testing.T) {
	renewing := design.Design{Renews: true}
	for _, c := range []struct {
		name, scenario string
		cfg            Config
		skews          bool
		want           string // in addition to the cells of every scenario
	}{
		{"nothing goes wrong", "contend", Config{Faults: -1, Moves: -1}, true, "exclusion lease"},
		{"alone", "overrun", Config{Clients: 1, Kinds: []fault.Kind{fault.DieAfter, fault.Restart, fault.Skew}}, true, "recovery@crash"},
		{"all faults, no clock", "contend", Config{Moves: -1, Kinds: []fault.Kind{fault.DieBefore, fault.Cut, fault.Cancel, fault.Skew, fault.ScriptFlush, fault.Restart, fault.SlowReply}}, false,
			"exclusion exclusion@state-loss lease answers@script-flush recovery@crash recovery@lost-reply recovery@cancel"},
		{"clocks off", "contend", Config{Moves: -1, Kinds: []fault.Kind{fault.Skew}}, true, "exclusion exclusion@skew lease"},
		{"one clock for all", "contend", Config{Threads: 2, Moves: -1, Kinds: []fault.Kind{fault.Skew}}, true, "exclusion lease"},
		{"threads die", "contend", Config{Threads: 2, Moves: -1, Kinds: []fault.Kind{fault.DieAfter}}, true, "exclusion lease recovery@thread-death"},
		{"a pause", "contend", Config{Moves: -1, Kinds: []fault.Kind{fault.Pause}}, true,
			"exclusion exclusion@outlived lease owner-release@outlived loss-reported@outlived"},
		{"time passes while others wait", "wait", Config{Faults: -1}, true, "exclusion lease"},
		{"late by themselves", "overrun", Config{Faults: -1, Moves: -1}, true,
			"exclusion exclusion@outlived lease owner-release@outlived loss-reported@outlived"},
		{"late and renewed", "overrun", Config{Design: renewing, Faults: -1}, true, "exclusion exclusion@outlived lease"},
		{"nested", "nested", Config{Design: renewing, Faults: -1}, true, "exclusion lease reentrancy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Scenario = c.scenario
			cfg, s, _ := c.cfg.resolve() // a design that cannot be opened exercises nothing less
			got := cfg.exercises(s, c.skews)
			want := []lockbench.Cell{lockbench.Fencing.At(0), lockbench.NoSpuriousRefusal.At(0)}
			for text := range strings.FieldsSeq(c.want) {
				cell, err := lockbench.ParseCell(text)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, cell)
			}
			if diff := cmp.Diff(inOrder(got), inOrder(want)); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// inOrder sorts cells and removes duplicates.
func inOrder(all []lockbench.Cell) []lockbench.Cell {
	return slices.Compact(slices.SortedFunc(slices.Values(all), lockbench.Cell.Compare))
}

// TestSlowReplyMayComeTooLate holds a reply to a renewal back until the renewal has timed
// out, and then delivers it: it touches the conditions of its kind, and the move of time while it
// waits is a pause.
func TestSlowReplyMayComeTooLate(t *testing.T) {
	notify, err := impls.Match("hash-reentrant/notify")
	if err != nil {
		t.Fatal(err)
	}
	inWorld(t, Config{Design: notify[0], Scenario: "overrun", Kinds: []fault.Kind{fault.SlowReply}}, func(w *world) {
		schedule := &strategy.Guided{Choices: []strategy.Choice{
			{Verb: strategy.VerbRun, Actor: 0}, {Verb: strategy.VerbRun, Actor: 0}, // acquires, and reads the record
			{Verb: strategy.VerbRun, Actor: 1},                                           // is refused
			{Verb: strategy.VerbRun, Actor: 0}, {Verb: strategy.VerbSlowReply, Actor: 0}, // renewals
			{Verb: strategy.VerbMove, Actor: strategy.NoActor, Nth: 3}, // past the lease as the second renewal left it
		}}
		schedule.Begin()
		p, err := w.runShown(schedule)
		if err != nil {
			t.Fatal(err)
		}
		late := slices.ContainsFunc(p.notes.lines, func(l line) bool { return strings.HasPrefix(l.what, "late: reply:") })
		var touched lockbench.Conditions
		for _, f := range p.judged.Findings {
			if f.Exposure > 0 {
				touched |= f.Cell.Under
			}
		}
		want := fault.Of(fault.SlowReply).Conditions | lockbench.Pause
		if got := touched &^ lockbench.Outlived; !late || got != want {
			t.Errorf("got occasions under %q, want %q; the reply came too late: %t, by %q", got, want, late, p.notes.lines)
		}
	})
}

// TestScenariosExercise checks that every default scenario exercises something, and that
// scenarios on request exercise nothing that they cannot.
func TestScenariosExercise(t *testing.T) {
	for _, s := range workloads.By(workloads.Explored) {
		if has := len(s.Exercises) > 0; !has && !s.Exploration.OnRequest {
			t.Errorf("%s exercises nothing", s.Name)
		}
	}
}

// TestUntestedClaimsShow distinguishes an untested claim that could have been tested from
// one that could not.
func TestUntestedClaimsShow(t *testing.T) {
	var m findingSum
	died := lockbench.Recovery.At(lockbench.Crash)
	cells := []lockbench.Cell{lockbench.Exclusion.At(0), lockbench.Fencing.At(0), died}
	h := history.Header{Claims: lockbench.LeaseClaims()}
	m.add(emptyResult(h, nil), nil)
	exercised := map[lockbench.Cell]string{}
	for _, f := range m.result(cells, emptyResult(h, cells)) {
		if f.Exercised {
			exercised[f.Cell] = f.Note
		}
	}
	want := map[lockbench.Cell]string{cells[0]: "no acquire met a held lock", died: "nothing of the kind happened: crash"}
	if diff := cmp.Diff(exercised, want); diff != "" {
		t.Errorf("exercised and untested (-got +want), fencing is n/a:\n%s", diff)
	}
}

// TestUntestedAlthoughItHappened notes the missing occasion of a cell, although a
// schedule with its conditions has others.
func TestUntestedAlthoughItHappened(t *testing.T) {
	var m findingSum
	m.add(checker.Result{Findings: []checker.CellFinding{{Cell: lockbench.Exclusion.At(lockbench.Crash), Finding: checker.Finding{Verdict: checker.Held, Exposure: 1}}}}, nil)
	died := lockbench.Recovery.At(lockbench.Crash)
	got := checker.Result{Findings: m.result([]lockbench.Cell{died}, emptyResult(history.Header{}, []lockbench.Cell{died}))}.Find(died)
	if got.Verdict != checker.Untested || !strings.Contains(got.Note, "nobody was granted the key") {
		t.Errorf("got %s, %q", got.Verdict, got.Note)
	}
}
