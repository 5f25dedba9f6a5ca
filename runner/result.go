package runner

import (
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/results"
)

// A Result is what came of a plan.
type Result struct {
	// Runs are the judgements, in the order in which the runs were made.
	Runs []Judged
	// NotRun are the labels of what was to be run and was not.
	NotRun []string
	// SelfCheck says whether the lock that is broken on purpose was caught; nil where none was
	// run.
	SelfCheck *SelfCheck

	conclude func(*results.Result) // nil where no conclusions were asked for
}

// Report is the result as package reports writes it, with conclusions where [Plan.Conclude] asks
// for them: Report().Runs[0].Conclusion.Word is that of the first run.
func (r *Result) Report() *results.Result {
	report := results.New(Found(r.Runs), r.NotRun)
	report.Prove(Checked(r.SelfCheck))
	if r.conclude != nil {
		r.conclude(&report)
	}
	return &report
}

// Exit is the exit code that lockbench run has for the result.
func (r *Result) Exit() int { return r.Report().Exit }

// A Judged is one history with what was found in it. Its methods may be called by several
// goroutines at once while nobody changes it.
type Judged struct {
	// Header is that of the history: the design, its claims and its settings.
	Header history.Header
	// End is how the history ends, whole or cut short.
	End history.End
	// Verdicts are what the checker found, cell by cell.
	Verdicts checker.Result
	// Measures are speeds and latencies; see [Judged.Latency].
	Measures measure.Measures
	// History is the path of the record, empty when it is not kept.
	History string
	// Within is how old an event was at most when it had been judged while the run went
	// on, looked at every few; zero when it was judged later. What is under way holds back
	// what came after its call.
	Within time.Duration
	// Notes are what the run said of itself, beyond the record.
	Notes []string
	// Err is what went wrong in the run or in reading its record, nil for
	// nothing. It makes the run inconclusive unless a claim is broken.
	Err error
}

// Latency is the time that a share of the operations of a kind took at most, in the measured
// part of the run. The operation is acquire, service, lag, refused, release, extend, handoff,
// hold, loss_notice or left_taken, as in JSON results; the percentile is above zero and at most 100. It returns false
// where none was measured, and for an unknown operation.
func (j *Judged) Latency(operation string, percentile float64) (time.Duration, bool) {
	for _, op := range measure.Ops() {
		if l := j.Measures.Measured.Latency(op); op.String() == operation && l.Count() > 0 {
			return l.At(percentile), true
		}
	}
	return 0, false
}

// GrantsPerSecond is the rate of new holds in the measured part of the run, zero where that
// had no length.
func (j *Judged) GrantsPerSecond() float64 { return j.Measures.GrantsPerSecond }

// Found are judgements as other packages of this module take them.
func Found(runs []Judged) []results.Judged {
	found := make([]results.Judged, len(runs))
	for i, j := range runs {
		found[i] = results.Judged(j)
	}
	return found
}

// A SelfCheck is a run of a lock that is broken on purpose, under the settings of the
// others: unless these show that it is broken, they show nothing of the others either.
type SelfCheck struct {
	Design string
	// MustBreak is what it had to break, and Caught whether it was seen to.
	MustBreak lockbench.Cell
	Caught    bool
	// Grants and Overruns (work past the lease) are what it met.
	Grants   int64
	Overruns int64
	// Error is what went wrong in it, empty for nothing.
	Error string
	// Probes are further broken locks, one for each condition that the faults of the session
	// exercise and under which something was held. They are run when this one was caught.
	Probes []Probe
}

// A Probe is a run of a lock that breaks a cell under the faults that bring the condition of
// this cell.
type Probe struct {
	Design    string
	MustBreak lockbench.Cell
	Caught    bool
	// Exposure is how many occasions it met under the condition.
	Exposure int64
	// Error is what went wrong in it, empty for nothing.
	Error string
}

// Checked is a self-check as other packages of this module take it; nil for none.
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
