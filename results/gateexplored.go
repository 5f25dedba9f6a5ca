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
			reading := newReading(t, first, run.thresholdRun())
			if run.Lacks {
				reading = Reading{Run: first, Design: run.Design, Outcome: thresholds.NotApplicable, Why: "the design lacks what these scenarios need"}
			}
			readings = append(readings, reading)
		}
		r.add(t, readings)
	}
}

// thresholdRun returns the combined scenarios of a design in the form that metrics read.
func (r *Run) thresholdRun() *thresholds.Run {
	return &thresholds.Run{
		Design: r.Design, Schedules: r.Exploration.Schedules,
		Verdicts: &checker.Result{Grants: r.Counts.Grants, Findings: r.Cells.List(), Breaches: r.Breaches},
	}
}
