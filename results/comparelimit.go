package results

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// A Limit is the largest change for the worse that is allowed for a metric, which has its name in
// package thresholds.
type Limit struct {
	Metric string
	// Share is the allowed change as a share of the value in BASE: 0.1 is a tenth.
	Share float64
}

// ParseLimit parses a limit such as "acquire.p99=10%". Without a metric, as in "10%", it returns a
// limit for each main figure: grants_per_s and acquire.p50. The error says what is wrong with the
// text, with a hint.
func ParseLimit(text string) ([]Limit, error) {
	metrics := mains
	name, number, named := strings.Cut(text, "=")
	if named {
		if err := knownMetric(name); err != nil {
			return nil, err
		}
		metrics = []string{name}
	} else {
		number = text
	}
	digits, percent := strings.CutSuffix(number, "%")
	share, err := strconv.ParseFloat(digits, 64)
	if err != nil || !percent || !(share > 0 && share < 1e6) {
		return nil, fmt.Errorf("%q is no share above zero; hint: 10%% or acquire.p99=10%%", number)
	}
	var limits []Limit
	for _, m := range metrics {
		limits = append(limits, Limit{Metric: m, Share: share / 100})
	}
	return limits, nil
}

func knownMetric(name string) error {
	var known []string
	for _, f := range compared() {
		if f.name == name {
			return nil
		}
		known = append(known, f.name)
	}
	return suggest.Unknown("metric to compare", name, known)
}

// The outcomes of a limit.
const (
	LimitKept   = "kept"
	LimitPassed = "passed"
	limitOpen   = "open" // the runs neither show that the figure is worse by more, nor rule it out
)

// A LimitOutcome is the outcome of a limit on a metric for one design. Design is
// [ComparedDesign.Label].
type LimitOutcome struct {
	Design string `json:"design"`
	Metric string `json:"metric"`
	// Share is the allowed change, as a share of the value in BASE.
	Share float64 `json:"share"`
	// Outcome is "passed" if the figure is significantly worse, and by more than Share; "kept" if
	// the confidence interval of the ratio rules that out; else "open".
	Outcome string `json:"outcome"`
	// Why explains the outcome in words.
	Why string `json:"why"`
}

func (l *LimitOutcome) exit() int {
	switch l.Outcome {
	case LimitKept:
		return Passed
	case LimitPassed:
		return FailedThreshold
	}
	return Inconclusive
}

// limits compares every design with every limit.
func (c *Comparison) limits(limits []Limit) {
	for i := range c.Designs {
		d := &c.Designs[i]
		for _, l := range limits {
			o := LimitOutcome{Design: d.Label(), Metric: l.Metric, Share: l.Share, Outcome: limitOpen, Why: "it was not compared"}
			for j := range d.Metrics {
				if m := &d.Metrics[j]; m.Metric == l.Metric {
					o.Outcome, o.Why = m.limit(l.Share)
				}
			}
			if o.Outcome == limitOpen {
				c.open(fmt.Sprintf("%s: whether %s is worse by more than %.3g%%: %s", o.Design, o.Metric, 100*o.Share, o.Why))
			}
			c.Limits = append(c.Limits, o)
		}
	}
}

// limit compares a figure with a limit, given as a share of BASE.
func (m *MetricChange) limit(share float64) (outcome, why string) {
	if m.Change == MetricTooFew || m.Change == MetricUnmeasured || m.RatioLow == nil {
		return limitOpen, m.Change
	}
	worse, most := *m.Ratio, *m.RatioHigh
	if m.Better == "higher" {
		worse, most = -*m.Ratio, -*m.RatioLow
	}
	switch {
	case m.Change == MetricWorse && worse > share:
		return LimitPassed, "it is " + Percent(*m.Ratio)
	case most > share:
		return limitOpen, fmt.Sprintf("it may be anything from %s to %s; %s", Percent(*m.RatioLow), Percent(*m.RatioHigh), m.more(worse, share))
	}
	return LimitKept, fmt.Sprintf("it is between %s and %s", Percent(*m.RatioLow), Percent(*m.RatioHigh))
}

// mostAdvised is the largest number of runs that a message advises.
const mostAdvised = 1000

// more returns a clause on how many runs would decide an open limit, if the figure really is worse
// by the share measured. Deciding means to show a difference from the limit, or, if worse exceeds
// the limit, a difference from no change.
func (m *MetricChange) more(worse, limit float64) string {
	factor := m.factor(worse)
	if worse < limit {
		factor = m.factor(limit) / factor
	}
	runs := m.found.RunsFor(factor)
	if runs <= min(m.Base.Runs, m.New.Runs) || runs > mostAdvised {
		return "more or longer runs narrow that"
	}
	return fmt.Sprintf("about %d runs of each would decide it", runs)
}

// Percent formats a ratio less one with a sign and a sensible number of digits: "+12.3%". Large
// ratios are written as a factor: "x12".
func Percent(ratio float64) string {
	switch v := 100 * ratio; {
	case math.Abs(v) < 0.05:
		return "0%"
	case v >= 999.5:
		return fmt.Sprintf("x%.3g", 1+ratio)
	case v >= 99.5:
		return fmt.Sprintf("%+.0f%%", v)
	default:
		return fmt.Sprintf("%+.1f%%", v)
	}
}
