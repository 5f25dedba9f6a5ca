package results

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/suggest"
)

// A Limit is by how much a figure may be worse.
type Limit struct {
	Metric string
	// Share of the figure of BASE, 0.1 for a tenth.
	Share float64
}

// ParseLimit reads "10%" or "acquire.p99=10%". The first is a limit on each of grants_per_s
// and acquire.p50. The error says what is wrong, with a hint.
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

// What became of a limit.
const (
	LimitKept   = "kept"
	LimitPassed = "passed"
	limitOpen   = "open" // so much worse is neither shown nor ruled out
)

// A LimitOutcome is the outcome of a limit for one design.
type LimitOutcome struct {
	Design string `json:"design"`
	Metric string `json:"metric"`
	// Share is the change that was allowed, as a share of the figure of BASE.
	Share float64 `json:"share"`
	// Outcome is passed when the figure is worse by more, and that is no chance; kept when
	// the confidence interval of the ratio rules out so much; else open.
	Outcome string `json:"outcome"`
	// Why says so in words.
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

// limits holds every design against every limit.
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

// limit holds a figure against a limit.
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

// mostAdvised is the greatest number of runs that a reader is told to make.
const mostAdvised = 1000

// more says what it takes to decide a limit that is open, if the figure is worse by as much as
// it seems: to tell that from the limit, or, where it is beyond, from no change.
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

// Percent renders a ratio less one as "+12.3%", with what digits it deserves.
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
