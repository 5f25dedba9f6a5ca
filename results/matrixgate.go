package results

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// Gate judges thresholds on m, by all parts of each design together, and replaces m.Thresholds and
// m.Exit. Call it after [Matrix.Settle].
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

// Gated returns the worse of exit, such as the exit code of a comparison, and the outcomes of
// m.Thresholds.
func (m *Matrix) Gated(exit int) int {
	for i := range m.Thresholds {
		exit = worst(exit, exitOf(m.Thresholds[i].Outcome))
	}
	return exit
}

// AsResult returns a Result with the exit code and thresholds of m, so that reports show them as
// those of any result. It has a run for each design, without findings.
func (m *Matrix) AsResult() Result {
	r := Result{Exit: m.Exit, Thresholds: m.Thresholds}
	for i := range m.Rows {
		r.Runs = append(r.Runs, Run{RunSettings: RunSettings{Design: m.Rows[i].Design}})
	}
	return r
}

// thresholdRun returns the combined parts of a design in the form that metrics read.
func (r *MatrixRow) thresholdRun() *thresholds.Run {
	g := thresholds.Run{Design: r.Design, Verdicts: &checker.Result{}}
	for i := range r.Parts {
		g.Verdicts.Grants += r.Parts[i].Counts.Grants
	}
	g.Schedules = r.Parts.Schedules()
	g.Verdicts.Ops = g.Verdicts.Grants // a matrix does not count operations
	g.Verdicts.Findings = r.Cells.List()
	return &g
}
