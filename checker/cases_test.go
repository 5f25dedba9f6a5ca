package checker

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestCases judges the histories of testdata/cases.txt, which have the wanted verdicts in their
// "#!" lines.
func TestCases(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.Files {
		t.Run(file.Name, func(t *testing.T) {
			h := parseText(t, string(file.Data))
			if len(h.want) == 0 {
				t.Fatal("the case wants nothing")
			}
			result, err := Check(h.source())
			if err != nil {
				t.Fatal(err)
			}
			for g, want := range h.want {
				f := result.Find(g)
				if f.Verdict.String() != want {
					t.Errorf("%s: got %s (exposure %d, violations %d), want %s", g, f.Verdict, f.Exposure, f.Violations, want)
				}
				if f.Verdict == Broken && f.Counterexample == nil {
					t.Errorf("%s: broken without a counterexample", g)
				}
			}
			if fails := result.Exit() == exitBroken; h.fails != "" && fails != (h.fails == "yes") {
				t.Errorf("something counts against the claims: got %t, want %s", fails, h.fails)
			}
			for _, d := range result.Defects {
				t.Errorf("defect: %s", d)
			}
		})
	}
}

// TestLateOnAnyKey: a command that a client gave up runs late, on an unknown one of its keys. Its
// key is not remembered, since the client has acquired and released that key again since.
func TestLateOnAnyKey(t *testing.T) {
	for _, c := range []struct {
		late string
		want Verdict
	}{{"A 40 fault late\n", Held}, {"", Broken}} {
		h := parseText(t, `
A 0-10 acquire unknown ttl=10
A 5 fault cancel
A 20-21 acquire ok ttl=10
A 22-23 release ok
A 24-25 acquire ok ttl=10
A 26-27 release ok
`+c.late+`B 3000-3001 acquire refused`)
		h.header.Reacquire = "refused"
		for _, op := range h.ops {
			if op.Call == 24*unit || op.Call == 26*unit {
				op.Key = "another"
			}
		}
		result, err := Check(h.source())
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Find(lockbench.NoSpuriousRefusal.At(0)).Verdict; got != c.want {
			t.Errorf("late: %q: no-spurious-refusal is %v, want %v", c.late, got, c.want)
		}
	}
}

// TestRefusalNamesAllWhoAsked: a refusal beside others is no client's alone.
func TestRefusalNamesAllWhoAsked(t *testing.T) {
	for _, c := range []struct{ second, want string }{
		{"C 5-7 acquire refused", "client 2 and client 3 asked at once for a key that nobody held, and both were refused"},
		{"C 7-8 acquire refused", "client 2 was refused a key that nobody held"},
		{"C 5-7 acquire unknown note=error", ""},
	} {
		result, err := Check(parseText(t, "A 0-1 acquire ok ttl=10\nA 2-3 release ok\nB 4-6 acquire refused\n"+c.second).source())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if w := result.Find(lockbench.NoSpuriousRefusal.At(0)).Counterexample; w != nil {
			got = w.Sentence
		}
		if got != c.want {
			t.Errorf("beside %s: got %q, want %q", c.second, got, c.want)
		}
	}
}

// TestRecoveryNamesTheOwner: of two clients that died, the one that had the key for certain left it
// locked.
func TestRecoveryNamesTheOwner(t *testing.T) {
	const died = "died, its lease was long over, and client 3 was refused the key"
	for _, c := range []struct{ name, owner, deaths, want string }{
		{"owner first", "A 0-1 acquire ok ttl=10\n", "A 5 death\nB 6 death\n", "client 1 " + died},
		{"owner last", "A 0-1 acquire ok ttl=10\n", "B 5 death\nA 6 death\n", "client 1 " + died},
		{"no owner", "", "B 6 death\n", "client 2 " + died},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := Check(parseText(t, c.owner+"B 3-never acquire unknown asked=10\n"+c.deaths+"C 5000-5001 acquire refused").source())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if w := result.Find(lockbench.Recovery.At(lockbench.Crash)).Counterexample; w != nil {
				got = w.Sentence
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCounterexampleNamesTheTwoHolds(t *testing.T) {
	h := parseText(t, `
A 0-2 acquire ok ttl=10
B 3-4 acquire ok ttl=10
A 6-7 release ok
B 8-9 release ok`)
	result, err := Check(h.source())
	if err != nil {
		t.Fatal(err)
	}
	w := result.Find(lockbench.Exclusion.At(0)).Counterexample
	if w == nil {
		t.Fatal("no counterexample")
	}
	if got, want := w.Sentence, "client 1 and client 2 held the key at the same time, both within their validity"; got != want {
		t.Errorf("sentence: got %q, want %q", got, want)
	}
	if got, want := int64(w.Margin), 2*unit; got != want {
		t.Errorf("margin: got %d, want %d (from B's grant at 4 ms to A's release at 6 ms)", got, want)
	}
	if len(w.Holds) != 2 || w.Holds[0].Client != 1 || w.Holds[0].EndedBy != "release" || w.Holds[0].Until != 10*unit {
		t.Errorf("holds: got %+v", w.Holds)
	}
	if got, want := len(w.Ops), 4; got != want {
		t.Errorf("operations: got %d, want %d", got, want)
	}
	if got, want := int64(result.WorstOverlap), 2*unit; got != want {
		t.Errorf("worst overlap: got %d, want %d", got, want)
	}
}

func TestExit(t *testing.T) {
	held := CellFinding{Finding: Finding{Claimed: true, Exercised: true, Verdict: Held, Exposure: 1}}
	for _, c := range []struct {
		name   string
		result Result
		want   int
	}{
		{"held", Result{Grants: 1, Findings: []CellFinding{held}}, exitHeld},
		{"broken and claimed", Result{Grants: 1, Findings: []CellFinding{{Finding: Finding{Claimed: true, Verdict: Broken, Violations: 1, Against: 1}}}}, exitBroken},
		{"broken, not claimed", Result{Grants: 1, Findings: []CellFinding{{Finding: Finding{Verdict: Broken}}}}, exitHeld},
		{"broken and partial", Result{Grants: 1, Partial: true, Findings: []CellFinding{{Finding: Finding{Claimed: true, Verdict: Broken, Against: 1}}}}, exitBroken},
		{"claimed, exercised, untested", Result{Grants: 1, Findings: []CellFinding{{Finding: Finding{Claimed: true, Exercised: true}}}}, exitInconclusive},
		{"claimed, not exercised", Result{Grants: 1, Findings: []CellFinding{{Finding: Finding{Claimed: true}}}}, exitHeld},
		{"untested here, tested under more", Result{Grants: 1, Findings: []CellFinding{
			{Cell: lockbench.Exclusion.At(0), Finding: Finding{Claimed: true, Exercised: true}},
			{Cell: lockbench.Exclusion.At(lockbench.Skew), Finding: Finding{Claimed: true, Verdict: Held, Exposure: 1}},
		}}, exitHeld},
		{"partial", Result{Grants: 1, Partial: true, Findings: []CellFinding{held}}, exitInconclusive},
		{"nothing measured", Result{}, exitInconclusive},
		{"a defect of lockbench", Result{Grants: 1, Defects: []string{"x"}}, exitInconclusive},
	} {
		if got := c.result.Exit(); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestZeroVerdictIsUntested(t *testing.T) {
	var f CellFinding
	if f.Verdict != Untested {
		t.Errorf("zero verdict: got %s, want untested", f.Verdict)
	}
	if got := New(history.Header{}).Finish(history.End{}).Exit(); got != exitInconclusive {
		t.Errorf("exit of an empty history: got %d, want %d", got, exitInconclusive)
	}
}

// TestStaleReleaseCountsOnce lets three in, one after the other, by one late release, which the server
// was seen to execute or not. If it was, that is an occasion beside the call.
func TestStaleReleaseCountsOnce(t *testing.T) {
	for seen, occasions := range map[string]int64{"": 1, "\nB 13 fault taken-away value=1 key=k hold=1": 2} {
		h := parseText(t, `
A 0-1 acquire ok ttl=10
B 10-11 acquire ok ttl=30
A 12-14 release ok`+seen+`
C 14-15 acquire ok ttl=10
C 16-17 release ok
D 18-19 acquire ok ttl=10
D 20-21 release ok
E 22-23 acquire ok ttl=10
E 24-25 release ok
B 26-27 release ok`)
		result, err := Check(h.source())
		if err != nil {
			t.Fatal(err)
		}
		if f := result.Find(lockbench.OwnerRelease.At(lockbench.Outlived)); f.Violations != 1 || f.Exposure != occasions {
			t.Errorf("%q: got %d violations and %d exposures, want 1 and %d", seen, f.Violations, f.Exposure, occasions)
		}
		if f := result.Find(lockbench.Exclusion.At(lockbench.Outlived)); f.Violations != 4 {
			t.Errorf("%q: got %d, want the 3 conflicts that there were, and A's work past its lease", seen, f.Violations)
		}
	}
}

// TestCounterexampleTellsHowTheOtherGotIn shows, of two holds that conflict, the late release of
// a third client that let the second in, and none that came when both were in.
func TestCounterexampleTellsHowTheOtherGotIn(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"let in", `
A 0-1 acquire ok ttl=10
B 10-11 acquire ok ttl=30
A 12-13 release ok
C 14-15 acquire ok ttl=10
C 16-17 release ok
B 26-27 release ok`, []string{"2 acquire", "1 release", "3 acquire", "3 release", "2 release"}},
		{"in already", `
A 0-1 acquire ok ttl=10
B 10-11 acquire ok ttl=30
C 14-15 acquire ok ttl=10
A 16-17 release ok
C 18-19 release ok
B 26-27 release ok`, []string{"2 acquire", "3 acquire", "3 release", "2 release"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := parseText(t, c.text)
			result, err := Check(h.source())
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(result.Findings, func(f CellFinding) bool {
				return f.Cell.Guarantee == lockbench.Exclusion && f.Counterexample != nil
			})
			if at < 0 {
				t.Fatal("no counterexample")
			}
			w := result.Findings[at].Counterexample
			var told []string
			for _, op := range w.Ops {
				told = append(told, fmt.Sprintf("%d %v", op.Client, op.Kind))
			}
			if diff := cmp.Diff(told, c.want); diff != "" {
				t.Errorf("operations (-got +want):\n%s", diff)
			}
		})
	}
}
