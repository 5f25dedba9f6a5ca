package conclusion

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// enough returns held findings with enough occasions for every test that a conclusion requires.
func enough() map[lockbench.Cell]found {
	all := map[lockbench.Cell]found{}
	for under, wants := range required {
		if wants.safety {
			all[lockbench.LeaseKept.At(under)] = held0(Enough)
		}
		if wants.liveness {
			all[lockbench.Answers.At(under)] = held0(Enough)
		}
	}
	return all
}

// found is a finding, with the conditions of the lasting exception that excuses it.
type found struct {
	checker.Finding
	after lockbench.Conditions
}

func held0(n int64) found { return found{Finding: checker.Finding{Verdict: checker.Held, Exposure: n}} }

var brokenOnce = found{Finding: checker.Finding{Verdict: checker.Broken, Exposure: 10, Violations: 1}}

// from returns the evidence of a source, without a guard and with one.
func from(s Source, cells, guarded map[lockbench.Cell]found) []Evidence {
	one := func(guarded bool, all map[lockbench.Cell]found) Evidence {
		e := Evidence{Source: s, Guarded: guarded, Cells: checker.Cells{}, After: map[lockbench.Cell]lockbench.Conditions{}}
		for cell, f := range all {
			e.Cells[cell], e.After[cell] = f.Finding, f.after
		}
		return e
	}
	return []Evidence{one(false, cells), one(true, guarded)}
}

// after returns a breach that only earlier conditions, c, explain.
func after(c lockbench.Conditions) found {
	f := brokenOnce
	f.after = c
	return f
}

// with returns the findings of enough, with f on cell.
func with(cell lockbench.Cell, f found) map[lockbench.Cell]found {
	all := enough()
	all[cell] = f
	return all
}

// without returns the findings of enough, without cell.
func without(cell lockbench.Cell) map[lockbench.Cell]found {
	all := enough()
	delete(all, cell)
	return all
}

// split returns the findings of enough, with those under one condition in two cells of half as many
// occasions for each kind of breach.
func split(under lockbench.Conditions) map[lockbench.Cell]found {
	all := enough()
	for _, g := range []lockbench.Guarantee{lockbench.LeaseKept, lockbench.Exclusion, lockbench.Answers, lockbench.Recovery} {
		all[g.At(under)] = held0(Enough/2 + 1)
	}
	return all
}

// stops has the finding that a guard stops lost updates.
var stops = map[lockbench.Cell]found{lockbench.Effects.At(0): held0(Enough)}

func TestDraw(t *testing.T) {
	lease := Lock{Foreign: lockbench.ThreadDeath, Guard: lockbench.CompareGuard}
	for _, c := range []struct {
		name    string
		lock    Lock
		over    lockbench.Conditions
		cells   map[lockbench.Cell]found
		guarded map[lockbench.Cell]found
		word    Word
		why     string
		late    bool
	}{
		{"nothing broke", lease, Usual(), enough(), stops, Safe, "nothing broke", false},
		{"nothing broke, no lease", Lock{Leaseless: true}, Usual(), enough(), nil, SafeSession, "nothing broke", false},
		{"a session does not end like a lease", Lock{Leaseless: true}, Usual(), without(lockbench.LeaseKept.At(lockbench.Outlived)), nil, SafeSession, "", false},

		{"a key is stuck after a crash", lease, Usual(), with(lockbench.Recovery.At(lockbench.Crash), brokenOnce), stops, DoNotUse, "stuck, when", false},
		{"stuck, whatever a guard stops", lease, Usual(), with(lockbench.Recovery.At(lockbench.Cancel|lockbench.LostReply), brokenOnce), stops, DoNotUse, "stuck, when", false},
		{"stuck after what does not count", lease, Usual(), with(lockbench.Recovery.At(lockbench.Failover), brokenOnce), stops, Safe, "", false},
		{"stuck after what counts here", lease, All(), with(lockbench.Recovery.At(lockbench.Failover), brokenOnce), stops, DoNotUse, "primary is lost", false},
		{"stuck after a mixture of which one does not count", lease, Usual(), with(lockbench.Recovery.At(lockbench.Crash|lockbench.Skew), brokenOnce), stops, Safe, "", false},

		{"two at once when nothing goes wrong, whatever a guard stops", lease, Usual(), with(lockbench.Exclusion.At(0), brokenOnce), stops, DoNotUse, "two-owners, even when nothing goes wrong", false},
		{"the same, and nobody tried a guard", lease, Usual(), with(lockbench.Exclusion.At(0), brokenOnce), nil, DoNotUse, "even when nothing goes wrong", false},
		{"updates lost when nothing goes wrong", lease, Usual(), with(lockbench.Effects.At(0), brokenOnce), stops, DoNotUse, "lost-update, even", false},
		{"a release of another's key when nothing goes wrong", lease, Usual(), with(lockbench.OwnerRelease.At(0), brokenOnce), stops, DoNotUse, "two-owners, even when nothing", false},
		{"a lease that is cut short", lease, Usual(), with(lockbench.LeaseKept.At(0), brokenOnce), stops, NeedsGuard, "even when nothing goes wrong", false},
		{"two at once only after what does count", lease, Usual(), with(lockbench.Exclusion.At(0), after(lockbench.LostReply)), stops, NeedsGuard, "reply is lost", false},

		{"two at once, and a guard does not help", lease, Usual(), with(lockbench.Exclusion.At(lockbench.Cancel), brokenOnce),
			map[lockbench.Cell]found{lockbench.Effects.At(lockbench.Crash): brokenOnce}, DoNotUse, "lost-update, when: process dies, with a guard in the store", false},
		{"a guard fails under what does not count", lease, Usual(), with(lockbench.Exclusion.At(lockbench.Cancel), brokenOnce),
			map[lockbench.Cell]found{lockbench.Effects.At(lockbench.StateLoss): brokenOnce, lockbench.Effects.At(0): held0(Enough)}, NeedsGuard, "two-owners, when", false},

		{"two at once, and nobody tried a guard", lease, Usual(), with(lockbench.Exclusion.At(lockbench.Cancel), brokenOnce), nil, NotWithoutGuard, "; a guard was not tried", false},
		{"two at once, and a guard was tried too little", lease, Usual(), with(lockbench.Exclusion.At(lockbench.Cancel), brokenOnce),
			map[lockbench.Cell]found{lockbench.Effects.At(0): held0(Enough - 1)}, NotWithoutGuard, "; a guard was not tried", false},

		{"two at once, and nobody relies on what a guard held", lease, Usual(), with(lockbench.Exclusion.At(lockbench.Cancel), brokenOnce),
			map[lockbench.Cell]found{lockbench.Effects.At(0): {Finding: checker.Finding{Verdict: checker.Untested, Exposure: Enough}}}, NotWithoutGuard, "; a guard was not tried", false},
		{"two at once, and a guard stops it under a condition", lease, Usual(), with(lockbench.Exclusion.At(lockbench.Cancel), brokenOnce),
			map[lockbench.Cell]found{lockbench.Effects.At(lockbench.Crash): held0(Enough)}, NeedsGuard, "call is cancelled", false},

		{"two at once, and a guard stops it", lease, Usual(), with(lockbench.Exclusion.At(lockbench.Cancel), brokenOnce), stops, NeedsGuard, "call is cancelled", false},
		{"a late release frees the next one's key", lease, Usual(), with(lockbench.OwnerRelease.At(lockbench.Outlived), brokenOnce), stops, NeedsGuard, "two-owners, when: holder outlives", false},
		{"work past the lease", lease, Usual(), with(lockbench.Exclusion.At(lockbench.Outlived), brokenOnce), stops, NeedsGuard, "late-owner, when", true},
		{"work past the lease, which does not happen", lease, Usual() &^ lockbench.Outlived, with(lockbench.Exclusion.At(lockbench.Outlived), brokenOnce), stops, Safe, "", false},
		{"a refusal of a free key is not unsafe", lease, Usual(), with(lockbench.NoSpuriousRefusal.At(lockbench.LostReply), brokenOnce), stops, Safe, "", false},

		{"two at once after what the lock remembers", lease, Usual(), with(lockbench.LeaseKept.At(0), after(lockbench.LostReply)), stops, NeedsGuard, "reply is lost", false},
		{"after what does not count", lease, Usual() &^ lockbench.LostReply, with(lockbench.Exclusion.At(0), after(lockbench.LostReply)), stops, Safe, "", false},

		{"nothing was tried", lease, Usual(), nil, nil, NotKnown, "too little", false},
		{"no crash was tried", lease, Usual(), without(lockbench.LeaseKept.At(lockbench.Crash)), stops, NotKnown, "process dies: not at all", false},
		{"crashes were tried too little", lease, Usual(), with(lockbench.Answers.At(lockbench.Crash), held0(Enough-1)), stops, NotKnown, "298 occasions", false},
		{"no crash was tried, and none happens", lease, Usual() &^ lockbench.Crash, without(lockbench.LeaseKept.At(lockbench.Crash)), stops, Safe, "", false},
		{"no crash can happen to it", Lock{Foreign: lockbench.Crash | lockbench.ThreadDeath}, Usual(), without(lockbench.LeaseKept.At(lockbench.Crash)), stops, Safe, "", false},
		{"few deaths in each cell, and enough in all", lease, All(), split(lockbench.Crash), stops, Safe, "", false},
		{"few failovers in each cell, which may be the same", lease, All(), split(lockbench.Failover), stops, NotKnown, "primary is lost: 150 occasions", false},
		{"no failover was tried, and it counts", lease, All(), without(lockbench.LeaseKept.At(lockbench.Failover)), stops, NotKnown, "primary is lost", false},
	} {
		got := Draw(c.lock, c.over, from(Explored, c.cells, c.guarded)...)
		if got.Word != c.word || !strings.Contains(got.Why, c.why) || got.Late != c.late {
			t.Errorf("%s: got %q, %q, late %v; want %q, %q, late %v", c.name, got.Word, got.Why, got.Late, c.word, c.why, c.late)
		}
	}
}

// TestBreach checks the kind of a breach: the reason begins with it.
func TestBreach(t *testing.T) {
	told := brokenOnce
	told.Questions[checker.ToldWrong] = 1
	for _, c := range []struct {
		cell  lockbench.Cell
		found found
		want  Breach
	}{
		{lockbench.Exclusion.At(lockbench.Pause), brokenOnce, TwoOwners},
		{lockbench.Exclusion.At(lockbench.Outlived | lockbench.Pause), brokenOnce, LateOwner},
		{lockbench.Effects.At(lockbench.Outlived), brokenOnce, LateOwner},
		{lockbench.Effects.At(lockbench.Cancel), brokenOnce, LostUpdate},
		{lockbench.OwnerRelease.At(lockbench.Outlived), brokenOnce, TwoOwners},
		{lockbench.OwnerRelease.At(lockbench.LostReply), told, ToldWrong},
		{lockbench.Recovery.At(lockbench.Crash), brokenOnce, Stuck},
		{lockbench.Recovery.At(lockbench.Crash), found{Finding: checker.Finding{Verdict: checker.Broken}}, Stuck},
		{lockbench.Answers.At(lockbench.Crash), brokenOnce, ""},
	} {
		got := Draw(Lock{}, Usual(), from(Explored, with(c.cell, c.found), stops)...)
		if got.Breach != c.want || !strings.HasPrefix(got.Why, string(c.want)) {
			t.Errorf("%s: got %q, %q; want %q", c.cell, got.Breach, got.Why, c.want)
		}
	}
}

// TestCutLeases checks that two owners who meet because the lock cut a lease to its unit are no two
// owners of a lock that works when nothing goes wrong.
func TestCutLeases(t *testing.T) {
	const unit = time.Millisecond
	at := lockbench.Exclusion.At(0)
	for _, c := range []struct {
		name               string
		unit, lease, early time.Duration
		word               Word
	}{
		{"a lease of 2.9 ms was cut to 2 ms", unit, 2900 * time.Microsecond, 900 * time.Microsecond, NeedsGuard},
		{"a whole lease, and the next owner came in its last millisecond", unit, 2 * time.Second, unit, NeedsGuard},
		{"a whole lease, and the next owner came earlier", unit, 2 * time.Second, unit + 1, DoNotUse},
		{"a lease of one unit, of which cutting leaves nothing", unit, unit, unit, DoNotUse},
		{"a lock that is exact", 0, 2900 * time.Microsecond, 1, DoNotUse},
		{"nothing is known of the lease", unit, 0, unit, DoNotUse},
		{"other leases alone, of fractions of a unit", unit, 2 * time.Second, 0, NeedsGuard},
	} {
		evidence := from(Explored, with(at, brokenOnce), stops)
		evidence[0].Lease, evidence[0].Programs = c.lease, map[lockbench.Cell][]string{at: {"contend", "odd-leases"}}
		if c.early > 0 {
			evidence[0].Early = map[lockbench.Cell]time.Duration{at: c.early}
		} else {
			evidence[0].Programs[at] = []string{"odd-leases"}
		}
		if got := Draw(Lock{LeaseUnit: c.unit, OddLeases: []string{"odd-leases"}}, Usual(), evidence...); got.Word != c.word {
			t.Errorf("%s: got %q, want %q", c.name, got.Word, c.word)
		}
	}
}

// TestEverySourceCounts checks that the worst source decides, and is named, with the command that
// reproduces the finding.
func TestEverySourceCounts(t *testing.T) {
	clean := from(Seen, enough(), stops)
	for _, source := range []Source{Seen, Explored, Known} {
		stuck := from(source, map[lockbench.Cell]found{lockbench.Recovery.At(lockbench.Crash): brokenOnce}, nil)
		stuck[0].Shows = func(cell lockbench.Cell) string { return "show " + cell.String() }
		for _, order := range [][]Evidence{slices.Concat(clean, stuck), slices.Concat(stuck, clean)} {
			got := Draw(Lock{}, Usual(), order...)
			if got.Word != DoNotUse || got.Source != source || got.Shows != "show recovery@crash" || got.Cell != lockbench.Recovery.At(lockbench.Crash) {
				t.Errorf("%s: got %+v", source, got)
			}
		}
	}
	half := map[lockbench.Cell]found{}
	for cell, f := range enough() {
		f.Exposure = Enough/2 + 1
		half[cell] = f
	}
	if got := Draw(Lock{}, Usual(), slices.Concat(from(Seen, half, nil), from(Known, half, nil))...); got.Word != Safe {
		t.Errorf("half of the occasions each: got %+v, want %q", got, Safe)
	}
}

// TestLeftOut checks that a conclusion names the conditions that it does not cover, except those
// that cannot happen.
func TestLeftOut(t *testing.T) {
	got := Draw(Lock{Foreign: lockbench.Failover}, Usual()).LeftOut
	if want := []lockbench.Conditions{lockbench.Skew, lockbench.StateLoss, lockbench.SessionKilled}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestRank orders conclusions from the worst to the best.
func TestRank(t *testing.T) {
	rising := []Conclusion{{Word: DoNotUse}, {Word: NotWithoutGuard}, {Word: NotKnown}, {Word: NeedsGuard}, {Word: NeedsGuard, Late: true}, {Word: Safe}}
	for i := range rising {
		if i > 0 && rising[i].Rank() <= rising[i-1].Rank() {
			t.Errorf("%+v ranks %d, and %+v %d", rising[i-1], rising[i-1].Rank(), rising[i], rising[i].Rank())
		}
		if got, want := rising[i].Recommended(), i >= 3; got != want {
			t.Errorf("%+v: recommended %v, want %v", rising[i], got, want)
		}
	}
}

// TestConditionsAreAsked checks that the table of required tests has every condition.
func TestConditionsAreAsked(t *testing.T) {
	for _, c := range lockbench.AllConditions() {
		if wants := required[c.Condition]; !wants.safety && !wants.liveness {
			t.Errorf("%s: nothing has to be tried", c.Name)
		}
	}
}

// TestFirstPartShows checks that, of several parts of one source with a breach, the first one
// shows it.
func TestFirstPartShows(t *testing.T) {
	part := func(command string) Evidence {
		e := Evidence{Source: Seen, Cells: checker.Cells{}, Shows: func(lockbench.Cell) string { return command }}
		for _, c := range lockbench.AllConditions() {
			e.Cells[lockbench.Recovery.At(c.Condition)] = brokenOnce.Finding
		}
		return e
	}
	var all []Evidence
	for _, command := range strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z") { // enough that an unstable sort would mix them
		all = append(all, part(command))
	}
	if got := Draw(Lock{}, Usual(), all...); got.Shows != "a" {
		t.Errorf("got the command of part %q, want that of the first", got.Shows)
	}
}
