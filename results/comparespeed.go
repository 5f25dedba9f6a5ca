package results

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockbench/lockbench/internal/measure/statistics"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// The changes of a figure.
const (
	MetricSame       = "same"
	MetricWorse      = "worse"
	MetricBetter     = "better"
	MetricTooFew     = "too few runs"
	MetricUnmeasured = "unmeasured"
)

// A MetricChange compares one figure of a design between the two sides. Metric is the name of the
// figure in package thresholds.
type MetricChange struct {
	Metric string `json:"metric"`
	// Unit is the unit of the values: a duration is in ns. Better is "higher" or "lower".
	Unit   thresholds.Unit `json:"unit"`
	Better string          `json:"better"`
	// Change is better, worse, same (no difference was found), too few runs, or unmeasured. Base
	// and New are nil if unmeasured.
	Change string  `json:"change"`
	Base   *Center `json:"base,omitempty"`
	New    *Center `json:"new,omitempty"`
	// Ratio is the relative change, New/Base - 1: the median of the ratios of all pairs of runs
	// that are compared with each other. RatioLow and RatioHigh are its 95% confidence interval,
	// not corrected for the other figures. They are nil if unknown.
	Ratio     *float64 `json:"ratio,omitempty"`
	RatioLow  *float64 `json:"ratio_low,omitempty"`
	RatioHigh *float64 `json:"ratio_high,omitempty"`
	// P is the p-value of the Mann-Whitney test within the blocks of the design. PAdjusted is P
	// corrected for all figures of the comparison; Change depends on it.
	P         *float64 `json:"p,omitempty"`
	PAdjusted *float64 `json:"p_adjusted,omitempty"`
	// Visible is the smallest change for the worse, as a share, that four of five comparisons with
	// this number of runs would find. RunsForTenth is the approximate number of runs of each side
	// needed to find a change of a tenth as often. They are nil and zero if unknown.
	Visible      *float64 `json:"visible,omitempty"`
	RunsForTenth int      `json:"runs_for_tenth,omitempty"`

	found statistics.Comparison
}

// A Center is the median of a figure over a number of runs, in the unit of the figure, with its 95%
// confidence interval from Low to High. The bounds are nil if there are too few runs.
type Center struct {
	Runs   int      `json:"runs"`
	Median float64  `json:"median"`
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
}

// A figureOf is a metric that is compared, with the function that reads it from a run.
type figureOf struct {
	name  string // its name in package thresholds
	unit  thresholds.Unit
	rises bool // higher is better
	of    func(*Run) float64
}

// mains are the main figures: a comparison looks for differences in them first, and a limit without
// a metric applies to them. They show a slower lock as steadily as any.
var mains = []string{"grants_per_s", "acquire.p50"}

func (f figureOf) better() string {
	if f.rises {
		return "higher"
	}
	return "lower"
}

// compared returns the figures of a comparison. They are few, since each further figure makes it
// harder to find a difference in the others.
func compared() []figureOf {
	all := []figureOf{{"grants_per_s", thresholds.Rate, true, func(r *Run) float64 { return r.GrantsPerS }}}
	for _, op := range []string{"acquire", "service", "release", "handoff"} {
		all = append(all, percentile(op, "p50", func(l Latency) int64 { return l.P50 }),
			percentile(op, "p99", func(l Latency) int64 { return l.P99 }))
	}
	return append(all,
		percentile("acquire", "max", func(l Latency) int64 { return l.Max }),
		figureOf{"attempts_per_grant", thresholds.Number, false, func(r *Run) float64 { return r.Attempts }},
		figureOf{"commands_per_grant", thresholds.Number, false, func(r *Run) float64 { return r.Commands }})
}

func percentile(op, name string, of func(Latency) int64) figureOf {
	return figureOf{op + "." + name, thresholds.Duration, false, func(r *Run) float64 {
		l := r.Latency[op]
		closed := r.Latency["lag"].Count == 0
		if l.OutOfRange > 0 || op == "service" && closed {
			return 0 // the percentile would lack durations, or repeat the one of acquire
		}
		return float64(of(l))
	}}
}

// counts reports whether the speed of the run counts in a comparison: the run is not inconclusive,
// and has a grant in its measured part.
func (o observed) counts() bool {
	unfit, _ := o.run.WhyInconclusive()
	return unfit == "" && o.run.Grants > 0
}

// sample returns the values of the figure in the runs that count for speed. A zero stands for an
// unknown value and is left out.
func (f figureOf) sample(runs []observed) (values []float64) {
	for _, o := range runs {
		if v := f.of(o.run); o.counts() && v > 0 && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	return values
}

// speeds compares the figures of all designs, as one family of tests.
func (c *Comparison) speeds() {
	c.RunsNeeded = statistics.LeastRuns
	if c.SpeedsBarred {
		return
	}
	var pairs []statistics.Pair
	for i := range c.Designs {
		pairs = append(pairs, c.Designs[i].pairs()...)
	}
	family := statistics.Compare(pairs)
	c.Tests, c.RunsNeeded = family.Tests, family.Needed
	for i := range c.Designs {
		for j := range c.Designs[i].Metrics {
			c.Designs[i].Metrics[j].settle(family.Comparisons[0])
			family.Comparisons = family.Comparisons[1:]
		}
	}
}

// pairs sets d.Metrics to the figures that some run has, and returns the samples of each, in the
// same order.
func (d *ComparedDesign) pairs() (all []statistics.Pair) {
	blocks := d.blocks()
	d.LeftOut, d.Blocks = d.leftOut(), len(blocks)
	for _, f := range compared() {
		p, values := statistics.Pair{Main: slices.Contains(mains, f.name)}, 0
		for _, b := range blocks {
			sample := statistics.Block{Base: f.sample(b.base), New: f.sample(b.changed)}
			p.Blocks, values = append(p.Blocks, sample), values+len(sample.Base)+len(sample.New)
		}
		if values > 0 {
			d.Metrics = append(d.Metrics, MetricChange{Metric: f.name, Unit: f.unit, Better: f.better(), Change: MetricUnmeasured})
			all = append(all, p)
		}
	}
	return all
}

// leftOut counts the live runs that do not count for speed.
func (d *ComparedDesign) leftOut() (n int) {
	for _, o := range slices.Concat(d.base, d.changed) {
		if !o.counts() && o.run.Exploration == nil {
			n++
		}
	}
	return n
}

// settle sets the change of the figure from the result of its test.
func (m *MetricChange) settle(s statistics.Comparison) {
	switch s.Finding {
	case statistics.Unmeasured:
		return
	case statistics.TooFew:
		m.Change = MetricTooFew
	case statistics.Same:
		m.Change = MetricSame
	default:
		m.Change = MetricWorse
		if (s.Change > 0) == (m.Better == "higher") {
			m.Change = MetricBetter
		}
	}
	m.found, m.Base, m.New = s, newCenter(s.Base), newCenter(s.New)
	m.Ratio, m.P, m.PAdjusted = &s.Change, &s.P, &s.Adjusted
	if !math.IsInf(s.High, 1) {
		m.RatioLow, m.RatioHigh = &s.Low, &s.High
	}
	if v := s.Visible(); !math.IsInf(v, 1) {
		share := m.worse(v)
		m.Visible, m.RunsForTenth = &share, s.RunsFor(m.factor(0.1))
	}
}

func newCenter(s statistics.Summary) *Center {
	c := &Center{Runs: s.N, Median: s.Median}
	if !math.IsInf(s.Low, 0) && !math.IsInf(s.High, 0) {
		c.Low, c.High = &s.Low, &s.High
	}
	return c
}

// openSpeeds records why the speeds of a design could not be compared, if it has a live run.
func (c *Comparison) openSpeeds(d *ComparedDesign) {
	live := func(o observed) bool { return o.run.Exploration == nil }
	if !slices.ContainsFunc(slices.Concat(d.base, d.changed), live) {
		return
	}
	concluded := func(m MetricChange) bool { return m.Change != MetricTooFew && m.Change != MetricUnmeasured }
	tooFew := func(m MetricChange) bool { return m.Change == MetricTooFew }
	switch {
	case c.SpeedsBarred:
		c.open("speeds are not compared, because the settings differ")
	case slices.ContainsFunc(d.Metrics, concluded):
	case slices.ContainsFunc(d.Metrics, tooFew):
		c.open(fmt.Sprintf("%s: %d and %d runs are too few to tell a difference, it takes %d of each", d.Label(), d.BaseRuns, d.NewRuns, c.RunsNeeded))
	default:
		c.open(d.Label() + ": one side measured nothing")
	}
}
