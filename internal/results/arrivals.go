package results

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/internal/measure"
)

// OpenLoop is the load of a run whose iterations began by a timetable, in the measured
// part. Acquires count from their intended start there; latency has service, from the
// call, and lag, what lies between.
type OpenLoop struct {
	// Due is how many arrivals fell due, Started how many were begun, Waiting how many were
	// due and not begun when the run ended, BehindNS for how long the first of these was.
	Due      int64 `json:"due"`
	Started  int64 `json:"started"`
	Waiting  int64 `json:"waiting"`
	BehindNS int64 `json:"behind_ns"`
	// The rates are per second. Answered are acquires, whatever the answer.
	OfferedPerS  float64 `json:"offered_per_s"`
	StartedPerS  float64 `json:"started_per_s"`
	AnsweredPerS float64 `json:"answered_per_s"`
	// BusyNS is how long all arrivals together waited for a client to be idle, WakingNS for
	// an idle one to wake, WakingMaxNS the longest of the latter; Overslept counts those
	// that idle clients began late by much ([github.com/lockbench/lockbench/runinfo.Arrivals]).
	BusyNS      int64 `json:"busy_ns"`
	WakingNS    int64 `json:"waking_ns"`
	WakingMaxNS int64 `json:"waking_max_ns"`
	Overslept   int64 `json:"overslept"`
	// Processor is the share, 0 to 1, that lockbench took of the processors it could use;
	// zero where that is not known.
	Processor float64 `json:"processor"`
	// KeptUp: the load that was asked for was offered. Otherwise Why says by how much it
	// was not, and for what reason, and the run is inconclusive.
	KeptUp bool   `json:"kept_up"`
	Why    string `json:"why,omitempty"`
}

func newOpenLoop(a *measure.Arrivals) *OpenLoop {
	if a == nil {
		return nil
	}
	return &OpenLoop{
		Due: a.Due, Started: a.Started, Waiting: a.Waiting, BehindNS: a.BehindNS,
		OfferedPerS: a.OfferedPerSecond, StartedPerS: a.StartedPerSecond, AnsweredPerS: a.AnsweredPerSecond,
		BusyNS: a.BusyNS, WakingNS: a.WakingNS, WakingMaxNS: a.WakingMaxNS, Overslept: a.Overslept,
		Processor: a.Processor, KeptUp: a.KeptUp(), Why: shortfall(a),
	}
}

// busyProcessor is the share of its processors from which on lockbench itself may be what
// keeps clients busy.
const busyProcessor = 0.8

// shortfall says by how much a timetable was not kept and why; empty where it was.
func shortfall(a *measure.Arrivals) string {
	switch {
	case a.FellShort():
		return fmt.Sprintf("%s of %s that were due had not begun when the run ended, the first of them for %s; %s/s were due, %s/s began; %s",
			figures.Number(a.Waiting), figures.Plural(a.Due, "arrival"), figures.Compact(a.BehindNS), figures.Rate(a.OfferedPerSecond), figures.Rate(a.StartedPerSecond), limitation(a))
	case a.WokeLate():
		return fmt.Sprintf("idle clients began %s of %s late, up to %s, so that latencies from the intended start are this machine's; hint: a machine that does less beside, or a lower rate",
			figures.Number(a.Overslept), figures.Plural(a.Started, "arrival"), figures.Compact(a.WakingMaxNS))
	}
	return ""
}

// limitation says what arrivals waited for.
func limitation(a *measure.Arrivals) string {
	busy := a.BusyShare()
	if busy < 0.5 {
		return fmt.Sprintf("clients were idle for %.0f%% of the waiting and woke late, so this machine is the limit; hint: a lower rate", 100*(1-busy))
	}
	s := fmt.Sprintf("all clients were busy for %.0f%% of the waiting, so the lock, its server or the number of clients is the limit", 100*busy)
	if a.Processor >= busyProcessor {
		s += fmt.Sprintf(", or lockbench, which took %.0f%% of its processors", 100*a.Processor)
	}
	return s + "; hint: a lower rate, or more clients"
}
