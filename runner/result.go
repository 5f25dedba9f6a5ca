package runner

import (
	"github.com/lockbench/lockbench/internal/results"
)

// A Result is what came of a plan.
type Result struct {
	// Runs are the judgements, in the order in which the runs were made.
	Runs []results.Judged
	// NotRun are the labels of what was to be run and was not.
	NotRun []string
	// SelfCheck says whether the lock that is broken on purpose was caught; nil where none was
	// run.
	SelfCheck *results.SelfCheck
}

// Report is the result as package reports shows it.
func (r *Result) Report() *results.Result {
	report := results.New(r.Runs, r.NotRun)
	report.Prove(r.SelfCheck)
	return &report
}

// Exit is the exit code that lockbench run has for the result.
func (r *Result) Exit() int { return r.Report().Exit }
