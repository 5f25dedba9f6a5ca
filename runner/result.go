package runner

import "github.com/lockbench/lockbench/results"

// A Result is the result of a plan. It is not safe for concurrent use while [Run] works.
type Result struct {
	// Runs are the judgements, in the order of the runs.
	Runs []results.Judged
	// NotRun are the labels of the subjects that were planned and not run.
	NotRun []string
	// SelfCheck is the outcome of the self-check; nil if none was run.
	SelfCheck *results.SelfCheck

	conclude func(*results.Result) // nil if no conclusions were asked for
}

// Report converts the result for package reports, with conclusions if [Plan.Conclude] asks for
// them: Report().Runs[0].Conclusion.Word is the conclusion about the first run.
func (r *Result) Report() *results.Result {
	report := results.New(r.Runs, r.NotRun)
	report.Prove(r.SelfCheck)
	if r.conclude != nil {
		r.conclude(&report)
	}
	return &report
}

// Exit returns the exit code of lockbench run for the result: 0 if every tested claim held, 1 if a
// claim was broken, 3 if the runs are inconclusive.
func (r *Result) Exit() int { return r.Report().Exit }
