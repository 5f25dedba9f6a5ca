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
			reading := newReading(t, first, r.asGated(run))
			if run.Lacks {
				reading = Reading{Run: first, Design: run.Design, Outcome: thresholds.NotApplicable, Why: "the design lacks what these scenarios need"}
			}
			readings = append(readings, reading)
		}
		r.add(t, readings)
	}
}

// asGated returns all scenarios of a design as one run, for metrics to read.
func (r *Result) asGated(design *Run) *thresholds.Run {
	g := thresholds.Run{Design: design.Design, Verdicts: &checker.Result{Grants: design.Counts.Grants}}
	for i := range r.Runs {
		if r.Runs[i].Design == design.Design {
			g.Schedules += r.Runs[i].Exploration.Schedules
		}
	}
	g.Verdicts.Findings = design.Cells.List()
	g.Verdicts.Breaches = design.Breaches
	return &g
}
