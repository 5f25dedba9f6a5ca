package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// shownReadings is the largest number of runs that a threshold shows values of. JSON has all.
const shownReadings = 5

// thresholds returns the outcome of each threshold, the failed ones first.
func (s *summary) thresholds() document.Block {
	l := &document.List{}
	for _, outcome := range []thresholds.Outcome{thresholds.Failed, thresholds.Inconclusive, thresholds.Passed} {
		for i := range s.result.Thresholds {
			if th := &s.result.Thresholds[i]; th.Outcome == outcome {
				word, tone := outcomeWord(outcome)
				l.Items = append(l.Items, document.Item{Word: word, Tone: tone, Name: th.Threshold, Text: s.readings(th)})
			}
		}
	}
	return &document.Section{ID: "thresholds", Title: "thresholds", Blocks: []document.Block{l}}
}

func outcomeWord(o thresholds.Outcome) (string, document.Tone) {
	switch o {
	case thresholds.Failed:
		return strings.ToUpper(o.String()), document.Bad
	case thresholds.Inconclusive:
		return strings.ToUpper(o.String()), document.Weak
	}
	return o.String(), document.Good
}

// readings returns the runs that decided the threshold, with their values. For a passed threshold
// that is the run that came closest to failing.
func (s *summary) readings(th *results.Threshold) string {
	deciding := deciding(th)
	switch {
	case len(deciding) == 0:
		return "no run of such a design"
	case th.Outcome == thresholds.Passed && len(th.Readings) > 1:
		return "closest: " + s.reading(th, deciding[0])
	case len(deciding) > 2 && sameReason(deciding):
		return fmt.Sprintf("%d runs %s", len(deciding), readingText(th, deciding[0]))
	}
	var parts []string
	for _, r := range deciding[:min(len(deciding), shownReadings)] {
		parts = append(parts, s.reading(th, r))
	}
	if more := len(deciding) - shownReadings; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

func (s *summary) reading(th *results.Threshold, r results.Reading) string {
	return s.label.Of(&s.result.Runs[r.Run]) + " " + readingText(th, r)
}

// sameReason reports whether no reading has a value, all for the same reason.
func sameReason(readings []results.Reading) bool {
	return !slices.ContainsFunc(readings, func(r results.Reading) bool { return r.Why == "" || r.Why != readings[0].Why })
}

// readingText returns the value of a reading, or the reason why there is none.
func readingText(th *results.Threshold, r results.Reading) string {
	if r.Why != "" {
		return "(" + r.Why + ")"
	}
	return th.Unit.Format(*r.Value)
}

// deciding returns the readings with the outcome of the threshold. Of a passed threshold it returns
// only the one nearest to the bound, and of a threshold that applied to no run all.
func deciding(th *results.Threshold) []results.Reading {
	var found []results.Reading
	for _, r := range th.Readings {
		if r.Outcome == th.Outcome {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 0:
		return th.Readings
	case th.Outcome == thresholds.Passed:
		return found[nearest(found, th.Relation):][:1]
	}
	return found
}

// nearest returns the index of the reading that came closest to fulfilling the
// relation.
func nearest(readings []results.Reading, relation thresholds.Relation) int {
	best := 0
	for i, r := range readings {
		nearer := *r.Value > *readings[best].Value
		if relation == thresholds.Below || relation == thresholds.AtMost {
			nearer = *r.Value < *readings[best].Value
		}
		if nearer {
			best = i
		}
	}
	return best
}

// failures returns the failed thresholds, with the runs that failed them.
func (s *summary) failures() []string {
	var all []string
	for i := range s.result.Thresholds {
		if th := &s.result.Thresholds[i]; th.Outcome == thresholds.Failed {
			all = append(all, th.Threshold+" ("+s.readings(th)+")")
		}
	}
	return all
}

// resultOpen reports whether a threshold could not be decided in a run.
func resultOpen(r *results.Result, run int) bool {
	return slices.ContainsFunc(r.Thresholds, func(th results.Threshold) bool {
		return slices.ContainsFunc(th.Readings, func(found results.Reading) bool {
			return found.Run == run && found.Outcome == thresholds.Inconclusive
		})
	})
}

// undecided returns the thresholds that could not be decided.
func (s *summary) undecided() []string {
	var all []string
	for i := range s.result.Thresholds {
		if th := &s.result.Thresholds[i]; th.Outcome == thresholds.Inconclusive {
			all = append(all, "threshold "+th.Threshold+" could not be decided: "+s.readings(th))
		}
	}
	return all
}
