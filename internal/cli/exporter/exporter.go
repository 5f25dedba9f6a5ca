package exporter

import (
	"net/http"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
)

// A Subject describes a run: the labels of its series, and its progress.
type Subject struct {
	Design, Workload, Guard string
	// Clients and Keys are their numbers, which differ between the points of a design.
	Clients, Keys string
	// Progress returns how much of the run is over, 0 to 1, and whether that is known.
	// Every scrape calls it, concurrently with the run.
	Progress func() (share float64, known bool)
}

func (s Subject) labels() []string {
	return []string{s.Design, s.Workload, s.Guard, s.Clients, s.Keys}
}

// An Exporter has the metrics of a session. It is safe for concurrent use.
type Exporter struct {
	registry  *prometheus.Registry
	durations map[measure.Op]*prometheus.HistogramVec

	mu       sync.Mutex
	planned  int
	runs     []*Run
	finished int
}

// New returns an Exporter for a session with that number of planned runs.
func New(planned int) *Exporter {
	e := &Exporter{registry: prometheus.NewRegistry(), durations: newDurations(), planned: planned}
	for _, d := range e.durations {
		e.registry.MustRegister(d)
	}
	e.registry.MustRegister(counts{e})
	return e
}

// Plan corrects the number of runs of the session.
func (e *Exporter) Plan(runs int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.planned = runs
}

// Begin adds a run with a history that opens with h. It replaces an earlier run with the
// same labels.
func (e *Exporter) Begin(s Subject, h history.Header) *Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := newRun(e, s, h)
	for i, earlier := range e.runs {
		if slices.Equal(earlier.subject.labels(), s.labels()) {
			e.forget(s)
			e.runs[i] = r
			return r
		}
	}
	e.runs = append(e.runs, r)
	return r
}

// forget drops the latencies of a subject.
func (e *Exporter) forget(s Subject) {
	for _, d := range e.durations {
		d.DeleteLabelValues(s.labels()...)
	}
}

func (e *Exporter) over() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.finished++
}

// Handler answers scrapes, in the text format and, to clients that accept it, as Protocol
// Buffers, which alone have native histograms.
func (e *Exporter) Handler() http.Handler {
	return promhttp.HandlerFor(e.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// newDurations makes a family of histograms for each operation that is measured. Buckets
// are for scrapers without native histograms; a native bucket is a tenth wide.
func newDurations() map[measure.Op]*prometheus.HistogramVec {
	all := make(map[measure.Op]*prometheus.HistogramVec)
	for op, d := range durationNames {
		all[op] = prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: d.name, Help: d.help,
			Buckets:                        []float64{1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
			NativeHistogramBucketFactor:    1.1,
			NativeHistogramMaxBucketNumber: 200,
		}, subjectLabels)
	}
	return all
}
