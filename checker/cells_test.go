package checker

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

var (
	undisturbed = lockbench.Exclusion.At(0)
	died        = lockbench.Exclusion.At(lockbench.Crash)
	skewed      = lockbench.Exclusion.At(lockbench.Skew)
	both        = lockbench.Exclusion.At(lockbench.Crash | lockbench.Skew)
	three       = lockbench.Exclusion.At(lockbench.Crash | lockbench.Skew | lockbench.Cancel)
	late        = lockbench.Exclusion.At(lockbench.Outlived)
	foreign     = lockbench.Recovery.At(lockbench.Crash)
	replaced    = lockbench.Exclusion.At(lockbench.Failover)
	replacedCut = lockbench.Exclusion.At(lockbench.Failover | lockbench.LostReply)
)

func heldOn(n int64) Finding { return Finding{Verdict: Held, Exposure: n} }

// brokenBy is a finding of 3 violations on 10 occasions.
func brokenBy(against int64) Finding {
	return Finding{Verdict: Broken, Claimed: against > 0, Exposure: 10, Violations: 3, Against: against}
}

// TestReadCells: one table, and what each reading says of its cells.
func TestReadCells(t *testing.T) {
	held := Cells{undisturbed: heldOn(5), died: {Note: "nothing of the kind happened: crash"}, both: heldOn(7), foreign: heldOn(100)}
	mixed := Cells{undisturbed: heldOn(5), died: {}, skewed: heldOn(2), both: brokenBy(0)}
	broken := Cells{undisturbed: brokenBy(1), died: brokenBy(0), both: heldOn(7)}
	struck := Cells{replaced: heldOn(2), replacedCut: heldOn(3)}
	doubted := Cells{died: {Exposure: 4, Note: "held, but not believed"}, both: heldOn(7)}
	for _, c := range []struct {
		name        string
		cells       Cells
		cell        lockbench.Cell
		touched     Finding
		sum         Finding
		heldOn      int64
		when, total int64 // held occasions of Exposure, and those held or broken
	}{
		{"none", nil, undisturbed, Finding{}, Finding{}, 0, 0, 0},
		{"more conditions hold it", held, died, heldOn(7), heldOn(7), 7, 7, 7},
		{"no condition: touched by all, but in tables by none", held, undisturbed, heldOn(12), heldOn(12), 12, 5, 12},
		{"no more conditions", held, both, heldOn(7), heldOn(7), 7, 7, 7},
		{"more conditions broke it: touched, not broken", mixed, died, Finding{}, brokenBy(0), 0, 0, 10},
		{"held, and more conditions broke it", mixed, skewed, heldOn(2), Finding{Verdict: Broken, Exposure: 12, Violations: 3}, 2, 2, 12},
		{"broken, and more conditions held", broken, died, brokenBy(0), Finding{Verdict: Broken, Exposure: 17, Violations: 3}, 0, 7, 17},
		{"the same failovers met both", struck, replaced, heldOn(3), heldOn(5), 3, 3, 3},
		{"not believed", doubted, died, Finding{Verdict: Held, Exposure: 11}, Finding{Verdict: Held, Exposure: 11}, 7, 7, 7},
	} {
		if diff := cmp.Diff(c.cells.Touched(c.cell), c.touched); diff != "" {
			t.Errorf("%s: touched (-got +want):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.cells.Sum(c.cell), c.sum); diff != "" {
			t.Errorf("%s: sum (-got +want):\n%s", c.name, diff)
		}
		if got := c.cells.HeldOn(c.cell); got != c.heldOn {
			t.Errorf("%s: held on %d occasions, want %d", c.name, got, c.heldOn)
		}
		if got := c.cells.Exposure(c.cell, Held); got != c.when {
			t.Errorf("%s: a table has %d occasions, want %d", c.name, got, c.when)
		}
		if got := c.cells.Occasions(c.cell, Held, Broken); got != c.total {
			t.Errorf("%s: %d occasions in all, want %d", c.name, got, c.total)
		}
	}
}

// TestExplains: fewer conditions explain a breach, unless they hide one that counts.
func TestExplains(t *testing.T) {
	for _, c := range []struct {
		name     string
		by, cell lockbench.Cell
		a, b     Finding
		want     bool
	}{
		{"fewer conditions", died, both, brokenBy(0), brokenBy(0), true},
		{"no condition", undisturbed, died, brokenBy(0), brokenBy(0), true},
		{"both count", died, both, brokenBy(1), brokenBy(1), true},
		{"only the simpler one counts", died, both, brokenBy(1), brokenBy(0), true},
		{"only the other one counts", died, both, brokenBy(0), brokenBy(1), false},
		{"itself", died, died, brokenBy(1), brokenBy(1), false},
		{"more conditions", both, died, brokenBy(1), brokenBy(1), false},
		{"other conditions", skewed, died, brokenBy(1), brokenBy(1), false},
		{"another guarantee", foreign, died, brokenBy(1), brokenBy(1), false},
		{"held", died, both, heldOn(5), brokenBy(0), false},
		{"nothing to explain", died, both, brokenBy(0), heldOn(5), false},
	} {
		if got := Explains(c.by, c.cell, &c.a, &c.b); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	cells := Cells{died: brokenBy(0), both: brokenBy(0), three: brokenBy(0), late: brokenBy(0)}
	for cell, want := range map[lockbench.Cell]lockbench.Cell{both: died, three: died, died: {}, late: {}} {
		if got, found := cells.Explained(cell); got != want || found != (want != lockbench.Cell{}) {
			t.Errorf("%s is explained by %q, want %q", cell, got, want)
		}
	}
}

// TestJoin: counts add up and the graver finding gives the verdict, in either order; a tie decides
// between equals alone.
func TestJoin(t *testing.T) {
	asked, seen := brokenBy(0), brokenBy(1)
	asked.Questions = ByQuestion{TwoAtOnce: 1, TooShort: 2}
	seen.Note, seen.Exercised = "seen", true
	for _, c := range []struct {
		name          string
		milder, worse Finding
		want          Finding
	}{
		{"held and broken", heldOn(5), seen, Finding{Verdict: Broken, Claimed: true, Exercised: true, Exposure: 15, Violations: 3, Against: 1, Note: "seen"}},
		{"no lease, and too few", Finding{Verdict: NotApplicable, Note: "no lease"}, Finding{Note: "too few"}, Finding{Note: "too few"}},
		{"untested and held", Finding{Note: "too few"}, heldOn(2), heldOn(2)},
		{"both broken, one counts", asked, brokenBy(1), Finding{Verdict: Broken, Claimed: true, Exposure: 20, Violations: 6, Against: 1, Questions: ByQuestion{TwoAtOnce: 4, TooShort: 2}}},
	} {
		for _, tie := range []bool{false, true} {
			if sum, taken := c.milder.Join(lockbench.Exclusion, c.worse, tie); !taken || !cmp.Equal(sum, c.want) {
				t.Errorf("%s: got %+v, taken %v, want %+v", c.name, sum, taken, c.want)
			}
			if sum, taken := c.worse.Join(lockbench.Exclusion, c.milder, tie); taken || !cmp.Equal(sum, c.want) {
				t.Errorf("%s, the other way: got %+v, taken %v, want %+v", c.name, sum, taken, c.want)
			}
		}
	}
	first, second := heldOn(2), heldOn(3)
	first.Note, second.Note = "first", "second"
	for tie, want := range map[bool]string{false: "first", true: "second"} {
		if sum, taken := first.Join(lockbench.Exclusion, second, tie); sum.Note != want || taken != tie || sum.Exposure != 5 {
			t.Errorf("tie %v: got %+v, taken %v", tie, sum, taken)
		}
	}
}

// TestDoubt: held cells under the condition are untested, with their exposure; others stay.
func TestDoubt(t *testing.T) {
	claimed := heldOn(3)
	claimed.Claimed = true
	before := func() Cells {
		return Cells{undisturbed: heldOn(5), died: claimed, both: heldOn(7), skewed: brokenBy(1), late: {Note: "none"}}
	}
	doubted := func(f Finding) Finding { f.Verdict, f.Note = Untested, "why"; return f }
	for _, c := range []struct {
		under   lockbench.Conditions
		claimed bool
		changed []lockbench.Cell
	}{
		{0, true, []lockbench.Cell{undisturbed, died, both}},
		{lockbench.Crash, true, []lockbench.Cell{died, both}},
		{lockbench.Skew, false, []lockbench.Cell{both}},
		{lockbench.Cancel, false, nil},
	} {
		got, want := before(), before()
		for _, cell := range c.changed {
			want[cell] = doubted(want[cell])
		}
		if claims := got.Doubt(c.under, "why"); claims != c.claimed {
			t.Errorf("%v: claimed %v, want %v", c.under, claims, c.claimed)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%v (-got +want):\n%s", c.under, diff)
		}
	}
}

// TestFirst: the order in which breaches are looked at.
func TestFirst(t *testing.T) {
	steps := map[lockbench.Cell]int{undisturbed: 9, died: 9, skewed: 4, both: 2, late: 1}
	none := func(lockbench.Cell) bool { return false }
	all := Cells{undisturbed: brokenBy(0), died: brokenBy(0), skewed: brokenBy(0), both: brokenBy(1), late: brokenBy(0), foreign: brokenBy(1), three: heldOn(4)}
	for _, c := range []struct {
		name  string
		gone  []lockbench.Cell
		fails func(lockbench.Cell) bool
		want  lockbench.Cell
	}{
		{"one that fails", nil, func(cell lockbench.Cell) bool { return all[cell].Against > 0 }, both},
		{"fewest conditions", nil, none, undisturbed},
		{"shortest schedule", []lockbench.Cell{undisturbed}, none, skewed},
		{"more conditions before a late owner", []lockbench.Cell{undisturbed, skewed, died}, none, both},
		{"a late owner", []lockbench.Cell{undisturbed, skewed, died, both}, none, late},
		{"no schedule", []lockbench.Cell{undisturbed, skewed, died, both, late}, none, lockbench.Cell{}},
	} {
		some := maps.Clone(all)
		for _, cell := range c.gone {
			delete(some, cell)
		}
		got, found := some.First(c.fails, func(cell lockbench.Cell) int { return steps[cell] })
		if got != c.want || found != (c.want != lockbench.Cell{}) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestAcross counts runs.
func TestAcross(t *testing.T) {
	open := Cells{undisturbed: {Claimed: true, Exercised: true}}
	runs := []Cells{{undisturbed: brokenBy(0)}, {undisturbed: heldOn(5), died: heldOn(2)}, open, {undisturbed: heldOn(1)}}
	want := Runs{Verdict: Broken, Claimed: true, Exercised: true, Runs: 3, Broken: 1, Violations: 3, Occasions: 8}
	if diff := cmp.Diff(Across(runs, undisturbed), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	for _, c := range []struct {
		runs []Cells
		want string
	}{
		{runs, "broken in 1 of 3 runs"},
		{runs[3:], "held in 1 run"},
		{[]Cells{open}, "untested"},
		{nil, "n/a"},
	} {
		if got := Across(c.runs, undisturbed).String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestFindingJSON: a finding is the same after a file, but for what no file has.
func TestFindingJSON(t *testing.T) {
	f := brokenBy(1)
	f.Exercised, f.Note, f.Measures = true, "seen", map[string]float64{"overlap_count": 3}
	f.Questions = ByQuestion{TwoAtOnce: 1, LostUpdate: 2}
	f.Counterexample = &Counterexample{Key: "k", Sentence: "two owners", Breaks: []lockbench.Guarantee{lockbench.Exclusion}, Margin: 7}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"verdict":"broken","claimed":true,"exercised":true,"exposure":10,"violations":3,"against":1,` +
		`"questions":{"lost update":2,"two at once":1},"note":"seen","measures":{"overlap_count":3},` +
		`"counterexample":{"key":"k","sentence":"two owners","breaks":["exclusion"],"margin_ns":7,"holds":[],"ops":[]}}`
	if diff := cmp.Diff(string(text), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	var again Finding
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(again, f); diff != "" {
		t.Errorf("read again (-got +want):\n%s", diff)
	}
}

// TestCounterexampleJSON: a real counterexample is the same after a file, as far as it is drawn.
func TestCounterexampleJSON(t *testing.T) {
	h := parseText(t, `A 0-1 acquire ok ttl=100
B 10-11 acquire ok ttl=100
A 50-200 release unknown
B 60-61 release ok`)
	r, err := Check(h.source())
	if err != nil {
		t.Fatal(err)
	}
	w := r.Find(undisturbed).Counterexample
	first, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var again Counterexample
	if err := json.Unmarshal(first, &again); err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(&again)
	if err != nil || len(w.Holds) != 2 {
		t.Fatal(err, len(w.Holds))
	}
	if diff := cmp.Diff(string(second), string(first)); diff != "" {
		t.Errorf("(-again +first):\n%s", diff)
	}
	if diff := cmp.Diff(again.Holds, w.Holds); diff != "" {
		t.Errorf("holds (-got +want):\n%s", diff)
	}
}

// TestFirstByWeight checks which of two cells under the same number of conditions comes first, the
// second with the shorter schedule.
func TestFirstByWeight(t *testing.T) {
	more := brokenBy(0)
	more.Violations++
	told := lockbench.LossReported.At(lockbench.Skew)
	for _, c := range []struct {
		name          string
		first, second lockbench.Cell
		all           Cells
	}{
		{"more than an untrue answer", skewed, told, Cells{skewed: brokenBy(0), told: more}},
		{"most violations", died, skewed, Cells{died: more, skewed: brokenBy(0)}},
	} {
		steps := map[lockbench.Cell]int{c.first: 9, c.second: 3}
		got, _ := c.all.First(func(lockbench.Cell) bool { return true }, func(cell lockbench.Cell) int { return steps[cell] })
		if got != c.first {
			t.Errorf("%s: got %s, want %s", c.name, got, c.first)
		}
	}
}
