package results

import (
	"slices"

	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// A Threshold is a condition on a metric, with its outcome. It fails a run if it is true. The
// condition is: Metric, Relation, Bound. Readings has the value of the metric in each run.
type Threshold struct {
	// Threshold is the text of the condition. Scope names the designs that it applies to, empty for
	// all.
	Threshold string              `json:"threshold"`
	Scope     string              `json:"scope,omitempty"`
	Metric    string              `json:"metric"`
	Relation  thresholds.Relation `json:"relation"`
	// Bound and the values of readings are in Unit: durations are in ns, shares 0 to 1.
	Bound float64         `json:"bound"`
	Unit  thresholds.Unit `json:"unit"`
	// Outcome is the worst outcome of the readings.
	Outcome  thresholds.Outcome `json:"outcome"`
	Readings []Reading          `json:"readings"`
}

// A Reading is the value of a threshold's metric in one run.
type Reading struct {
	// Run is the index of the run in the result, and Design its design. A reading of an exploration
	// is of all scenarios of a design, and Run is the index of the first.
	Run     int                `json:"run"`
	Design  string             `json:"design"`
	Outcome thresholds.Outcome `json:"outcome"`
	// Value is nil if the metric has no value. Why explains that, or why the value cannot be relied
	// on.
	Value *float64 `json:"value"`
	Why   string   `json:"why,omitempty"`
}

// Gate judges thresholds on the runs of r, which must be made of judged histories, see [New]. A run
// that fails one exits with [FailedThreshold], unless it broke a claim or is inconclusive. A
// threshold that cannot be decided makes r inconclusive. Call Gate after [Result.Prove], if that is
// called.
func (r *Result) Gate(asked []thresholds.Threshold) {
	for _, t := range asked {
		r.gate(t)
	}
	excused := false
	for i := range r.Runs {
		if r.Runs[i].Exit == Inconclusive && r.endedByThreshold(i) {
			r.Runs[i].Exit, excused = FailedThreshold, true
		}
	}
	if excused {
		r.Exit = r.total()
	}
}

// endedByThreshold reports whether the i-th run is inconclusive only because a threshold that it
// fails ended it early.
func (r *Result) endedByThreshold(i int) bool {
	run := &r.Runs[i]
	failed := slices.ContainsFunc(r.Thresholds, func(th Threshold) bool {
		return slices.ContainsFunc(th.Readings, func(found Reading) bool { return found.Run == i && found.Outcome == thresholds.Failed })
	})
	unfit, _ := run.WhyInconclusive()
	return failed && run.Ended == endedByThreshold && !run.Lacks && unfit == ""
}

// endedByThreshold is the value of [RunRecord.Ended] for a run that a threshold ended.
const endedByThreshold = "threshold failed"

// total returns the exit code of all runs and thresholds together.
func (r *Result) total() int {
	exits := []int{}
	for i := range r.Runs {
		exits = append(exits, r.Runs[i].Exit)
	}
	if len(r.Runs) == 0 || len(r.NotRun) > 0 || r.SelfCheck != nil && !r.SelfCheck.Caught {
		exits = append(exits, Inconclusive)
	}
	for i := range r.Thresholds {
		th := &r.Thresholds[i]
		if th.Outcome == thresholds.Failed || !th.UndecidedInRun() {
			exits = append(exits, exitOf(th.Outcome))
		}
	}
	return worst(exits...)
}

func (r *Result) gate(t thresholds.Threshold) {
	var readings []Reading
	for i := range r.Runs {
		run := &r.Runs[i]
		if !t.For(run.Design) || run.Control != "" {
			continue
		}
		reading := r.read(t, i)
		readings = append(readings, reading)
		run.Exit = worst(run.Exit, exitOf(reading.Outcome))
	}
	r.add(t, readings)
}

// add adds a threshold with its readings, and makes r.Exit worse accordingly.
func (r *Result) add(t thresholds.Threshold, readings []Reading) {
	var outcomes []thresholds.Outcome
	for _, reading := range readings {
		outcomes = append(outcomes, reading.Outcome)
	}
	result := Threshold{
		Threshold: t.String(), Scope: t.Scope, Metric: t.Metric.Name, Relation: t.Relation,
		Bound: t.Bound, Unit: t.Metric.Unit, Readings: append([]Reading{}, readings...), Outcome: thresholds.Together(outcomes...),
	}
	r.Exit = worst(r.Exit, exitOf(result.Outcome))
	r.Thresholds = append(r.Thresholds, result)
}

// read judges t on the i-th run, by its cells after [Result.Prove]. A metric counted by the checker
// cannot pass if the checker missed the lock broken on purpose.
func (r *Result) read(t thresholds.Threshold, i int) Reading {
	run := &r.Runs[i]
	metrics, verdicts := run.judged.Metrics(), run.judged.Verdicts
	verdicts.Findings = run.Cells.List()
	metrics.Verdicts = &verdicts
	reading := newReading(t, i, metrics)
	if reading.Outcome == thresholds.Passed && t.Metric.Judged && r.SelfCheck != nil && !r.SelfCheck.Caught {
		reading.Outcome, reading.Why = thresholds.Inconclusive, "a lock broken on purpose was not caught"
	}
	return reading
}

func newReading(t thresholds.Threshold, i int, run *thresholds.Run) Reading {
	outcome, found := t.Judge(run)
	reading := Reading{Run: i, Design: run.Design, Outcome: outcome, Why: found.Why}
	if found.Why == "" {
		reading.Value = &found.Value
	}
	return reading
}

func exitOf(o thresholds.Outcome) int {
	switch o {
	case thresholds.Failed:
		return FailedThreshold
	case thresholds.Inconclusive:
		return Inconclusive
	}
	return Passed
}

// UndecidedInRun reports whether a reading of a run left the threshold undecided, and so made that
// run inconclusive already.
func (th *Threshold) UndecidedInRun() bool {
	for _, r := range th.Readings {
		if r.Outcome == thresholds.Inconclusive {
			return true
		}
	}
	return false
}
