package results

import (
	"strings"

	"github.com/lockbench/lockbench/internal/thresholds"
)

// UndecidedInRun reports whether a reading says what kept the threshold undecided.
func (th *Threshold) UndecidedInRun() bool {
	for _, r := range th.Readings {
		if r.Outcome == thresholds.Inconclusive {
			return true
		}
	}
	return false
}

// Unfit says why the run could not be judged, as what it did, in brief, and in full; empty
// if it could.
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
	case r.unmeasured():
		return "was never granted a lock", "no lock was granted"
	case len(r.unmet()) > 0:
		kind := r.unmet()[0].Kind
		return "met no lock with fault " + kind, "fault " + kind + " met no lock"
	}
	return "", ""
}
