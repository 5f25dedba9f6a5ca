package reports

import (
	"fmt"
	"math"
)

// What became of a limit.
const (
	limitKept   = "kept"
	limitPassed = "passed"
	limitOpen   = "open" // so much worse is neither shown nor ruled out
)

// A LimitOutcome is what a limit came to for one design.
type LimitOutcome struct {
	Design string `json:"design"`
	Metric string `json:"metric"`
	// Share is what was allowed, of the figure of BASE.
	Share float64 `json:"share"`
	// Outcome is passed when the figure is worse by more, and that is no chance; kept when
	// the confidence interval of the ratio rules out so much; else open.
	Outcome string `json:"outcome"`
	// Why says so in words.
	Why string `json:"why"`
}

func (l *LimitOutcome) exit() int {
	switch l.Outcome {
	case limitKept:
		return Passed
	case limitPassed:
		return FailedThreshold
	}
	return Inconclusive
}

// limits holds every design against every limit.
func (c *Comparison) limits(limits []Limit) {
	for i := range c.Designs {
		d := &c.Designs[i]
		for _, l := range limits {
			o := LimitOutcome{Design: d.label(), Metric: l.Metric, Share: l.Share, Outcome: limitOpen, Why: "it was not compared"}
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

// limit holds a figure against a limit.
func (m *MetricChange) limit(share float64) (outcome, why string) {
	if m.Change == metricTooFew || m.Change == metricUnmeasured || m.RatioLow == nil {
		return limitOpen, m.Change
	}
	worse, most := *m.Ratio, *m.RatioHigh
	if m.Better == "higher" {
		worse, most = -*m.Ratio, -*m.RatioLow
	}
	switch {
	case m.Change == metricWorse && worse > share:
		return limitPassed, "it is " + percent(*m.Ratio)
	case most > share:
		return limitOpen, fmt.Sprintf("it may be anything from %s to %s; more or longer runs narrow that", percent(*m.RatioLow), percent(*m.RatioHigh))
	}
	return limitKept, fmt.Sprintf("it is between %s and %s", percent(*m.RatioLow), percent(*m.RatioHigh))
}

// percent renders a ratio less one as "+12.3%", with what digits it deserves.
func percent(ratio float64) string {
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
