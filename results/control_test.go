package results

import (
	"errors"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// TestControlsDecideNothing checks that no kind of control changes the exit code, whether it breaks
// a cell, fails a threshold or meets an error.
func TestControlsDecideNothing(t *testing.T) {
	broken := checker.Result{Breaches: 3, Findings: []checker.CellFinding{{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Verdict: checker.Broken, Exposure: 9, Violations: 3, Against: 3, Claimed: true}}}}
	for _, control := range []string{"no-lock", "atomic"} {
		runs := []Judged{{Header: history.Header{Design: "control/" + control, Control: control}, Verdicts: broken, Err: errors.New("it failed"),
			Measures: measure.Measures{Business: &runinfo.Business{Figures: map[string]int64{"oversold": 3}}}}}
		r := New(runs, nil)
		r.Prove(&SelfCheck{Caught: true})
		if r.Exit != Passed {
			t.Errorf("%s: exit %d", control, r.Exit)
		}
		threshold, err := thresholds.ParseThreshold("oversold>0")
		if err != nil {
			t.Fatal(err)
		}
		r.Gate([]thresholds.Threshold{threshold})
		if len(r.Thresholds[0].Readings) != 0 || r.Runs[0].Exit != Passed {
			t.Errorf("%s: a threshold is judged on it: %+v", control, r.Thresholds)
		}
		if cells := len(r.Runs[0].Cells.Cells); (cells == 0) != (control == "atomic") {
			t.Errorf("%s: %d cells", control, cells)
		}
		runs[0].Header.Control = ""
		if lock := New(runs, nil); lock.Exit != BrokenClaim {
			t.Errorf("the same of a lock: exit %d, want %d", lock.Exit, BrokenClaim)
		}
	}
}
