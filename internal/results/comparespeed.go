package results

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockbench/lockbench/internal/statistics"
	"github.com/lockbench/lockbench/internal/thresholds"
)

// What became of a figure.
const (
	MetricSame       = "same"
	MetricWorse      = "worse"
	MetricBetter     = "better"
	MetricTooFew     = "too few runs"
	MetricUnmeasured = "unmeasured"
)

// A MetricChange is the change of one figure of a design.
type MetricChange struct {
	Metric string `json:"metric"`
	// Unit is duration (ns), per second or number; Better says which way is.
	Unit   thresholds.Unit `json:"unit"`
	Better string          `json:"better"`
	// Change is better, worse, same (no difference was seen), too few runs or unmeasured.
	Change string  `json:"change"`
	Base   *Center `json:"base,omitempty"`
	New    *Center `json:"new,omitempty"`
	// Ratio is what is new over what was, less one: the median of the ratios of all runs
	// that are compared with each other. RatioLow and RatioHigh bound it in 95 % of
	// cases, of this figure by itself. Absent where they are not known.
	Ratio     *float64 `json:"ratio,omitempty"`
	RatioLow  *float64 `json:"ratio_low,omitempty"`
	RatioHigh *float64 `json:"ratio_high,omitempty"`
	// P is of the Mann-Whitney test, within the blocks of the design; PAdjusted, corrected
	// for all figures of the comparison, decides.
	P         *float64 `json:"p,omitempty"`
	PAdjusted *float64 `json:"p_adjusted,omitempty"`
	// Visible is the share by which the figure would have to be worse so that as many runs
	// show it in four of five comparisons, and RunsForTenth about how many of each side
	// would show a tenth as often. Absent where they are not known.
	Visible      *float64 `json:"visible,omitempty"`
	RunsForTenth int      `json:"runs_for_tenth,omitempty"`

	found statistics.Comparison
}

// Center is the median of a figure over the runs, with its 95 % confidence interval; absent
// bounds are not known from so few runs.
type Center struct {
	Runs   int      `json:"runs"`
	Median float64  `json:"median"`
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
}

// A figureOf is a metric that is compared, read from a result.
type figureOf struct {
	name  string // as package thresholds has it
	unit  thresholds.Unit
	rises bool // more is better
	of    func(*Run) float64
}

// mains are the figures that a comparison looks at first, and that a limit without a name is
// for: what a slower lock shows in, as steadily as any.
var mains = []string{"grants_per_s", "acquire.p50"}

func (f figureOf) better() string {
	if f.rises {
		return "higher"
	}
	return "lower"
}

// compared are the figures of a comparison. They are few, since each makes it harder to
// tell a difference in the others.
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
			return 0 // the percentile would lack some, or be that of acquire once more
		}
		return float64(of(l))
	}}
}

// counts reports whether the speed of a run counts: the run did enough, and measured something.
func (o observed) counts() bool {
	unfit, _ := o.run.WhyInconclusive()
	return unfit == "" && o.run.Grants > 0
}

// sample is the figure in all runs that count; zero is "not told", and no value.
func (f figureOf) sample(runs []observed) (values []float64) {
	for _, o := range runs {
		if v := f.of(o.run); o.counts() && v > 0 && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	return values
}

// speeds compares the figures of all designs, corrected for how many they are.
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

// pairs are the samples of each figure that some run has, which become the design's Metrics.
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

// leftOut counts the runs whose speed does not count; explored ones have none.
func (d *ComparedDesign) leftOut() (n int) {
	for _, o := range slices.Concat(d.base, d.changed) {
		if !o.counts() && o.run.Exploration == nil {
			n++
		}
	}
	return n
}

// settle takes over what the statistics say.
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

// openSpeeds notes why the speeds of a design are not known, unless it was explored.
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
