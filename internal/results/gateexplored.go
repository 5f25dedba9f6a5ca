package results

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/thresholds"
)

// GateExplored judges thresholds on an exploration, each on all scenarios of a design
// together, as guarantees are: what one of them does not show another may. What a design
// has not the abilities for is not for it.
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

// thresholdRun returns all scenarios of a design as one run, for metrics to read.
func (r *Run) thresholdRun() *thresholds.Run {
	return &thresholds.Run{
		Design: r.Design, Schedules: r.Exploration.Schedules,
		Verdicts: &checker.Result{Grants: r.Counts.Grants, Findings: r.Cells.List(), Breaches: r.Breaches},
	}
}
