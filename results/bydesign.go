package results

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
)

// Designs returns r with one run per design if r is an exploration: all scenarios of a design
// become one run. Any other result is returned unchanged.
func (r Result) Designs() Result {
	if r.Explored() {
		return byDesign(r)
	}
	return r
}

// byDesign returns r with one run for all scenarios of each design. Findings, counts, notes and
// errors are combined; all other fields come from the design's first scenario. Readings of
// thresholds refer to the combined runs.
func byDesign(r Result) Result {
	merged := r
	merged.Runs = nil
	at := make(map[string]int)
	for i := range r.Runs {
		run := &r.Runs[i]
		if _, known := at[run.Design]; !known {
			at[run.Design] = len(merged.Runs)
			merged.Runs = append(merged.Runs, run.withoutScenario())
		}
		merged.Runs[at[run.Design]].join(run)
	}
	for i := range merged.Runs {
		merged.Runs[i].Exit = merged.Runs[i].exit()
	}
	merged.Thresholds = slices.Clone(r.Thresholds)
	for i := range merged.Thresholds {
		th := &merged.Thresholds[i]
		th.Readings = slices.Clone(th.Readings)
		for j := range th.Readings {
			th.Readings[j].Run = at[r.Runs[th.Readings[j].Run].Design]
		}
	}
	return merged
}

// withoutScenario returns a copy of r without its scenario and the findings in it, to which join
// adds the scenarios of the design.
func (r *Run) withoutScenario() Run {
	b := *r
	b.Workload, b.Error, b.Defects, b.Notes, b.Counts = "", "", nil, nil, Counts{}
	b.Lacks = true
	b.Cells, b.Breaches = Cells{Cells: make(checker.Cells)}, 0
	if x := r.Exploration; x != nil {
		of := *x
		of.Schedules, of.Timings = 0, Timings{}
		b.Exploration = &of
	}
	return b
}

// join adds the findings, counts, notes and errors of one scenario of r's design to r.
func (r *Run) join(scenario *Run) {
	r.Lacks = r.Lacks && scenario.lacksAbility()
	r.Notes = slices.Concat(r.Notes, scenario.Notes)
	r.Counts.Grants += scenario.Counts.Grants
	for _, d := range scenario.Defects {
		r.Defects = append(r.Defects, scenario.Workload+": "+d)
	}
	if scenario.Error != "" && r.Error != "" {
		r.Error += "; "
	}
	if scenario.Error != "" {
		r.Error += scenario.Workload + ": " + scenario.Error
	}
	r.Breaches += scenario.Breaches
	if x := scenario.Exploration; x != nil && !scenario.Lacks {
		r.Exploration.Schedules += x.Schedules
		r.Exploration.Timings.Elapsed += x.Timings.Elapsed
		r.Exploration.Scenarios = append(r.Exploration.Scenarios, Covered{Scenario: scenario.Workload, Coverage: x.Coverage})
	}
	for cell, f := range scenario.Cells.All() {
		f.Scenarios = []string{scenario.Workload}
		r.Cells.join(cell, f)
	}
}

// lacksAbility reports whether the scenario was not explored because the design lacks an ability.
// Lacks is not saved, so a run that was read from a file is recognized by passing without a
// schedule: no other run does.
func (r *Run) lacksAbility() bool {
	return r.Lacks || r.Exploration != nil && r.Exploration.Schedules == 0 && r.Exit == Passed
}

// shorter reports whether s has fewer steps than another schedule; nil is longer than any.
func (s *Schedule) shorter(than *Schedule) bool {
	return s != nil && (than == nil || len(s.Steps) < len(than.Steps))
}

// exit returns the exit code of a design by all its scenarios, by the rules of
// [checker.Result.Exit].
func (r *Run) exit() int {
	exit := Passed
	if r.Lacks {
		return exit
	}
	if r.unmeasured() || r.Error != "" || len(r.Defects) > 0 {
		exit = Inconclusive
	}
	if code := r.Cells.Exit(); code != Passed {
		return code
	}
	return exit
}

// unmeasured reports whether the run had no grant to judge. A replay always counts as measured: its
// schedule may show just that no client gets the lock.
func (r *Run) unmeasured() bool {
	replay := r.Exploration != nil && r.Exploration.Strategy == Replay
	return r.Counts.Grants == 0 && !replay
}
