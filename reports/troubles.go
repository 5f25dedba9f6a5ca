package reports

import "fmt"

// muchUnanswered is the share of operations without an answer from which on it is said, of
// a run in which no fault was injected.
const muchUnanswered = 0.01

// unanswered says which share of the operations of a run failed or had no answer, where
// nothing was injected that explains it; empty for little. What a guarded store turned away
// was answered.
func (r *Run) unanswered() string {
	n := r.Counts.Failed - r.Counts.Stale + r.Counts.Unknown
	if len(r.Faults)+len(r.Injected) > 0 || r.Exploration != nil || float64(n) <= muchUnanswered*float64(r.Counts.Ops) {
		return ""
	}
	return fmt.Sprintf("%s of %s failed or had no answer, and no fault was injected", number(n), plural(r.Counts.Ops, "operation"))
}
