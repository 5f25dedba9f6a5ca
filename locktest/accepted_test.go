package locktest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/results"
)

// brokenAt returns a result in which these claims broke, and lease was held, in virtual time.
func brokenAt(cells ...lockbench.Cell) *Result {
	r := &Result{Unit: Schedules, Tests: map[lockbench.Cell]Test{}, Cells: checker.Cells{
		lockbench.LeaseKept.At(0):                  {Verdict: checker.Held, Claimed: true, Exposure: 9},
		lockbench.Fencing.At(0):                    {Verdict: checker.NotApplicable, Note: "no fence was handed out"},
		lockbench.WakeUp.At(0):                     {Verdict: checker.Untested, Note: "nobody waited"},
		lockbench.Recovery.At(lockbench.LostReply): {Verdict: checker.Untested, Claimed: true, Note: "nobody died"},
	}}
	for _, cell := range cells {
		r.Cells[cell] = checker.Finding{Verdict: checker.Broken, Claimed: true, Exposure: 3, Violations: 2, Against: 2}
	}
	return r
}

// judged accepts, and judges each cell, on a day.
func judged(r *Result, day string, all ...results.Acceptance) {
	now, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err) // a constant of this test
	}
	r.accept(all, now)
	for cell := range r.Cells {
		test := r.Tests[cell]
		test.Err = r.judge(cell)
		r.Tests[cell] = test
	}
}

func TestAccept(t *testing.T) {
	crash, cancel := lockbench.Exclusion.At(lockbench.Crash), lockbench.Exclusion.At(lockbench.Cancel)
	known := func(cell lockbench.Cell, until string) results.Acceptance {
		return results.Acceptance{Cell: cell, Until: until, Reason: "ticket 7", Place: "a.yaml:1"}
	}
	for _, c := range []struct {
		name   string
		broken []lockbench.Cell
		accept results.Acceptance
		day    string
		fails  []lockbench.Cell
		note   string
	}{
		{"on the last day", []lockbench.Cell{crash}, known(crash, "2027-01-31"), "2027-01-31", nil, ""},
		{"on the next day", []lockbench.Cell{crash}, known(crash, "2027-01-31"), "2027-02-01", []lockbench.Cell{crash}, "a.yaml:1: exclusion@crash is accepted no longer, since 2027-01-31 is over"},
		{"another cell broke too", []lockbench.Cell{crash, cancel}, known(crash, "2027-01-31"), "2027-01-01", []lockbench.Cell{cancel}, ""},
		{"under a further condition", []lockbench.Cell{lockbench.Exclusion.At(lockbench.Crash | lockbench.Cancel)}, known(crash, "2027-01-31"), "2027-01-01", nil, ""},
		{"without a condition", []lockbench.Cell{crash}, known(lockbench.Exclusion.At(0), "2027-01-31"), "2027-01-01", []lockbench.Cell{crash}, "a.yaml:1: exclusion was not broken, so nothing needs to accept it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := brokenAt(c.broken...)
			judged(r, c.day, c.accept)
			var fails []lockbench.Cell
			for _, cell := range r.Cells.Sorted() {
				if err := r.Tests[cell].Err; err != nil && !errors.Is(err, ErrUntested) {
					fails = append(fails, cell)
				}
			}
			if diff := cmp.Diff(fails, c.fails); diff != "" {
				t.Errorf("failures (-got +want):\n%s", diff)
			}
			if got := strings.Join(r.Notes, "; "); got != c.note {
				t.Errorf("notes: got %q, want %q", got, c.note)
			}
		})
	}
}

// TestAcceptedCauseHidesNothing checks that a break with an accepted cause still fails a test.
func TestAcceptedCauseHidesNothing(t *testing.T) {
	crash, effects := lockbench.Exclusion.At(lockbench.Crash), lockbench.Effects.At(lockbench.Crash)
	r := brokenAt(crash, effects)
	r.Tests[effects] = Test{Cause: crash}
	judged(r, "2027-01-01", results.Acceptance{Cell: crash, Until: "2027-01-31", Reason: "ticket 7"})
	if r.Tests[effects].Err == nil || r.Tests[crash].Err != nil {
		t.Errorf("got %v and %v, want the error of %s alone", r.Tests[effects].Err, r.Tests[crash].Err, effects)
	}
}

func TestSummary(t *testing.T) {
	crash, cancel := lockbench.Exclusion.At(lockbench.Crash), lockbench.Exclusion.At(lockbench.Cancel)
	r := brokenAt(crash, cancel)
	judged(r, "2027-01-01", results.Acceptance{Cell: crash, Until: "2027-01-31", Reason: "ticket 7"})
	want := "1 held, 1 broken (exclusion@cancel), 1 accepted (exclusion@crash), 1 untested (recovery@lost-reply), 2 not for this lock, or not tried"
	if got := r.summary(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestStarvedIsNotFolded checks that a claim that a slow machine left untested has a subtest and a name in
// the summary, and that one for which the lock lacks an ability has neither.
func TestStarvedIsNotFolded(t *testing.T) {
	cell := lockbench.Recovery.At(lockbench.LostReply)
	for starved, want := range map[bool]string{
		true:  "1 held, 1 untested (recovery@lost-reply), 2 not for this lock, or not tried",
		false: "1 held, 3 not for this lock, or not tried",
	} {
		r := brokenAt()
		r.Tests[cell] = Test{Skipped: "untested in 50 schedules", starved: starved}
		judged(r, "2027-01-01")
		if got := r.summary(); got != want || r.folded(cell) == starved || strings.Contains(r.notTried(), cell.String()) == starved {
			t.Errorf("starved %v: got %s, folded %v, and\n%s\nwant %s", starved, got, r.folded(cell), r.notTried(), want)
		}
	}
}

// TestWrongFileOfAcceptances checks that a wrong file is told before anything runs.
func TestWrongFileOfAcceptances(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accepted.yaml")
	if err := os.WriteFile(file, []byte("- cell: exclsion\n  reason: known\n  until: 2027-01-31\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{file: `:1:9: unknown guarantee "exclsion"; hint: did you mean exclusion?`, file + ".no": "no such file or directory; hint: "} {
		_, err := Try(t.Context(), func() (lockbench.Locker, error) {
			t.Error("an owner was made")
			return nil, errors.New("none")
		}, WithAccepted(name))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
