package reports

import (
	"testing"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// TestGateExplored judges thresholds on all scenarios of a design together: a cell held in one of
// two, a cell that one leaves untested, and a cell that no scenario exercises.
func TestGateExplored(t *testing.T) {
	freed := func(n int64) checker.CellFinding {
		return broken(stale, false, n, n)
	}
	runs := func() []results.Explored {
		return []results.Explored{
			lackingSample(),
			exploredIn("lua-token/token", "contend", 3000, held(exclusive, 900), held(crashed, 77)),
			exploredIn("lua-token/token", "overrun", 4000, held(exclusive, 100)),
			exploredIn("lua-token/expire", "contend", 50, freed(3)),
			exploredIn("lua-token/expire", "overrun", 50, freed(4)),
		}
	}
	for _, c := range []struct {
		condition string
		want      map[string]thresholds.Outcome // by design
		exit      int
	}{
		{"*/token: schedules<7000", map[string]thresholds.Outcome{"lua-token/token": thresholds.Passed}, results.Passed},
		{"*/token: schedules<7001", map[string]thresholds.Outcome{"lua-token/token": thresholds.Failed}, results.FailedThreshold},
		{"*/token: exclusion.exposure<1001", map[string]thresholds.Outcome{"lua-token/token": thresholds.Failed}, results.FailedThreshold},
		{"*/token: recovery@crash.violations>0", map[string]thresholds.Outcome{"lua-token/token": thresholds.Passed}, results.Passed},
		{"*/token: lease@cancel.violations>0", map[string]thresholds.Outcome{"lua-token/token": thresholds.Inconclusive}, results.Inconclusive},
		{"*/expire: owner-release@outlived.violations>6", map[string]thresholds.Outcome{"lua-token/expire": thresholds.Failed}, results.FailedThreshold},
		{"*/expire: violations>7", map[string]thresholds.Outcome{"lua-token/expire": thresholds.Passed}, results.Passed},
		{"*/options: schedules<1", map[string]thresholds.Outcome{"lua-token/options": thresholds.NotApplicable}, results.Inconclusive},
		{"schedules<1", map[string]thresholds.Outcome{
			"lua-token/options": thresholds.NotApplicable, "lua-token/token": thresholds.Passed, "lua-token/expire": thresholds.Passed,
		}, results.Passed},
	} {
		t.Run(c.condition, func(t *testing.T) {
			th, err := thresholds.ParseThreshold(c.condition)
			if err != nil {
				t.Fatal(err)
			}
			r := results.NewExploration(runs(), nil)
			r.GateExplored([]thresholds.Threshold{th})
			got := map[string]thresholds.Outcome{}
			for _, reading := range r.Thresholds[0].Readings {
				got[reading.Design] = reading.Outcome
				if named := r.Runs[reading.Run].Design; named != reading.Design {
					t.Errorf("the reading of %s names a run of %s", reading.Design, named)
				}
				if merged := r.Designs(); merged.Runs[merged.Thresholds[0].Readings[0].Run].Design != r.Thresholds[0].Readings[0].Design {
					t.Error("with one run a design, a reading names another design")
				}
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("outcomes (-got +want):\n%s", diff)
			}
			if r.Exit != c.exit {
				t.Errorf("exit %d, want %d", r.Exit, c.exit)
			}
		})
	}
}
