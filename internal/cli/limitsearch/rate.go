package limitsearch

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// alwaysTarget is a target of every search for a rate, unless another target replaces it.
const alwaysTarget = "refused.share<=1%"

// Targets are the conditions that a rate must meet.
type Targets []thresholds.Comparison

// Rate returns a search for the highest rate of arrivals at which all targets are met.
func Rate(targets Targets, steps *limits.Search) *Search {
	s := &Search{
		steps:  steps,
		limit:  results.LimitSearch{LimitQuestion: results.LimitQuestion{Of: results.RateLimit}},
		change: func(o *workloads.Options, v float64) { o.Rate = v },
		name:   func(v float64) string { return fmt.Sprintf("%.4g/s", v) },
		judge:  func(j *results.Judged, _ *results.LimitTrial) (limits.Outcome, string) { return targets.meets(j) },
		still:  func(j *results.Judged, _ *results.LimitTrial) bool { return stoodStill(j) },
	}
	for _, t := range targets {
		s.limit.Wanted = append(s.limit.Wanted, t.String())
	}
	return s
}

// ParseTargets parses conditions, and adds alwaysTarget unless one of them replaces it.
func ParseTargets(texts []string) (all Targets, err error) {
	always, err := thresholds.ParseComparison(alwaysTarget)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		c, err := thresholds.ParseComparisonOf(text, thresholds.Live)
		if err != nil {
			return nil, fmt.Errorf("--target: %w", err)
		}
		if c.Metric.Name == always.Metric.Name {
			always.Metric.Name = ""
		}
		all = append(all, c)
	}
	if always.Metric.Name != "" {
		all = append(all, always)
	}
	return all, nil
}

// meets returns the outcome of a trial: whether it offered its rate and met all targets. If not, it
// returns the missed target.
func (targets Targets) meets(j *results.Judged) (limits.Outcome, string) {
	switch a := j.Measures.Arrivals; {
	case a == nil || a.Due == 0:
		return limits.Unable, "nothing was due in so short a run"
	case a.WokeLate():
		return limits.Unable, fmt.Sprintf("the machine was too busy: idle clients began %s late", share(a.Overslept, a.Started))
	case a.FellShort() && a.BusyShare() < 0.5:
		return limits.Unable, fmt.Sprintf("the machine was too busy: %s were not begun", share(a.Waiting, a.Due))
	case a.FellShort():
		return limits.Fails, fmt.Sprintf("all clients were busy and %s were not begun", share(a.Waiting, a.Due))
	case j.Verdicts.Grants == 0:
		return limits.Fails, "no lock was granted"
	}
	run := j.Metrics()
	for _, t := range targets {
		reading := t.Metric.Read(run)
		switch {
		case reading.Why != "":
			return limits.Unable, fmt.Sprintf("%s has no value: %s", t.Metric.Name, reading.Why)
		case !t.Holds(reading.Value):
			return limits.Fails, fmt.Sprintf("%s was %s", t.Metric.Name, t.Metric.Unit.Format(reading.Value))
		}
	}
	return limits.Holds, ""
}

// share formats part as a share of the arrivals.
func share(part, of int64) string {
	return fmt.Sprintf("%.2g%% of %d arrivals", 100*float64(part)/float64(max(1, of)), of)
}

// muchStill is the share of a trial above which standstills explain a missed target. Arrivals that
// fall due during a standstill are late, and no larger share of them can be ignored by a 99th
// percentile.
const muchStill = 0.01

func stoodStill(j *results.Judged) bool {
	return float64(j.Verdicts.Standstills.For) > muchStill*float64(j.Measures.Span)
}
