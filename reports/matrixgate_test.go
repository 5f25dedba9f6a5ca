package reports

import (
	"testing"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// TestMatrixGate judges thresholds on all parts of a design together, one of them live and
// without schedules, and checks the exit code.
func TestMatrixGate(t *testing.T) {
	said := func(v checker.Verdict, n int64) results.Finding {
		return results.Finding{Finding: checker.Finding{Verdict: v, Exercised: true, Exposure: 10, Violations: n}}
	}
	explored := partOf("explore", 90, map[lockbench.Cell]results.Finding{
		lockbench.Exclusion.At(lockbench.StateLoss): said(checker.Broken, 4), crashed: said(checker.Broken, 2),
	})
	explored.Exploration = &results.Exploration{Coverage: results.Coverage{Schedules: 42}}
	row := results.MatrixRow{Design: "family/one", Parts: results.Parts{partOf("live", 500, map[lockbench.Cell]results.Finding{
		lockbench.Exclusion.At(lockbench.StateLoss): said(checker.Broken, 3), crashed: said(checker.Held, 0),
		lockbench.Exclusion.At(lockbench.Skew): said(checker.Untested, 0),
	}), explored}}
	live := results.MatrixRow{Design: "family/two", Parts: results.Parts{partOf("live", 500, nil)}}
	for _, c := range []struct {
		condition string
		want      map[string]thresholds.Outcome
		exit      int
	}{
		{"*/one: exclusion@state-loss.violations>6", map[string]thresholds.Outcome{"family/one": thresholds.Failed}, results.FailedThreshold},
		{"*/one: exclusion@state-loss.violations>7", map[string]thresholds.Outcome{"family/one": thresholds.Passed}, results.Passed},
		{"*/one: recovery@crash.violations==2", map[string]thresholds.Outcome{"family/one": thresholds.Failed}, results.FailedThreshold},
		{"*/one: recovery@crash.exposure<21", map[string]thresholds.Outcome{"family/one": thresholds.Failed}, results.FailedThreshold},
		{"*/one: exclusion@skew.violations>0", map[string]thresholds.Outcome{"family/one": thresholds.Inconclusive}, results.Inconclusive},
		{"violations>8", map[string]thresholds.Outcome{"family/one": thresholds.Failed, "family/two": thresholds.Inconclusive}, results.FailedThreshold},
		{"schedules<43", map[string]thresholds.Outcome{"family/one": thresholds.Failed, "family/two": thresholds.Inconclusive}, results.FailedThreshold},
	} {
		t.Run(c.condition, func(t *testing.T) {
			th, err := thresholds.ParseThreshold(c.condition)
			if err != nil {
				t.Fatal(err)
			}
			m := results.Matrix{Rows: []results.MatrixRow{row, live}}
			m.Settle()
			if m.Exit != results.Passed {
				t.Fatalf("exit %d without thresholds", m.Exit)
			}
			m.Gate([]thresholds.Threshold{th})
			got := map[string]thresholds.Outcome{}
			for _, reading := range m.Thresholds[0].Readings {
				got[m.Rows[reading.Run].Design] = reading.Outcome
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("outcomes (-got +want):\n%s", diff)
			}
			if m.Exit != c.exit || m.Gated(results.BrokenClaim) != results.BrokenClaim || m.Gated(results.Passed) != c.exit {
				t.Errorf("exit %d, of a comparison that passed %d, want %d", m.Exit, m.Gated(results.Passed), c.exit)
			}
			m.Settle()
			m.Gate(nil)
			if m.Exit != results.Passed || len(m.Thresholds) > 0 {
				t.Errorf("with none asked for: exit %d, %d thresholds", m.Exit, len(m.Thresholds))
			}
		})
	}
}
