package exporter

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockbench/lockbench/internal/measure"
)

const namespace = "lockbench"

// subjectLabels are the labels of every series of a run.
var subjectLabels = []string{"design", "workload", "guard", "clients", "keys"}

// durationNames are the families of histograms.
var durationNames = map[measure.Op]struct{ name, help string }{
	measure.Acquire:    {"acquire_seconds", "Acquires that were granted, from the intended start (open loop) or the call to the return."},
	measure.Service:    {"acquire_service_seconds", "Acquires of open loops that were granted, from the call to the return."},
	measure.Lag:        {"acquire_lag_seconds", "Acquires of open loops, from the intended start to the call."},
	measure.Refused:    {"refusal_seconds", "Acquires that were refused, from the intended start (open loop) or the call to the return."},
	measure.Release:    {"release_seconds", "Releases that returned, whatever the answer."},
	measure.Extend:     {"extend_seconds", "Extends that returned, whatever the answer."},
	measure.Handoff:    {"handoff_seconds", "From the call of a release to the return of the next grant of the key, somebody waiting."},
	measure.LossNotice: {"loss_notice_seconds", "From the return of the next owner's grant to when the owner before is told that it lost the lock; zero where it was told sooner."},
	measure.LeftTaken:  {"left_taken_seconds", "From the return of an acquire without an answer, on a free key, to the latest that others met the key taken."},
	measure.Hold:       {"hold_seconds", "From the return of a grant to the call of its last release."},
}

// tallies are the counters of a run.
var tallies = []struct {
	desc *prometheus.Desc
	of   func(*measure.Measures) int64
}{
	{describe("grants_total", "New holds granted, warm-up included like everything here."), func(m *measure.Measures) int64 { return m.Measured.Grants }},
	{describe("nested_grants_total", "Further acquires by owners that held the lock."), func(m *measure.Measures) int64 { return m.Measured.Nested }},
	{describe("attempts_total", "Tries inside acquires, whatever came of them."), func(m *measure.Measures) int64 { return m.Measured.Attempts }},
	{describe("refusals_total", "Operations refused because another owner held the lock."), func(m *measure.Measures) int64 { return m.Measured.Refused }},
	{describe("failures_total", "Operations that certainly did nothing."), func(m *measure.Measures) int64 { return m.Measured.Failed }},
	{describe("unknown_outcomes_total", "Operations that got no answer: they may or may not have happened."), func(m *measure.Measures) int64 { return m.Measured.Unknown }},
	{describe("losses_total", "Operations answered that their owner no longer holds the lock."), func(m *measure.Measures) int64 { return m.Measured.Lost }},
	{describe("lost_updates_total", "Writes that replaced another's that their writer had not seen, whoever caused it."), func(m *measure.Measures) int64 { return m.LostUpdates }},
	{describe("stale_accesses_total", "Reads and writes that a guarded store refused."), func(m *measure.Measures) int64 { return m.Stale }},
}

var (
	occurred   = describe("fault_occurrences_total", "Faults that occurred, by kind.", "fault")
	violations = describe("violations_total", "Violations of guarantees by the conditions that touched them: of what is claimed where nothing goes wrong from the start, of all else once it is broken.", "guarantee", "conditions", "claimed")
	business   = describe("business_figure", "What the workload came to in its own words, such as units sold, gone and oversold: counted once, when its clients have stopped, by what is in the store.", "figure")
	active     = describe("run_active", "Whether the run is going on or being judged.")
	progress   = describe("run_progress_ratio", "How much of the run is over; missing where that is not known.")

	planned  = prometheus.NewDesc(namespace+"_session_runs", "Runs of this session, done or to come.", nil, nil)
	finished = prometheus.NewDesc(namespace+"_finished_runs_total", "Runs of this session that are over and judged.", nil, nil)
)

// others are the families beside durations and tallies.
var others = []*prometheus.Desc{occurred, violations, business, active, progress, planned, finished}

// describe describes a family of series of runs.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(namespace+"_"+name, help, append(append([]string{}, subjectLabels...), labels...), nil)
}
