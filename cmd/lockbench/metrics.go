package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/exporter"
	"github.com/lockbench/lockbench/runner"
)

// metricsOptions is the flag of metrics.
type metricsOptions struct{ address string }

func (o *metricsOptions) flag(f *pflag.FlagSet) {
	f.StringVar(&o.address, "metrics", "", "serve metrics for Prometheus at `[HOST]:PORT` while the session lasts; :9090 is 127.0.0.1:9090, 0.0.0.0:9090 lets other machines see them, port 0 is any that is free")
}

// open serves the metrics of a session of so many runs, says where, and returns the sink that
// shows them and what ends it. Where nobody asked for them both are nothing.
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
