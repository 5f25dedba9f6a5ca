package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
)

const (
	// muchUnanswered is the share of operations without an answer above which reports mention it.
	muchUnanswered = 0.01
	// mostUnanswered is the largest share of operations without an answer in a run that counts.
	mostUnanswered = 0.05
)

// WhyInconclusive returns the reason why the run is inconclusive if it broke no claim, as a short
// predicate ("met an error") and in full. Both are empty if there is none. Comparisons, matrices
// and limits all use this rule.
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
	case r.nothingClaimedWasMet():
		return "met nothing under conditions that it claims", "no lock of another machine was met under conditions that it claims; hint: fewer kinds of faults, or a longer run"
	case len(r.ineffectiveFaults()) > 0:
		kind := r.ineffectiveFaults()[0].Kind
		return "met no lock with fault " + kind, "fault " + kind + " met no lock"
	}
	return "", ""
}

// nothingClaimedWasMet reports whether a run on keys that several machines use shows nothing of its claims. There a
// condition touches much that comes after it, so that no occasion may be left that counts.
func (r *Run) nothingClaimedWasMet() bool {
	shared, _ := r.Params["shared_keys"].(bool)
	if !shared || r.Share != "" || !slices.Contains(r.Claims.Keeps, lockbench.Exclusion) || len(r.Cells.Against()) > 0 {
		return false
	}
	met := r.Cells.Names(func(cell lockbench.Cell, f checker.Finding) bool {
		ofOwners := cell.Guarantee == lockbench.Exclusion || cell.Guarantee == lockbench.OwnerRelease
		return ofOwners && f.Claimed && f.Verdict == checker.Held
	})
	return len(met) == 0
}

// serverProblem returns a sentence on the operations that the server refused or did not answer, if
// there were too many for a run that counts; else it returns "".
func (r *Run) serverProblem() string {
	switch refused := r.refusedOperation(); {
	case refused != "":
		return "the server refused " + refused
	case r.unanswered() > mostUnanswered:
		return r.Unanswered()
	}
	return ""
}

// ServerProblem returns a sentence on the operations that the server refused or did not answer in
// the judged run, if there were too many for the run to count; else it returns "".
func ServerProblem(j *Judged) string {
	run := newRun(j)
	return run.serverProblem()
}

// unanswered returns the share, 0 to 1, of operations that failed or had no answer. Refusals by a
// guarded store are answers. The share is zero if an injected fault may explain it, and for
// explorations. It is zero as well for a history without a starting time: most come from other
// programs, which may not have recorded their faults.
func (r *Run) unanswered() float64 {
	explained := len(r.Faults)+len(r.Injected) > 0 || r.Exploration != nil || r.Started == ""
	if explained || r.Counts.Ops == 0 {
		return 0
	}
	return float64(r.Counts.Failed-r.Counts.Stale+r.Counts.Unknown) / float64(r.Counts.Ops)
}

// Unanswered returns a sentence on the operations of the run that failed or had no answer without
// an injected fault, with the first message of the most frequent error. It is empty if they are 1%
// or less.
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
