// Package exporter shows the runs of a session to Prometheus while they last: counts, latencies
// as native and classic histograms, faults that occurred and cells that broke. It reads the same
// events as the judgement of a run, and counts with package measure, so that the last scrape and
// the result agree.
package exporter
