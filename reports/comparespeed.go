package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/gates"
	"github.com/lockbench/lockbench/internal/statistics"
	"github.com/lockbench/lockbench/internal/suggest"
)

// What became of a figure.
const (
	metricSame       = "same"
	metricWorse      = "worse"
	metricBetter     = "better"
	metricTooFew     = "too few runs"
	metricUnmeasured = "unmeasured"
)

// A MetricChange is what became of one figure of a design.
type MetricChange struct {
	Metric string `json:"metric"`
	// Unit is duration (ns), per second or number; Better says which way is.
	Unit   gates.Unit `json:"unit"`
	Better string     `json:"better"`
	// Change is better, worse, same (no difference was seen), too few runs or unmeasured.
	Change string  `json:"change"`
	Base   *Center `json:"base,omitempty"`
	New    *Center `json:"new,omitempty"`
	// Ratio is the new median over the old one, less one; RatioLow and RatioHigh bound the
	// ratio in 95 % of cases, of this figure by itself. Absent where they are not known.
	Ratio     *float64 `json:"ratio,omitempty"`
	RatioLow  *float64 `json:"ratio_low,omitempty"`
	RatioHigh *float64 `json:"ratio_high,omitempty"`
	// P is of the Mann-Whitney test; PAdjusted, corrected for all figures of the
	// comparison, decides.
	P         *float64 `json:"p,omitempty"`
	PAdjusted *float64 `json:"p_adjusted,omitempty"`
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
	name  string // as package gates has it
	unit  gates.Unit
	rises bool // more is better
	of    func(*Run) float64
}

// compared are the figures of a comparison. They are few, since each makes it harder to
// tell a difference in the others.
func compared() []figureOf {
	all := []figureOf{{"grants_per_s", gates.Rate, true, func(r *Run) float64 { return r.GrantsPerS }}}
	for _, op := range []string{"acquire", "service", "release", "handoff"} {
		all = append(all, percentile(op, "p50", func(l Latency) int64 { return l.P50 }),
			percentile(op, "p99", func(l Latency) int64 { return l.P99 }))
	}
	return append(all,
		percentile("acquire", "max", func(l Latency) int64 { return l.Max }),
		figureOf{"attempts_per_grant", gates.Number, false, func(r *Run) float64 { return r.Attempts }},
		figureOf{"commands_per_grant", gates.Number, false, func(r *Run) float64 { return r.Commands }})
}

func percentile(op, name string, of func(Latency) int64) figureOf {
	return figureOf{op + "." + name, gates.Duration, false, func(r *Run) float64 {
		l := r.Latency[op]
		closed := r.Latency["lag"].Count == 0
		if l.OutOfRange > 0 || op == "service" && closed {
			return 0 // the percentile would lack some, or be that of acquire once more
		}
		return float64(of(l))
	}}
}

// counts tells whether the speed of a run counts: it ran to its end, and measured something.
func (o observed) counts() bool {
	r := o.run
	return r.Error == "" && !r.Partial && len(r.Defects) == 0 && r.Ended != "interrupted" && r.Grants > 0
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
		d := &c.Designs[i]
		d.LeftOut = d.leftOut()
		for _, f := range compared() {
			p := statistics.Pair{Base: f.sample(d.base), New: f.sample(d.changed)}
			if len(p.Base)+len(p.New) == 0 {
				continue
			}
			d.Metrics = append(d.Metrics, newMetric(f))
			pairs = append(pairs, p)
			if len(p.Base) > 0 && len(p.New) > 0 {
				c.Tests++
			}
		}
	}
	c.RunsNeeded = statistics.Needed(c.Tests)
	found := statistics.CompareFamily(pairs)
	for i := range c.Designs {
		for j := range c.Designs[i].Metrics {
			c.Designs[i].Metrics[j].settle(found[0])
			found = found[1:]
		}
	}
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

func newMetric(f figureOf) MetricChange {
	better := "lower"
	if f.rises {
		better = "higher"
	}
	return MetricChange{Metric: f.name, Unit: f.unit, Better: better, Change: metricUnmeasured}
}

// settle takes over what the statistics say.
func (m *MetricChange) settle(s statistics.Comparison) {
	switch s.Finding {
	case statistics.Unmeasured:
		return
	case statistics.TooFew:
		m.Change = metricTooFew
	case statistics.Same:
		m.Change = metricSame
	default:
		m.Change = metricWorse
		if (s.Change > 0) == (m.Better == "higher") {
			m.Change = metricBetter
		}
	}
	m.Base, m.New = newCenter(s.Base), newCenter(s.New)
	m.Ratio, m.P, m.PAdjusted = &s.Change, &s.P, &s.Adjusted
	if !math.IsInf(s.High, 1) {
		m.RatioLow, m.RatioHigh = &s.Low, &s.High
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
	concluded := func(m MetricChange) bool { return m.Change != metricTooFew && m.Change != metricUnmeasured }
	tooFew := func(m MetricChange) bool { return m.Change == metricTooFew }
	switch {
	case c.SpeedsBarred:
		c.open("speeds are not compared, because the settings differ")
	case slices.ContainsFunc(d.Metrics, concluded):
	case slices.ContainsFunc(d.Metrics, tooFew):
		c.open(fmt.Sprintf("%s: %d and %d runs are too few to tell a difference, it takes %d of each", d.label(), d.BaseRuns, d.NewRuns, c.RunsNeeded))
	default:
		c.open(d.label() + ": one side measured nothing")
	}
}

// A Limit is by how much a figure may be worse.
type Limit struct {
	Metric string
	// Share of the figure of BASE, 0.1 for a tenth.
	Share float64
}

// limited are the figures that a limit without a name is for.
var limited = []string{"grants_per_s", "acquire.p50"}

// ParseLimit reads "10%" or "acquire.p99=10%". The first is a limit on each of grants_per_s
// and acquire.p50. The error says what is wrong, with a hint.
func ParseLimit(text string) ([]Limit, error) {
	metrics := limited
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
