package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/results"
)

func TestStrength(t *testing.T) {
	for want, f := range map[string]results.Finding{
		"ok 412,233":   {Finding: checker.Finding{Verdict: checker.Held, Exposure: 412233}},
		"ok 299":       {Finding: checker.Finding{Verdict: checker.Held, Exposure: 299}},
		"weak 298":     {Finding: checker.Finding{Verdict: checker.Held, Exposure: 298}},
		"weak 4":       {Finding: checker.Finding{Verdict: checker.Untested, Exposure: 4}},
		"broken 7/512": {Finding: checker.Finding{Verdict: checker.Broken, Exposure: 512, Violations: 7}},
		"":             {Finding: checker.Finding{Verdict: checker.Untested}},
	} {
		if _, got := strengthOf(f, false); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestWeakClaimIsSaid checks that a claim that a fault exercised is called weak if it held on
// few occasions, and is not if it held on enough.
func TestWeakClaimIsSaid(t *testing.T) {
	cell := lockbench.Exclusion.At(lockbench.Failover)
	for exposure, want := range map[int64]string{4: "; weak: x/y: exclusion@failover held on 4 occasions only", enough: ""} {
		run := results.Run{Cells: results.NewCells(map[lockbench.Cell]results.Finding{
			cell: {Finding: checker.Finding{Verdict: checker.Held, Claimed: true, Exercised: true, Exposure: exposure}},
		})}
		run.Design, run.Faults = "x/y", []string{"failover"}
		s := resultSummary(&results.Result{Runs: []results.Run{run}})
		if got := s.weakClaims(); got != want {
			t.Errorf("%d: got %q, want %q", exposure, got, want)
		}
	}
}

// TestProbes checks that holds under a condition count if its probe was caught, and are
// untested otherwise; other conditions are not affected.
func TestProbes(t *testing.T) {
	under := lockbench.Exclusion.At(lockbench.Failover)
	for _, c := range []struct {
		name   string
		caught bool
		want   checker.Verdict
		exit   int
		says   string
	}{
		{"caught", true, checker.Held, results.Passed, "No claim was broken"},
		{"not caught", false, checker.Untested, results.Inconclusive, "was NOT caught breaking exclusion@failover: it met 4 occasions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := results.New([]results.Judged{judged(header("lua-token/strategy", "private"), 12, held(exclusive, 5))}, nil)
			r.Runs[0].Cells.Set(under, results.Finding{Finding: checker.Finding{Verdict: checker.Held, Claimed: true, Exercised: true, Exposure: 400}})
			r.Prove(&results.SelfCheck{MustBreak: stale, Caught: true, Probes: []results.Probe{{Design: "self-check/bare", MustBreak: under, Caught: c.caught, Exposure: 4}}})
			if got := r.Runs[0].Cells.At(under).Verdict; got != c.want || r.Exit != c.exit {
				t.Errorf("got %v, exit %d; want %v, %d", got, r.Exit, c.want, c.exit)
			}
			if got := r.Runs[0].Cells.At(exclusive).Verdict; got != checker.Held {
				t.Errorf("exclusion without a fault is %v", got)
			}
			var buf bytes.Buffer
			if err := Write(&buf, Text, &r, Options{}); err != nil {
				t.Fatal(err)
			}
			if err := compile(t, true).Validate(encodedResult(t, r)); err != nil {
				t.Error(err)
			}
			if text := strings.Join(strings.Fields(buf.String()), " "); !strings.Contains(text, c.says) {
				t.Errorf("no %q in:\n%s", c.says, text)
			}
		})
	}
}
