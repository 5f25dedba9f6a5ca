package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/figures"
)

const (
	// muchUnanswered is the share of operations without an answer from which on it is said.
	muchUnanswered = 0.01
	// mostUnanswered is the share up to which a run still counts.
	mostUnanswered = 0.05
)

// WhyInconclusive returns the reason why a run that broke nothing cannot pass, as a predicate in
// brief ("met an error") and in full. Both are empty if it can. It is the one rule of that.
func (r *Run) WhyInconclusive() (brief, full string) {
	switch {
	case r.Lacks:
		return "", ""
	case len(r.Defects) > 0:
		return "met a defect of lockbench", "a defect of lockbench: " + strings.Join(r.Defects, "; ")
	case r.Error != "":
		return "met an error", r.Error
	case r.Partial:
		return "left a partial record", "the record is partial: " + r.Why
	case r.refusedOperation() != "":
		return "had the server refuse " + r.refusedOperation(), "the server refused " + r.refusedOperation()
	case r.serverProblem() != "":
		return "got too few answers: " + r.serverProblem(), r.serverProblem()
	case r.Ended == EndedByUser:
		return "was interrupted", "it was interrupted before its plan was done"
	case r.unmeasured():
		return "was never granted a lock", "no lock was granted"
	case len(r.ineffectiveFaults()) > 0:
		kind := r.ineffectiveFaults()[0].Kind
		return "met no lock with fault " + kind, "fault " + kind + " met no lock"
	}
	return "", ""
}

// serverProblem says which operations the server refused or did not answer, if there were more than a
// run that counts may have; else it is empty.
func (r *Run) serverProblem() string {
	switch refused := r.refusedOperation(); {
	case refused != "":
		return "the server refused " + refused
	case r.unanswered() > mostUnanswered:
		return r.Unanswered()
	}
	return ""
}

// ServerProblem is the serverProblem of a run that has no other form yet, as a trial of a limit.
func ServerProblem(j *Judged) string {
	run := newRun(j)
	return run.serverProblem()
}

// unanswered is the share of operations that failed or had no answer, of a run in real time in which
// nothing was injected that explains it. What a guarded store turned away was answered. Histories of
// other programs, which need not tell their faults, seldom tell when they started.
func (r *Run) unanswered() float64 {
	explained := len(r.Faults)+len(r.Injected) > 0 || r.Exploration != nil || r.Started == ""
	if explained || r.Counts.Ops == 0 {
		return 0
	}
	return float64(r.Counts.Failed-r.Counts.Stale+r.Counts.Unknown) / float64(r.Counts.Ops)
}

// Unanswered says how many operations of a run failed or had no answer, where nothing was
// injected that explains it, and what the first of the most frequent error said; empty for few.
func (r *Run) Unanswered() string {
	if r.unanswered() <= muchUnanswered {
		return ""
	}
	text := fmt.Sprintf("%s of %s failed or had no answer, and no fault was injected",
		figures.Number(r.Counts.Failed-r.Counts.Stale+r.Counts.Unknown), figures.Plural(r.Counts.Ops, "operation"))
	if at := slices.IndexFunc(r.Errors, func(e Error) bool { return !e.Injected() }); at >= 0 {
		text += ": " + r.Errors[at].words()
	}
	return text
}
