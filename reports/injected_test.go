package reports

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
)

// TestFaultThatMetNothing checks that a run with a fault that met no lock proves
// nothing, and says why.
func TestFaultThatMetNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		in   runinfo.FaultExposure
		exit int
		says string
	}{
		{"met a lock", runinfo.FaultExposure{Fault: "restart,at=1s", Kind: "restart", Occurrences: 3, MetHeld: 2}, results.Passed, "restart,at=1s: occurred 3, 2 held, 0 acquiring"},
		{"met an acquire", runinfo.FaultExposure{Fault: "cut", Kind: "cut", Occurrences: 1, MetAcquire: 1}, results.Passed, "cut: occurred 1, 0 held, 1 acquiring"},
		{"met nobody", runinfo.FaultExposure{Fault: "restart,at=1s", Kind: "restart", Occurrences: 3}, results.Inconclusive, "it met no lock: raise --clients"},
		{"never occurred", runinfo.FaultExposure{Fault: "crash", Kind: "crash"}, results.Inconclusive, "it never occurred: raise --duration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text strings.Builder
			r := results.New([]results.Judged{{
				Header:   history.Header{Design: "family/variant", Workload: "mutex"},
				End:      history.End{Trailer: history.Trailer{Faults: []runinfo.FaultExposure{c.in}}},
				Verdicts: checker.Result{Grants: 1, Ops: 1},
			}}, nil)
			if err := Write(&text, Text, &r, Options{}); err != nil {
				t.Fatal(err)
			}
			if r.Exit != c.exit || !strings.Contains(text.String(), c.says) {
				t.Errorf("exit %d, want %d; the report is to say %q:\n%s", r.Exit, c.exit, c.says, &text)
			}
			if c.exit == results.Inconclusive && !strings.Contains(text.String(), "met no lock with fault "+c.in.Kind) {
				t.Errorf("the outcome is to name the fault:\n%s", &text)
			}
		})
	}
}
