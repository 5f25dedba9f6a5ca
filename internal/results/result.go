package results

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/conclusion"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// A Result is everything one invocation found out. Its JSON form is described by
// reports/schema/report-v4.json.
type Result struct {
	// Thresholds are the conditions that were to fail it, with what they came to.
	Thresholds []Threshold `json:"thresholds,omitempty"`
	// Acceptances are the broken claims that were to fail nothing, with what came of each.
	Acceptances []Acceptance `json:"acceptances,omitempty"`
	// Server and Environment are those of the first run; a run has its own
	// where it differs.
	Server      runinfo.Server      `json:"server"`
	Environment runinfo.Environment `json:"environment"`
	Runs        []Run               `json:"runs"`
	// NotRun names the designs that were asked for and never started.
	NotRun []string `json:"not_run,omitempty"`
	// SelfCheck says whether a lock that is broken on purpose was caught under the same
	// settings; nil where these could show no broken lock.
	SelfCheck *SelfCheck `json:"self_check,omitempty"`
	// Recommendation is the lock to take among those that were run, nil where that cannot be
	// said.
	Recommendation *Recommendation `json:"recommendation,omitempty"`
	// Exit is the exit code: 0, 1, 3 or 4.
	Exit int `json:"exit"`
}

// A Run is one design under one workload: its speed and its verdicts.
type Run struct {
	RunSettings
	RunFigures

	// Claims are the claims of the design, Cells the findings. Breaches counts each violation
	// once, however many guarantees it shows on.
	Claims   lockbench.Claims `json:"claims"`
	Cells    Cells            `json:"cells"`
	Breaches int64            `json:"breaches"`
	Fairness Fairness         `json:"fairness"`
	// OpenLoop is nil in a closed loop, where Latency has service equal to acquire, and
	// in a record that was cut short.
	OpenLoop *OpenLoop `json:"open_loop,omitempty"`
	// Business are the consequences in the words of the workload; nil where that counts
	// nothing.
	Business *runinfo.Business `json:"business,omitempty"`
	// OverTime is nil when nothing happened, and in explorations.
	OverTime *OverTime `json:"over_time,omitempty"`
	// GrantsByClient are the grants of each client of the whole run, rising; of more
	// than 128 clients as many, evenly chosen, the first and the last among them.
	GrantsByClient []int64 `json:"grants_by_client,omitempty"`

	RunRecord
	// Exploration is nil unless the design was explored; then what is measured in
	// real time is zero, and Workload is the scenario.
	Exploration *Exploration `json:"exploration,omitempty"`
	// Search and Known are findings on the design from other sources: nil where nobody
	// looked. Conclusion is drawn from all of it, nil for what is no lock of the catalogue.
	// Of the points of a lock the first has them.
	Search     *Search                `json:"search,omitempty"`
	Known      *Known                 `json:"known,omitempty"`
	Conclusion *conclusion.Conclusion `json:"conclusion,omitempty"`
	// Exit is the exit code that this run alone would have.
	Exit int `json:"exit"`
	// Lacks: the design has not the ability that the scenario needs.
	Lacks bool `json:"-"`

	judged *Judged // that the run was made of; nil if it was read from a file
}

// RunSettings are the design, its workload and the server of a run.
type RunSettings struct {
	Design string `json:"design"`
	// Control: it is no lock but a control to compare locks with, and which. It decides no exit
	// code.
	Control  string         `json:"control,omitempty"`
	Workload string         `json:"workload"`
	Params   map[string]any `json:"params"`
	Seed     uint64         `json:"seed"`
	Faults   []string       `json:"faults,omitempty"`
	// Injected is how often each fault occurred, and what it met.
	Injected []runinfo.FaultExposure `json:"injected,omitempty"`
	// Started is the wall-clock time of stamp zero, RFC 3339.
	Started string `json:"started,omitempty"`
	// Server and Environment are nil when they are those of the Result.
	Server      *runinfo.Server      `json:"server,omitempty"`
	Environment *runinfo.Environment `json:"environment,omitempty"`
}

// RunFigures are how fast a run was, and how much it did.
type RunFigures struct {
	// MeasuredNS is how long the measured part was, the warm-up left out.
	MeasuredNS int64 `json:"measured_ns"`
	// Grants are those of the measured part, as are the rate, the latencies and
	// the attempts; Counts and the commands are of the whole run.
	Grants     int64   `json:"grants"`
	GrantsPerS float64 `json:"grants_per_s"`
	Attempts   float64 `json:"attempts_per_grant"`
	Commands   float64 `json:"commands_per_grant"`
	// Sent, Received and ServerCPU are nil, null in JSON, where they are not known. The
	// bytes are of the whole run, the processor time of the measured part.
	Sent         *float64           `json:"sent_bytes_per_grant"`
	Received     *float64           `json:"received_bytes_per_grant"`
	ServerCPU    *float64           `json:"server_cpu_ns_per_grant"`
	Latency      map[string]Latency `json:"latency"`
	Counts       Counts             `json:"counts"`
	WorstOverlap int64              `json:"worst_overlap_ns"`
	// Standstills are the times in which nobody could do anything, nil for none.
	Standstills *Standstills `json:"standstills,omitempty"`
}

// Standstills are times in which the process that drives the clients, or a server, stood still. Those
// that overlap count once.
type Standstills struct {
	Times     int64 `json:"times"`
	TotalNS   int64 `json:"total_ns"`
	LongestNS int64 `json:"longest_ns"`
}

// A RunRecord describes the record of a run, and the course of the run.
type RunRecord struct {
	// Partial: the record stops before the run did, Why says how.
	Partial bool   `json:"partial"`
	Why     string `json:"why,omitempty"`
	// Ended says why the run ended; Error what went wrong in it.
	Ended string `json:"ended,omitempty"`
	Error string `json:"error,omitempty"`
	// JudgedWithin is how old an event was at most, in ns, when it had been judged while
	// the run went on; absent when the run was over by then.
	JudgedWithin int64 `json:"judged_within_ns,omitempty"`
	// Notes are remarks of the run about itself.
	Notes []string `json:"notes,omitempty"`
	// Errors are those that operations met, the most frequent first.
	Errors []Error `json:"errors,omitempty"`
	// Defects are lockbench's own contradictions: such a run proves nothing.
	Defects      []string `json:"defects,omitempty"`
	CrossChecked int64    `json:"cross_checked"`
	// MonitorEntries and MonitorOverlaps are the counts of the occupancy monitor.
	MonitorEntries  int64 `json:"monitor_entries"`
	MonitorOverlaps int64 `json:"monitor_overlaps"`
	// History is the path of the record, empty when it was not kept.
	History string `json:"history"`
}

// Latency is a distribution of durations, in ns.
type Latency struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50_ns"`
	P90   int64 `json:"p90_ns"`
	P99   int64 `json:"p99_ns"`
	P999  int64 `json:"p99_9_ns"`
	P9999 int64 `json:"p99_99_ns"`
	Max   int64 `json:"max_ns"`
	// OutOfRange counts durations that are in no percentile (package measure).
	OutOfRange int64 `json:"out_of_range"`
	// Spectrum is the whole distribution, nil when Count is zero.
	Spectrum *Spectrum `json:"spectrum,omitempty"`
}

// Counts are the operations of a whole run, by what clients were told.
type Counts struct {
	Ops     int64 `json:"ops"`
	Grants  int64 `json:"grants"`
	Nested  int64 `json:"nested"`
	Refused int64 `json:"refused"`
	Unknown int64 `json:"unknown"`
	Failed  int64 `json:"failed"`
	Lost    int64 `json:"lost"`
	// Unjudged are grants without a known start of validity.
	Unjudged int64 `json:"unjudged"`
	// Stale are reads and writes that a guarded store refused.
	Stale int64 `json:"stale,omitempty"`
	// LostUpdates are writes that replaced another's that their writer had not seen,
	// whatever the cause.
	LostUpdates int64 `json:"lost_updates,omitempty"`
}

// ServerOf is the server that run used.
func (r *Result) ServerOf(run *Run) runinfo.Server {
	if run.Server != nil {
		return *run.Server
	}
	return r.Server
}

// EnvironmentOf is where run was made.
func (r *Result) EnvironmentOf(run *Run) runinfo.Environment {
	if run.Environment != nil {
		return *run.Environment
	}
	return r.Environment
}

// ineffectiveFaults lists the faults of the run that met nobody who held or acquired a lock:
// what they put to the test was not put to it.
func (r *Run) ineffectiveFaults() []runinfo.FaultExposure {
	var found []runinfo.FaultExposure
	for _, f := range r.Injected {
		if f.MetHeld+f.MetAcquire == 0 {
			found = append(found, f)
		}
	}
	return found
}

// Guard is how the store of the run protected itself, empty for not at all. Its name is
// that of the field of workloads.Options.
func (r *Run) Guard() string {
	if g := Setting(r.Params, "guard"); g != string(lockbench.NoGuard) {
		return g
	}
	return ""
}
