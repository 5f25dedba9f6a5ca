package exporter

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// A Run counts one run. Its events are added from one goroutine; scrapes may be
// concurrent.
type Run struct {
	subject  Subject
	exporter *Exporter
	observed map[measure.Op]prometheus.Observer

	mu      sync.Mutex
	figures *measure.Collector
	broken  []breach
	settled map[string]int64 // the outcome of the business, by figure
	over    bool
}

// A breach counts the violations of a cell.
type breach struct {
	cell    lockbench.Cell
	claimed bool
	count   int64
}

func newRun(e *Exporter, s Subject, h history.Header) *Run {
	h.WarmupNS = 0 // a scraper has intervals of its own
	r := &Run{subject: s, exporter: e, figures: measure.New(h), observed: make(map[measure.Op]prometheus.Observer)}
	for _, g := range h.Claims.Keeps {
		cell := g.At(0)
		r.broken = append(r.broken, breach{cell: cell, claimed: h.Claims.Claims(cell)})
	}
	r.figures.Observe(r.took)
	return r
}

// took observes a duration. Operations that did not happen have no series.
func (r *Run) took(op measure.Op, d time.Duration) {
	o := r.observed[op]
	if o == nil {
		family := r.exporter.durations[op]
		if family == nil {
			return
		}
		o = family.WithLabelValues(r.subject.labels()...)
		r.observed[op] = o
	}
	o.Observe(d.Seconds())
}

// Add takes the next event of the run's history, in the order of [history.Source].
func (r *Run) Add(ev history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.figures.Add(ev)
}

// Finish takes the end of the history. The run is over with [Run.Over].
func (*Run) Finish(history.End) {}

// Judge takes the findings so far: all findings of the run, or some.
func (r *Run) Judge(findings []checker.CellFinding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range findings {
		if f.Verdict == checker.Broken {
			r.breach(f).count = f.Violations
		}
	}
}

// breach returns the counter of the violations of a cell.
func (r *Run) breach(f checker.CellFinding) *breach {
	i := slices.IndexFunc(r.broken, func(b breach) bool { return b.cell == f.Cell })
	if i < 0 {
		i = len(r.broken)
		r.broken = append(r.broken, breach{cell: f.Cell, claimed: f.Claimed})
	}
	return &r.broken[i]
}

// Settle takes the outcome of the run's business; nil if it counts nothing.
func (r *Run) Settle(b *runinfo.Business) {
	if b == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled = maps.Clone(b.Figures)
}

// Over marks the run as judged to its end, with these findings.
func (r *Run) Over(findings []checker.CellFinding) {
	r.Judge(findings)
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.exporter.over()
}

// counts collects the figures that are counted elsewhere, at each scrape.
type counts struct{ *Exporter }

// Describe implements [prometheus.Collector].
func (counts) Describe(out chan<- *prometheus.Desc) {
	for _, t := range tallies {
		out <- t.desc
	}
	for _, d := range others {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (c counts) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	runs, over, all := slices.Clone(c.runs), c.finished, c.planned
	c.mu.Unlock()
	out <- prometheus.MustNewConstMetric(planned, prometheus.GaugeValue, float64(all))
	out <- prometheus.MustNewConstMetric(finished, prometheus.CounterValue, float64(over))
	for _, r := range runs {
		for _, m := range r.collect() {
			out <- m
		}
	}
}

// collect returns the figures of the run so far.
func (r *Run) collect() (all []prometheus.Metric) {
	labels := r.subject.labels()
	add := func(desc *prometheus.Desc, kind prometheus.ValueType, v float64, more ...string) {
		all = append(all, prometheus.MustNewConstMetric(desc, kind, v, slices.Concat(labels, more)...))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.figures.SoFar()
	for _, t := range tallies {
		add(t.desc, prometheus.CounterValue, float64(t.of(m)))
	}
	for i := range m.Timeline.Faults {
		f := &m.Timeline.Faults[i]
		add(occurred, prometheus.CounterValue, float64(f.Count()), f.Note)
	}
	for _, b := range r.broken {
		add(violations, prometheus.CounterValue, float64(b.count), string(b.cell.Guarantee), b.cell.Under.String(), strconv.FormatBool(b.claimed))
	}
	for _, figure := range slices.Sorted(maps.Keys(r.settled)) {
		add(business, prometheus.GaugeValue, float64(r.settled[figure]), figure)
	}
	add(active, prometheus.GaugeValue, indicator(!r.over))
	if share, known := r.progress(); known {
		add(progress, prometheus.GaugeValue, share)
	}
	return all
}

func (r *Run) progress() (share float64, known bool) {
	switch {
	case r.over:
		return 1, true
	case r.subject.Progress == nil:
		return 0, false
	}
	return r.subject.Progress()
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
