package results

import "github.com/lockbench/lockbench/internal/measure/thresholds"

// Gate judges thresholds on m, by all parts of each design together, and replaces m.Thresholds and
// m.Exit. Call it after [Matrix.Settle].
func (m *Matrix) Gate(asked []thresholds.Threshold) {
	r := Result{Exit: m.Exit}
	for _, t := range asked {
		var readings []Reading
		for i := range m.Rows {
			if t.For(m.Rows[i].Design) {
				readings = append(readings, newReading(t, i, m.Rows[i].metrics()))
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

// metrics returns the combined parts of a design as the data of metrics.
func (r *MatrixRow) metrics() *thresholds.Run {
	all := Run{RunSettings: RunSettings{Design: r.Design}, Cells: r.Cells, Exploration: &Exploration{Coverage: Coverage{Schedules: r.Parts.Schedules()}}}
	for i := range r.Parts {
		all.Counts.Grants += r.Parts[i].Counts.Grants
	}
	all.Counts.Ops = all.Counts.Grants // a matrix does not count operations
	return all.metrics()
}
