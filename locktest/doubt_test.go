package locktest

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// TestDoubtOthers checks that a hold that ended by itself, in a case that does not watch the server,
// proves nothing if the machine stood still for a lease in other cases, and counts if it stood still
// for less, if the lock is not declared to renew, and in the case that watches.
func TestDoubtOthers(t *testing.T) {
	for name, c := range map[string]struct {
		renews bool
		stood  time.Duration
		cell   lockbench.Cell
		want   checker.Verdict
	}{
		"the machine stood still": {true, time.Second, lockbench.Recovery.At(lockbench.Cancel), checker.Untested},
		"for less than a lease":   {true, time.Second - 1, lockbench.Recovery.At(lockbench.Cancel), checker.Broken},
		"not declared":            {false, time.Second, lockbench.Recovery.At(lockbench.Cancel), checker.Broken},
		"the case that watches":   {true, time.Second, outlasting, checker.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			r := &trial{}
			r.settings.renews, r.settings.ttl = c.renews, time.Second
			broken := checker.CellFinding{Cell: outlasting, Finding: checker.Finding{Verdict: checker.Broken, Violations: 1, Claimed: true}}
			sh := &caseRun{trial: r, test: testCase{cell: c.cell}, result: checker.Result{Findings: []checker.CellFinding{broken}}}
			r.runs = []*caseRun{sh, {trial: r, stood: c.stood}}
			r.doubtOthers()
			if got := sh.result.Findings[0].Verdict; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
