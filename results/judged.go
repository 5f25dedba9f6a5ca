package results

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
)

// A Judged is the judgement of one history; [New] makes a [Run] of it. Its methods may be called by
// several goroutines at once while none changes it.
type Judged struct {
	// Header is the header of the history: the design, its claims and its settings.
	Header history.Header
	// End describes the end of the history, complete or cut short.
	End history.End
	// Verdicts are the checker's findings, cell by cell.
	Verdicts checker.Result
	// Measures are speeds and latencies; see [Judged.Latency].
	Measures measure.Measures
	// History is the path of the record, empty when it is not kept.
	History string
	// Together has the paths of the histories of all machines, if exclusion was judged between them and they are kept.
	Together []string
	// Machines are the machines whose histories were joined, in the order of their shares; none for one
	// history.
	Machines []Machine
	// Within is the largest delay between an event and its judgement during the run, sampled every
	// few events; zero if the history was judged after the run. An operation in progress delays the
	// events after its call.
	Within time.Duration
	// Notes are remarks on the run that are not part of the history.
	Notes []string
	// Err is an error in the run or in reading its history, nil for none. It makes the run
	// inconclusive unless a claim is broken.
	Err error
}

// Latency returns a percentile of the durations of an operation in the measured part of the run.
// The operation is acquire, service, lag, refused, release, extend, handoff, hold, loss_notice or
// left_taken, as in JSON results; the percentile is above zero and at most 100. It returns false if
// none was measured, and for an unknown operation.
func (j *Judged) Latency(operation string, percentile float64) (time.Duration, bool) {
	for _, op := range measure.Ops() {
		if l := j.Measures.Measured.Latency(op); op.String() == operation && l.Count() > 0 {
			return l.At(percentile), true
		}
	}
	return 0, false
}

// GrantsPerSecond returns the rate of new holds in the measured part of the run, zero if that part
// is empty.
func (j *Judged) GrantsPerSecond() float64 { return j.Measures.GrantsPerSecond }

// SlowServer marks speeds that are the embedded server's, not the design's.
const SlowServer = "~"

// Speed formats a rate of grants on a server, per second.
func Speed(rate float64, on runinfo.Server) string {
	text := figures.Rate(rate)
	if on.Kind == "embedded" && text != "-" {
		text = SlowServer + text
	}
	return text
}

// Metrics returns the run as the data of metrics.
func (j *Judged) Metrics() *thresholds.Run {
	return &thresholds.Run{Design: j.Header.Design, Verdicts: &j.Verdicts, Measures: &j.Measures}
}

// Machine returns the figures of j as those of a machine, the number of whose share is known.
func (j *Judged) Machine() Machine {
	m := &j.Measures
	return Machine{
		Number: j.Header.Share.Index + 1, Grants: m.Measured.Grants, GrantsPerS: m.GrantsPerSecond,
		Acquire: latencyOf(m.Measured.Latency(measure.Acquire)), Breaches: j.Verdicts.Breaches,
	}
}

// newRun returns the run of a judged history, and keeps j.
func newRun(j *Judged) Run {
	h, v, m := &j.Header, &j.Verdicts, &j.Measures
	run := Run{
		RunSettings: RunSettings{
			Design: h.Design, Control: h.Control, Workload: h.Workload, Params: h.Params, Seed: h.Seed,
			Faults: h.Faults, Injected: j.End.Trailer.Faults, Started: h.Started, Stamps: h.Stamps, Machines: j.Machines,
		},
		RunFigures: RunFigures{
			MeasuredNS: int64(m.Span), Grants: m.Measured.Grants, GrantsPerS: m.GrantsPerSecond,
			Attempts: m.AttemptsPerGrant, Commands: m.CommandsPerGrant,
			Sent: cost(m.Sent), Received: cost(m.Received), ServerCPU: cost(m.ServerCPU),
			Latency: latencies(&m.Measured), Counts: counts(v, m), WorstOverlap: int64(v.WorstOverlap), Connections: m.Connections, Standstills: newStandstills(v.Standstills),
		},
		Claims: h.Claims, AssumedClaims: h.AssumedClaims, Cells: Cells{Cells: v.Cells()}, Breaches: v.Breaches, Fairness: newFairness(v.Fairness),
		OpenLoop: newOpenLoop(m.Arrivals), Business: m.Business, OverTime: overTime(m, h.WarmupNS, v.Findings), GrantsByClient: v.GrantsByClient,
		RunRecord: RunRecord{
			Partial: v.Partial, Why: v.Why, Ended: j.End.Trailer.Ended,
			JudgedWithin: int64(j.Within), Notes: j.Notes, Errors: newErrors(m.Errors), Defects: v.Defects, CrossChecked: v.CrossChecked,
			MonitorEntries: j.End.Trailer.MonitorEntries, History: j.History, Together: j.Together,
		},
		Exit:   v.Exit(),
		judged: j,
	}
	for _, n := range j.End.Trailer.MonitorOverlaps {
		run.MonitorOverlaps += n
	}
	if run.Params == nil {
		run.Params = map[string]any{}
	}
	if j.Err != nil {
		run.Error = j.Err.Error()
	}
	run.Share = h.Share.String()
	run.Exit = run.counted(run.Exit)
	run.compareOnly()
	return run
}

// counted returns the exit code of a run; exit is the code by its verdicts alone. A run that does
// not count, or that did not offer its load, cannot pass.
func (r *Run) counted(exit int) int {
	if unfit, _ := r.WhyInconclusive(); unfit != "" || r.OpenLoop != nil && !r.OpenLoop.KeptUp {
		return worst(exit, Inconclusive)
	}
	return exit
}

// newStandstills returns the standstills of a run, nil if there are none.
func newStandstills(s checker.Standstills) *Standstills {
	if s.Times == 0 {
		return nil
	}
	return &Standstills{Times: s.Times, TotalNS: int64(s.For), LongestNS: int64(s.Longest)}
}

// cost returns the value of c, nil if it is unknown.
func cost(c measure.Cost) *float64 {
	if !c.Known {
		return nil
	}
	return &c.PerGrant
}

func counts(v *checker.Result, m *measure.Measures) Counts {
	return Counts{
		Ops: v.Ops, Grants: v.Grants, Nested: m.Warmup.Nested + m.Measured.Nested,
		Refused: v.Refused, Unknown: v.Unknown, Failed: v.Failed, Lost: v.Lost,
		Unjudged: v.Unjudged, Stale: m.Stale, LostUpdates: m.LostUpdates,
	}
}

// latencies returns the latency of every operation, with a zero entry for one that never happened,
// so that readers need not check whether an entry exists.
func latencies(p *measure.Phase) map[string]Latency {
	out := make(map[string]Latency)
	for _, op := range measure.Ops() {
		one := latencyOf(p.Latency(op))
		one.Spectrum = newSpectrum(p.Latency(op))
		out[op.String()] = one
	}
	return out
}

// latencyOf returns the percentiles of l, without its spectrum.
func latencyOf(l *measure.Latency) Latency {
	return Latency{
		Count: l.Count(),
		P50:   int64(l.At(50)), P90: int64(l.At(90)), P99: int64(l.At(99)),
		P999: int64(l.At(99.9)), P9999: int64(l.At(99.99)), Max: int64(l.Max()),
		OutOfRange: l.OutOfRange,
	}
}

// Fairness measures how evenly a lock was granted to the clients.
type Fairness struct {
	// Jain is Jain's fairness index of the clients' grants, from 1/n for one of n clients with all
	// grants to 1 for equal shares; zero without grants.
	Jain float64 `json:"jain"`
	// Waits counts the acquires that waited. MaxWait is the longest wait, in ns.
	Waits   int64 `json:"waits"`
	MaxWait int64 `json:"max_wait_ns"`
	// MaxBypassed is the largest number of grants, during one wait, to acquires that were called
	// later.
	MaxBypassed int64 `json:"max_bypassed"`
}

func newFairness(f checker.Fairness) Fairness {
	return Fairness{Jain: f.Jain, Waits: f.Waits, MaxWait: int64(f.MaxWait), MaxBypassed: f.MaxBypassed}
}
