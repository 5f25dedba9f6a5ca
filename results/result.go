package results

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// A Result holds everything that one invocation of lockbench found. [New] and [NewExploration] make
// one. Its JSON form is described by reports/schema/report-v4.json. It is not safe for concurrent
// use while it is changed.
type Result struct {
	// Thresholds are the thresholds that were judged, with their outcomes; see [Result.Gate].
	Thresholds []Threshold `json:"thresholds,omitempty"`
	// Acceptances are the acceptances of broken claims, with their states; see [Result.Accept].
	Acceptances []Acceptance `json:"acceptances,omitempty"`
	// Server and Environment are the first run's. Any other run has its own if they differ.
	Server      runinfo.Server      `json:"server"`
	Environment runinfo.Environment `json:"environment"`
	Runs        []Run               `json:"runs"`
	// NotRun names the designs that were requested and never started.
	NotRun []string `json:"not_run,omitempty"`
	// SelfCheck tells whether a lock that is broken on purpose was caught under the same settings;
	// nil if no broken lock can be caught under them.
	SelfCheck *SelfCheck `json:"self_check,omitempty"`
	// Recommendation is the lock recommended among those that were run, nil if there is none.
	Recommendation *Recommendation `json:"recommendation,omitempty"`
	// Exit is the exit code: [Passed], [BrokenClaim], [Inconclusive] or [FailedThreshold].
	Exit int `json:"exit"`
}

// New returns the Result of judged runs. It keeps runs, which must not be changed afterwards.
// notRun names designs that were requested and never started; they make the Result inconclusive.
func New(runs []Judged, notRun []string) Result {
	r := Result{Runs: make([]Run, 0, len(runs)), NotRun: notRun}
	for i := range runs {
		r.append(newRun(&runs[i]), &runs[i].Header)
	}
	r.Exit = r.total()
	return r
}

// Exit codes of a Result.
const (
	Passed          = 0 // every claim that was put to the test held
	BrokenClaim     = 1 // a claim was broken
	Inconclusive    = 3 // too little was tested to tell
	FailedThreshold = 4 // a threshold failed, and nothing worse happened
)

// weights orders exit codes by severity. A broken claim is the worst, since it has a
// counterexample. A threshold that failed in an inconclusive run proves nothing, so the open
// question outweighs it.
var weights = map[int]int{Passed: 0, FailedThreshold: 1, Inconclusive: 2, BrokenClaim: 3}

// worst returns the exit code of several runs together: a broken claim outweighs an inconclusive
// run, which outweighs a failed threshold, which outweighs success.
func worst(exits ...int) int {
	code := Passed
	for _, e := range exits {
		if weights[e] > weights[code] {
			code = e
		}
	}
	return code
}

// append adds a run with this header. The server and the environment of the first run become the
// ones of r; a later run keeps its own if they differ.
func (r *Result) append(run Run, h *history.Header) {
	if len(r.Runs) == 0 {
		r.Server, r.Environment = h.Server, h.Environment
	}
	if h.Server != r.Server {
		run.Server = &h.Server
	}
	if h.Environment != r.Environment {
		run.Environment = &h.Environment
	}
	r.Runs = append(r.Runs, run)
}

// A Run holds the settings, speed and findings of one design under one workload.
type Run struct {
	RunSettings
	RunFigures

	// Claims are the claims of the design, and Cells the findings of the run. Breaches counts every
	// failure of the lock once, however many guarantees it violates.
	Claims   lockbench.Claims `json:"claims"`
	Cells    Cells            `json:"cells"`
	Breaches int64            `json:"breaches"`
	// AssumedClaims reports that the history states no claims, and that Claims are the usual claims
	// of a lease lock on one server.
	AssumedClaims bool     `json:"assumed_claims,omitempty"`
	Fairness      Fairness `json:"fairness"`
	// OpenLoop describes the load of an open loop. It is nil in a closed loop, in which the
	// latencies "service" and "acquire" are equal, and for a history that was cut short.
	OpenLoop *OpenLoop `json:"open_loop,omitempty"`
	// Business counts the damage in the terms of the workload; nil if the workload counts nothing.
	Business *runinfo.Business `json:"business,omitempty"`
	// OverTime has the events of the run over time; nil if there were none, and in explorations.
	OverTime *OverTime `json:"over_time,omitempty"`
	// GrantsByClient are the numbers of grants of the clients in the whole run, in rising order. Of
	// more than 128 clients it has 128, evenly chosen, with the first and the last among them.
	GrantsByClient []int64 `json:"grants_by_client,omitempty"`

	RunRecord
	// Exploration is nil unless the design was explored. If it was, figures measured in real time
	// are zero, and Workload is the name of the scenario.
	Exploration *Exploration `json:"exploration,omitempty"`
	// Search and Known are findings on the design from other sources, nil if these were not
	// consulted. Conclusion is drawn from all findings; nil if the subject is not a lock of the
	// catalogue. Of several points of a lock only the first has them.
	Search     *Search                `json:"search,omitempty"`
	Known      *Known                 `json:"known,omitempty"`
	Conclusion *conclusion.Conclusion `json:"conclusion,omitempty"`
	// Exit is the exit code that this run alone would have.
	Exit int `json:"exit"`
	// Lacks reports whether the scenario was not explored because the design lacks an ability.
	Lacks bool `json:"-"`

	judged *Judged // the source of the run; nil if the run was read from a file
}

// RunSettings are the design, the workload and the server of a run. Params are the parameters of
// the workload; a name that ends in _ns is of a duration in ns. Seed determines the random choices
// of the run. Faults are the requested faults, in the form of lockbench run --fault.
type RunSettings struct {
	Design string `json:"design"`
	// Control names the control that was run in place of a lock, to compare locks with; empty for a
	// lock. A control never fails.
	Control  string         `json:"control,omitempty"`
	Workload string         `json:"workload"`
	Params   map[string]any `json:"params"`
	Seed     uint64         `json:"seed"`
	Faults   []string       `json:"faults,omitempty"`
	// Injected counts the occurrences of each fault, and the operations and holds that it affected.
	Injected []runinfo.FaultExposure `json:"injected,omitempty"`
	// Started is the wall-clock time of stamp zero, in the format of [time.RFC3339]; empty if
	// unknown.
	Started string `json:"started,omitempty"`
	// Stamps is [history.AdapterStamps] if the clock of an adapter timed the calls, else empty.
	Stamps string `json:"stamps,omitempty"`
	// Share is the part of a run that this is, such as 1/2, empty for a whole run. Machines are the
	// machines whose parts were joined, none for a run of one.
	Share    string    `json:"share,omitempty"`
	Machines []Machine `json:"machines,omitempty"`
	// Server and Environment are nil if they are the Result's.
	Server      *runinfo.Server      `json:"server,omitempty"`
	Environment *runinfo.Environment `json:"environment,omitempty"`
}

// A Machine has the figures of one machine of a run that several made. Number counts from 1. Grants, its
// rate and the durations of acquires are of the measured part.
type Machine struct {
	Number     int     `json:"number"`
	Name       string  `json:"name,omitempty"` // of its host; empty if it is unknown
	Grants     int64   `json:"grants"`
	GrantsPerS float64 `json:"grants_per_s"`
	Acquire    Latency `json:"acquire"`
	Breaches   int64   `json:"breaches"`
	// AheadNS is how much its wall clock was ahead of the coordinator's, in ns, and Busy the share of its
	// processors' time that was used, 0 to 1. Both are nil if unknown.
	AheadNS *int64   `json:"ahead_ns,omitempty"`
	Busy    *float64 `json:"busy,omitempty"`
}

// Saturated is the share of the processors' time from which on a machine limits its clients.
const Saturated = 0.9

// RunFigures are the speed of a run and its amount of work.
type RunFigures struct {
	// MeasuredNS is the duration of the measured part in ns, without the warm-up.
	MeasuredNS int64 `json:"measured_ns"`
	// Grants counts the new holds, and GrantsPerS is their rate per second. Attempts is the number
	// of tries of all acquires, granted or not, per grant. These and Latency, by operation, are of
	// the measured part. Counts is of the whole run, and so is Commands, the number of requests to
	// the server per grant. Attempts and Commands are zero if unknown.
	Grants     int64   `json:"grants"`
	GrantsPerS float64 `json:"grants_per_s"`
	Attempts   float64 `json:"attempts_per_grant"`
	Commands   float64 `json:"commands_per_grant"`
	// Sent, Received and ServerCPU are per grant, and nil (null in JSON) if unknown. The bytes are
	// of the whole run, the processor time of the measured part. WorstOverlap is the longest time,
	// in ns, that two owners held one key at once, within their validity or past it.
	Sent         *float64           `json:"sent_bytes_per_grant"`
	Received     *float64           `json:"received_bytes_per_grant"`
	ServerCPU    *float64           `json:"server_cpu_ns_per_grant"`
	Latency      map[string]Latency `json:"latency"`
	Counts       Counts             `json:"counts"`
	WorstOverlap int64              `json:"worst_overlap_ns"`
	// Connections is the largest number of connections to the servers that all clients but stallers
	// had open at once, in the whole run; zero if unknown.
	Connections int64 `json:"connections,omitempty"`
	// Standstills are the standstills of the run, nil if there were none.
	Standstills *Standstills `json:"standstills,omitempty"`
}

// Standstills sums up the times in which the process that drives the clients, or a server, stood
// still: their number, their total duration, and the longest. Overlapping standstills count once.
type Standstills struct {
	Times     int64 `json:"times"`
	TotalNS   int64 `json:"total_ns"`
	LongestNS int64 `json:"longest_ns"`
}

// A RunRecord describes the history of a run and its judgement.
type RunRecord struct {
	// Partial reports whether the history ends before the run did, and Why explains it.
	Partial bool   `json:"partial"`
	Why     string `json:"why,omitempty"`
	// Ended is the reason why the run ended. Error is the error that the run met, empty for none.
	Ended string `json:"ended,omitempty"`
	Error string `json:"error,omitempty"`
	// JudgedWithin is the largest delay, in ns, between an event and its judgement during the run;
	// zero if the history was judged after the run.
	JudgedWithin int64 `json:"judged_within_ns,omitempty"`
	// Notes are remarks on the run that are not part of the history.
	Notes []string `json:"notes,omitempty"`
	// Errors are the errors that operations met, the most frequent first.
	Errors []Error `json:"errors,omitempty"`
	// Defects are contradictions within lockbench itself. A run with one proves nothing.
	// CrossChecked counts the keys that a second checker, porcupine, judged as well.
	Defects      []string `json:"defects,omitempty"`
	CrossChecked int64    `json:"cross_checked"`
	// MonitorEntries counts the entries into critical sections that the occupancy monitor saw, and
	// MonitorOverlaps the entries while another client was inside, both within their validity.
	MonitorEntries  int64 `json:"monitor_entries"`
	MonitorOverlaps int64 `json:"monitor_overlaps"`
	// History is the path of the history, empty if it was not kept.
	History string `json:"history"`
	// Together has the paths of the histories of all machines, if exclusion was judged between them.
	Together []string `json:"together,omitempty"`
}

// A Latency is a distribution of Count durations: its percentiles and its maximum, in ns. P999 is
// the 99.9th percentile and P9999 the 99.99th.
type Latency struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50_ns"`
	P90   int64 `json:"p90_ns"`
	P99   int64 `json:"p99_ns"`
	P999  int64 `json:"p99_9_ns"`
	P9999 int64 `json:"p99_99_ns"`
	Max   int64 `json:"max_ns"`
	// OutOfRange counts the durations below zero or above six hours, which are not part of the
	// percentiles.
	OutOfRange int64 `json:"out_of_range"`
	// Spectrum is the whole distribution, nil if Count is zero.
	Spectrum *Spectrum `json:"spectrum,omitempty"`
}

// Counts are the numbers of operations of a whole run, by their outcome for the client. Ops counts
// all of them. Grants counts new holds, and Nested further acquires by an owner that held the key
// already. Refused counts refused operations. Unknown counts operations without an answer, Failed
// operations that certainly had no effect, and Lost operations answered that the lock is no longer
// held.
type Counts struct {
	Ops     int64 `json:"ops"`
	Grants  int64 `json:"grants"`
	Nested  int64 `json:"nested"`
	Refused int64 `json:"refused"`
	Unknown int64 `json:"unknown"`
	Failed  int64 `json:"failed"`
	Lost    int64 `json:"lost"`
	// Unjudged counts grants with an unknown start of validity.
	Unjudged int64 `json:"unjudged"`
	// Stale counts reads and writes that a guarded store refused.
	Stale int64 `json:"stale,omitempty"`
	// LostUpdates counts writes that replaced a write which their writer had not seen, whatever the
	// cause.
	LostUpdates int64 `json:"lost_updates,omitempty"`
}

// ServerOf returns the server that run used.
func (r *Result) ServerOf(run *Run) runinfo.Server {
	if run.Server != nil {
		return *run.Server
	}
	return r.Server
}

// EnvironmentOf returns the environment in which run was made.
func (r *Result) EnvironmentOf(run *Run) runinfo.Environment {
	if run.Environment != nil {
		return *run.Environment
	}
	return r.Environment
}

// ineffectiveFaults lists the faults of the run that affected no hold and no acquire, and so tested
// nothing.
func (r *Run) ineffectiveFaults() []runinfo.FaultExposure {
	var found []runinfo.FaultExposure
	for _, f := range r.Injected {
		if f.MetHeld+f.MetAcquire == 0 {
			found = append(found, f)
		}
	}
	return found
}

// Guard returns the name of the guard of the store, as in workloads.Options; empty for no guard.
func (r *Run) Guard() string {
	if g := Setting(r.Params, "guard"); g != string(lockbench.NoGuard) {
		return g
	}
	return ""
}
