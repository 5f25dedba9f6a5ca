package results

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// GateExplored judges thresholds on an exploration, by all scenarios of each design together. A
// threshold does not apply to a design that lacks the abilities that its scenarios need. It appends
// to r.Thresholds and makes r.Exit worse if one fails.
func (r *Result) GateExplored(asked []thresholds.Threshold) {
	merged := byDesign(*r)
	for _, t := range asked {
		var readings []Reading
		for i := range merged.Runs {
			run := &merged.Runs[i]
			if !t.For(run.Design) {
				continue
			}
			first := slices.IndexFunc(r.Runs, func(scenario Run) bool { return scenario.Design == run.Design })
			reading := newReading(t, first, run.metrics())
			if run.Lacks {
				reading = Reading{Run: first, Design: run.Design, Outcome: thresholds.NotApplicable, Why: "the design lacks what these scenarios need"}
			}
			readings = append(readings, reading)
		}
		r.add(t, readings)
	}
}

// metrics returns combined runs of a design, such as all its scenarios, as the data of metrics.
// Only findings and counts can be combined, so that the others have no value.
func (r *Run) metrics() *thresholds.Run {
	return &thresholds.Run{
		Design: r.Design, Schedules: r.Exploration.Schedules,
		Verdicts: &checker.Result{Ops: r.Counts.Ops, Grants: r.Counts.Grants, Findings: r.Cells.List(), Breaches: r.Breaches},
	}
}
