package results

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure"
)

// An OpenLoop describes the load of a run in which iterations begin by a timetable, over its
// measured part. In such a run the latency "acquire" counts from the intended start of the acquire,
// "service" from its call, and "lag" is the time between the two.
type OpenLoop struct {
	// Due counts the arrivals that fell due, Started the arrivals that were begun, and Waiting the
	// arrivals that were due but not begun when the run ended. BehindNS is how long the first of
	// the waiting arrivals had been due.
	Due      int64 `json:"due"`
	Started  int64 `json:"started"`
	Waiting  int64 `json:"waiting"`
	BehindNS int64 `json:"behind_ns"`
	// The rates are per second: of arrivals due, of arrivals begun, and of acquires that were
	// answered, whatever the answer.
	OfferedPerS  float64 `json:"offered_per_s"`
	StartedPerS  float64 `json:"started_per_s"`
	AnsweredPerS float64 `json:"answered_per_s"`
	// BusyNS is the total time that arrivals waited for a client to become idle. WakingNS is the
	// total time that they waited for an idle client to wake, and WakingMaxNS the longest such
	// wait. Overslept counts the arrivals that an idle client began much too late; see
	// [github.com/lockbench/lockbench/internal/measure/runinfo.Arrivals].
	BusyNS      int64 `json:"busy_ns"`
	WakingNS    int64 `json:"waking_ns"`
	WakingMaxNS int64 `json:"waking_max_ns"`
	Overslept   int64 `json:"overslept"`
	// Processor is the share, 0 to 1, that lockbench took of the processors it could use; zero if
	// unknown.
	Processor float64 `json:"processor"`
	// KeptUp reports whether the requested load was offered. If it was not, the run is
	// inconclusive, and Why says by how much the load fell short, and the reason.
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

// busyProcessor is the share of its processors above which lockbench itself may be the reason that
// clients are busy.
const busyProcessor = 0.8

// shortfall returns a sentence on how far arrivals fell behind the timetable, and why; empty if
// they kept up.
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

// limitation returns a clause that names the bottleneck: this machine, or the lock, its server and
// the number of clients.
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
