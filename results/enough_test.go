package results

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
)

// TestWhatDoesNotCount checks that comparisons, matrices and limits agree on the runs that do not
// count.
func TestWhatDoesNotCount(t *testing.T) {
	of := func(unknown int64, ended string) Judged {
		j := Judged{Header: history.Header{Design: "d", Started: "2026-11-02T10:00:00Z"}, Verdicts: checker.Result{Ops: 1000, Grants: 500, Unknown: unknown}}
		j.End.Trailer.Ended = ended
		j.Measures = measure.Measures{GrantsPerSecond: 500, Span: time.Second, Errors: []measure.Error{{Op: history.Acquire, Kind: "connection refused", Count: unknown, Of: 1000, First: "no more clients"}}}
		j.Measures.Measured.Grants = 500
		return j
	}
	for _, c := range []struct {
		name string
		run  Judged
		why  string // reason why the run does not count, empty if it does
		of   string // problem of the server, empty for none
	}{
		{"whole", of(0, "duration"), "", ""},
		{"a twentieth unanswered", of(50, "duration"), "", ""},
		{"more", of(51, "duration"), "51 of 1,000 operations failed or had no answer, and no fault was injected: no more clients", "51 of 1,000"},
		{"interrupted", of(0, EndedByUser), "it was interrupted before its plan was done", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New([]Judged{c.run}, nil)
			if _, why := r.Runs[0].WhyInconclusive(); why != c.why || (r.Exit == Passed) != (c.why == "") {
				t.Errorf("got exit %d, %q, want %q", r.Exit, why, c.why)
			}
			compared, err := Compare([]Result{New([]Judged{of(0, "duration")}, nil)}, []Result{r}, CompareOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if open := strings.Join(compared.Open, "\n"); strings.Contains(open, "a run of NEW does not count: "+c.why) != (c.why != "") || compared.Designs[0].LeftOut != min(1, len(c.why)) {
				t.Errorf("compared: left out %d, open %q, want %q", compared.Designs[0].LeftOut, open, c.why)
			}
			if got := ServerProblem(&c.run); !strings.HasPrefix(got, c.of) || (got == "") != (c.of == "") {
				t.Errorf("got %q, want %q", got, c.of)
			}
			var row MatrixRow
			row.AddRun(Part{Name: "live"}, &c.run)
			if got := row.Parts[0].Error; got != ServerProblem(&c.run) {
				t.Errorf("matrix: got error %q", got)
			}
		})
	}
}

// TestSharedKeysMeetAClaim checks that a run on keys that several machines use passes only if something was met under
// conditions that the lock claims.
func TestSharedKeysMeetAClaim(t *testing.T) {
	claims := lockbench.LeaseClaims(lockbench.Fencing)
	held := func(cell lockbench.Cell) checker.CellFinding {
		return checker.CellFinding{Cell: cell, Finding: checker.Finding{Verdict: checker.Held, Exposure: 10, Exercised: true, Claimed: claims.Claims(cell)}}
	}
	for _, c := range []struct {
		under  lockbench.Conditions
		shared bool
		passes bool
	}{
		{0, true, true},
		{lockbench.Crash, true, true},
		{lockbench.Failover, true, false}, // which no lease lock claims
		{lockbench.Failover, false, true},
	} {
		j := Judged{
			Header: history.Header{Design: "d", Claims: claims, Params: map[string]any{"shared_keys": c.shared}},
			Verdicts: checker.Result{Ops: 1000, Grants: 500, Findings: []checker.CellFinding{
				held(lockbench.Exclusion.At(c.under)), held(lockbench.Fencing.At(lockbench.Outlived)), // fences need no owner to be met
			}},
		}
		j.Measures.Measured.Grants, j.Measures.GrantsPerSecond, j.Measures.Span = 500, 500, time.Second
		r := New([]Judged{j}, nil)
		if _, why := r.Runs[0].WhyInconclusive(); (r.Exit == Passed) != c.passes || (why == "") != c.passes {
			t.Errorf("under %s, shared %t: exit %d, %q", c.under, c.shared, r.Exit, why)
		}
	}
}
