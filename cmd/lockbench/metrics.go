package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/cli/exporter"
	"github.com/lockbench/lockbench/runner"
)

// metricsOptions has the flag --metrics.
type metricsOptions struct{ address string }

func (o *metricsOptions) flag(f *pflag.FlagSet) {
	f.StringVar(&o.address, "metrics", "", "serve Prometheus metrics at `[HOST]:PORT` during the session; host 0.0.0.0 serves other machines, too; port 0 is any free port (default no server, host 127.0.0.1)")
}

// open serves the metrics of a session with that number of runs and announces the address. It returns
// the sink that updates them and a function that stops the server. Without an address it serves
// nothing.
func (o *metricsOptions) open(runs int, say func(string, ...any)) (runner.Sink, func() error, error) {
	if o.address == "" {
		return runner.Sink{}, func() error { return nil }, nil
	}
	e := exporter.New(runs)
	server, err := exporter.Serve(o.address, e.Handler())
	if err != nil {
		return runner.Sink{}, nil, fmt.Errorf("--metrics %s: %w", o.address, err)
	}
	say("metrics: %s", server.URL())
	return e.Sink(), server.Close, nil
}
