package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/exporter"
	"github.com/lockbench/lockbench/reports"
)

// metricsOptions is the flag of metrics.
type metricsOptions struct{ address string }

func (o *metricsOptions) flag(f *pflag.FlagSet) {
	f.StringVar(&o.address, "metrics", "", "serve metrics for Prometheus at `[HOST]:PORT` while the session lasts; :9090 is 127.0.0.1:9090, 0.0.0.0:9090 lets other machines see them, port 0 is any that is free")
}

// open serves the metrics of a session of so many runs, and says where; nil where nobody
// asked for them.
func (o *metricsOptions) open(runs int, say func(string, ...any)) (*liveMetrics, error) {
	if o.address == "" {
		return nil, nil
	}
	e := exporter.New(runs)
	server, err := exporter.Serve(o.address, e.Handler())
	if err != nil {
		return nil, fmt.Errorf("--metrics %s: %w", o.address, err)
	}
	say("metrics: %s", server.URL())
	return &liveMetrics{exporter: e, server: server}, nil
}

// liveMetrics shows a session to Prometheus. Nil shows it to nobody.
type liveMetrics struct {
	exporter *exporter.Exporter
	server   *exporter.Server
	// run is the one that was begun last; nil until its history has a header. It belongs
	// to who judges the run, until that is done.
	run *exporter.Run
}

// plan says how many runs there are to be, once that is known.
func (m *liveMetrics) plan(runs int) {
	if m != nil {
		m.exporter.Plan(runs)
	}
}

// watch has a run shown while it lasts.
func (m *liveMetrics) watch(of subject, workload string, w *watcher) {
	if m == nil {
		return
	}
	m.run = nil
	seen := exporter.Subject{Design: of.Name, Workload: workload, Guard: string(of.guard), Progress: func() (float64, bool) { return shareOver(w.progress) }}
	if seen.Guard == "" {
		seen.Guard = string(lockbench.NoGuard)
	}
	w.also = append(w.also, func(h history.Header) onlooker {
		m.run = m.exporter.Begin(seen, h)
		return m.run
	})
	check := w.check
	w.check = func(c *checker.Checker) {
		m.run.Judge(c.SoFar().Findings)
		if check != nil {
			check(c)
		}
	}
}

// end shows what became of the run.
func (m *liveMetrics) end(j *reports.Judged) {
	if m != nil && m.run != nil {
		m.run.Over(j.Verdicts.Findings)
	}
}

func (m *liveMetrics) close() error {
	if m == nil {
		return nil
	}
	return m.server.Close()
}
