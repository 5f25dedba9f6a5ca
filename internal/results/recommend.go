package results

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/conclusion"
)

// A Recommendation is the lock to take for a workload: the fastest among the safest.
type Recommendation struct {
	Design string          `json:"design"`
	Word   conclusion.Word `json:"word"`
	// Price is what its safety costs, in a few words; empty where it is the fastest.
	Price string `json:"price,omitempty"`
}

// recommend is nil where there is no choice, and where none of the locks can be used.
func (r *Result) recommend() *Recommendation {
	var safest, fastest *Run
	rivals := 0
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Conclusion == nil || run.GrantsPerS == 0 {
			continue
		}
		rivals++
		if fastest == nil || run.GrantsPerS > fastest.GrantsPerS {
			fastest = run
		}
		if run.Conclusion.Recommended() && (safest == nil || run.saferThan(safest)) {
			safest = run
		}
	}
	if rivals < 2 || safest == nil {
		return nil
	}
	found := &Recommendation{Design: Label{}.Of(safest), Word: safest.Conclusion.Word}
	if fastest != safest {
		slower := 100 * (1 - safest.GrantsPerS/fastest.GrantsPerS)
		found.Price = fmt.Sprintf("%.0f %% slower than %s, where %s", slower, Label{}.Of(fastest), fastest.Conclusion.Why)
	}
	return found
}

// saferThan: safer, or as safe and faster.
func (r *Run) saferThan(other *Run) bool {
	if mine, theirs := r.Conclusion.Rank(), other.Conclusion.Rank(); mine != theirs {
		return mine > theirs
	}
	return r.GrantsPerS > other.GrantsPerS
}
