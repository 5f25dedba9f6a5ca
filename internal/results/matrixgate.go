package results

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/thresholds"
)

// Gate judges thresholds on m, each on all that was done to a design together, and puts them
// in the place of those judged before. It comes after [Matrix.Settle].
func (m *Matrix) Gate(asked []thresholds.Threshold) {
	r := m.AsResult()
	r.Thresholds = nil
	for _, t := range asked {
		var readings []Reading
		for i := range m.Rows {
			if t.For(m.Rows[i].Design) {
				readings = append(readings, newReading(t, i, m.Rows[i].thresholdRun()))
			}
		}
		r.add(t, readings)
	}
	m.Thresholds, m.Exit = r.Thresholds, r.Exit
}

// Gated is an exit code, as that of a comparison, with what the thresholds make of it.
func (m *Matrix) Gated(exit int) int {
	for i := range m.Thresholds {
		exit = worst(exit, exitOf(m.Thresholds[i].Outcome))
	}
	return exit
}

// AsResult is m as thresholds are shown of results: its exit code and thresholds, and a run for
// each design, without what was found of it.
func (m *Matrix) AsResult() Result {
	r := Result{Exit: m.Exit, Thresholds: m.Thresholds}
	for i := range m.Rows {
		r.Runs = append(r.Runs, Run{RunSettings: RunSettings{Design: m.Rows[i].Design}})
	}
	return r
}

// thresholdRun returns all parts as one run, for metrics to read.
func (r *MatrixRow) thresholdRun() *thresholds.Run {
	g := thresholds.Run{Design: r.Design, Verdicts: &checker.Result{}}
	for i := range r.Parts {
		g.Verdicts.Grants += r.Parts[i].Counts.Grants
	}
	g.Schedules = r.Parts.Schedules()
	g.Verdicts.Ops = g.Verdicts.Grants // of operations a matrix keeps no count
	g.Verdicts.Findings = r.Cells.List()
	return &g
}
