package results

import (
	"cmp"
	"fmt"

	"github.com/lockbench/lockbench/internal/conclusion"
)

// A Recommendation is the lock to take for a workload: the fastest among the safest.
type Recommendation struct {
	Design string          `json:"design"`
	Word   conclusion.Word `json:"word"`
	// Price is what its safety costs, in a few words; empty where none is faster, as far as one run
	// of each can tell.
	Price string `json:"price,omitempty"`
}

// Of reports whether a run is of the lock to take; nil is of none.
func (r *Recommendation) Of(run *Run) bool { return r != nil && r.Design == Label{}.Of(run) }

// asFast is how much of the speed of another a lock must have to be as fast, as far as one run of each can tell.
const asFast = 0.9

// recommend is nil where there is no choice, and where none of the locks can be used.
func (r *Result) recommend() *Recommendation {
	var fastest, safest *Run // and the fastest of those as safe
	var usable []*Run
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
		if run.Conclusion.Recommended() {
			usable = append(usable, run)
			if safest == nil || run.saferThan(safest) {
				safest = run
			}
		}
	}
	if rivals < 2 || safest == nil {
		return nil
	}
	take := safest
	for _, run := range usable {
		if run.Conclusion.Rank() == safest.Conclusion.Rank() && run.GrantsPerS >= asFast*safest.GrantsPerS && run.betterSeen(take) {
			take = run
		}
	}
	found := &Recommendation{Design: Label{}.Of(take), Word: take.Conclusion.Word}
	if take.GrantsPerS < asFast*fastest.GrantsPerS {
		slower := 100 * (1 - take.GrantsPerS/fastest.GrantsPerS)
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

// betterSeen: less was broken in the run, or as little, and less is left that was tried too little.
func (r *Run) betterSeen(other *Run) bool {
	return cmp.Or(cmp.Compare(r.Breaches, other.Breaches), cmp.Compare(len(r.Conclusion.Open), len(other.Conclusion.Open))) < 0
}
