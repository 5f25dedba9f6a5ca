package runner

import (
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/results"
)

// A Result is the result of a plan.
type Result struct {
	// Runs are the judgements, in the order of the runs.
	Runs []Judged
	// NotRun are the labels of the subjects that were planned and not run.
	NotRun []string
	// SelfCheck says whether the lock that is broken on purpose was caught; nil if none was run.
	SelfCheck *SelfCheck

	conclude func(*results.Result) // nil if no conclusions were asked for
}

// Report converts the result for package reports, with conclusions if [Plan.Conclude] asks for
// them: Report().Runs[0].Conclusion.Word is the conclusion about the first run.
func (r *Result) Report() *results.Result {
	report := results.New(Found(r.Runs), r.NotRun)
	report.Prove(Checked(r.SelfCheck))
	if r.conclude != nil {
		r.conclude(&report)
	}
	return &report
}

// Exit is the exit code of lockbench run for the result.
func (r *Result) Exit() int { return r.Report().Exit }

// A Judged is the judgement of one history. Its methods may be called by several goroutines at once
// while nobody changes it.
type Judged struct {
	// Header is the header of the history: the design, its claims and its settings.
	Header history.Header
	// End is how the history ends, whole or cut short.
	End history.End
	// Verdicts are the checker's findings, cell by cell.
	Verdicts checker.Result
	// Measures are speeds and latencies; see [Judged.Latency].
	Measures measure.Measures
	// History is the path of the record, empty when it is not kept.
	History string
	// Within is the greatest age of an event when it had been judged during the run, sampled every
	// few events; zero if it was judged afterwards. An operation that is under way delays the
	// events after its call.
	Within time.Duration
	// Notes are remarks of the run about itself, beyond the history.
	Notes []string
	// Err is the error in the run or in reading its history, nil for none. It makes the run
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

// GrantsPerSecond is the rate of new holds in the measured part of the run, zero if that part is
// empty.
func (j *Judged) GrantsPerSecond() float64 { return j.Measures.GrantsPerSecond }

// Found converts judgements for other packages of this module.
func Found(runs []Judged) []results.Judged {
	found := make([]results.Judged, len(runs))
	for i, j := range runs {
		found[i] = results.Judged(j)
	}
	return found
}

// A SelfCheck is a run of a lock that is broken on purpose, under the settings of the other runs.
// If these settings do not expose it, they prove nothing about the other locks either.
type SelfCheck struct {
	Design string
	// MustBreak is the cell that it had to break; Caught reports whether the run exposed that.
	MustBreak lockbench.Cell
	Caught    bool
	// Grants and Overruns (work past the lease) count the occasions that it met.
	Grants   int64
	Overruns int64
	// Error is the error of the run, empty for none.
	Error string
	// Probes are further broken locks, one for each condition that the faults of the session
	// exercise and under which a guarantee was kept. They are run if the first lock was caught.
	Probes []Probe
}

// A Probe is a run of a lock that breaks a cell under the faults that bring the cell's condition.
type Probe struct {
	Design    string
	MustBreak lockbench.Cell
	Caught    bool
	// Exposure is the number of occasions under the condition.
	Exposure int64
	// Error is the error of the run, empty for none.
	Error string
}

// Checked converts a self-check for other packages of this module; nil stays nil.
func Checked(c *SelfCheck) *results.SelfCheck {
	if c == nil {
		return nil
	}
	report := &results.SelfCheck{
		Design: c.Design, MustBreak: c.MustBreak, Caught: c.Caught, Grants: c.Grants, Overruns: c.Overruns, Error: c.Error,
	}
	for _, p := range c.Probes {
		report.Probes = append(report.Probes, results.Probe(p))
	}
	return report
}
