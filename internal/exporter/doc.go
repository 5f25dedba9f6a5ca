// Package exporter shows the runs of a session to Prometheus while they last: counts,
// latencies as native and classic histograms, which faults occurred and what broke. It sees what
// the judgement of a run sees, and counts as package measure does, so that the last
// scrape and the result agree.
package exporter
