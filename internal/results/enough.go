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

// Unfit is the one rule of what a run must have done so that it can pass: it says why this one
// shows too little, as what it did, in brief, and in full; both are empty if it shows enough. A
// run that broke a claim fails all the same.
func (r *Run) Unfit() (brief, full string) {
	switch {
	case r.Lacks:
		return "", ""
	case len(r.Defects) > 0:
		return "met a defect of lockbench", "a defect of lockbench: " + strings.Join(r.Defects, "; ")
	case r.Error != "":
		return "met an error", r.Error
	case r.Partial:
		return "left a partial record", "the record is partial: " + r.Why
	case r.turnedAway() != "":
		return "had the server refuse " + r.turnedAway(), "the server refused " + r.turnedAway()
	case r.notServed() != "":
		return "got too few answers: " + r.notServed(), r.notServed()
	case r.Ended == EndedByUser:
		return "was interrupted", "it was interrupted before its plan was done"
	case r.unmeasured():
		return "was never granted a lock", "no lock was granted"
	case len(r.unmet()) > 0:
		kind := r.unmet()[0].Kind
		return "met no lock with fault " + kind, "fault " + kind + " met no lock"
	}
	return "", ""
}

// notServed says what the server left undone more often than a run that counts may meet; empty
// for nothing.
func (r *Run) notServed() string {
	switch refused := r.turnedAway(); {
	case refused != "":
		return "the server refused " + refused
	case r.unanswered() > mostUnanswered:
		return r.Unanswered()
	}
	return ""
}

// NotServed says what the server left undone in a run that therefore says nothing of the lock;
// empty for nothing.
func NotServed(j *Judged) string {
	run := newRun(j)
	return run.notServed()
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
		text += ": " + r.Errors[at].said()
	}
	return text
}
