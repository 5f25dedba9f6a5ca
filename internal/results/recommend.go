package results

import (
	"cmp"
	"fmt"
	"math"

	"github.com/lockbench/lockbench/internal/conclusion"
)

// A Recommendation is the lock to take for a workload: the fastest among the safest.
type Recommendation struct {
	Design string          `json:"design"`
	Word   conclusion.Word `json:"word"`
	// Price is the cost of its safety, in a few words; empty where none is faster, as far as one run
	// of each can tell.
	Price string `json:"price,omitempty"`
}

// Of reports whether a run is of the lock to take; nil is of none.
func (r *Recommendation) Of(run *Run) bool { return r != nil && r.Design == Label{}.Of(run) }

// asFast is how much of the speed of another a lock must have to be as fast, as far as one run of each can tell.
const asFast = 0.9

// A rival is one of the locks of which one is recommended.
type candidate struct {
	*conclusion.Conclusion
	name string
	// rate is in grants per second, the geometric mean of the points.
	rate     float64
	breaches int64
}

// recommend is nil where there is no choice, and where none of the locks can be used.
func (r *Result) recommend() *Recommendation {
	var fastest, safest *candidate // and the fastest of those as safe
	var usable []*candidate
	rivals := r.candidates()
	for i := range rivals {
		lock := &rivals[i]
		if fastest == nil || lock.rate > fastest.rate {
			fastest = lock
		}
		if lock.Recommended() {
			usable = append(usable, lock)
			if safest == nil || lock.saferThan(safest) {
				safest = lock
			}
		}
	}
	if len(rivals) < 2 || safest == nil {
		return nil
	}
	take := safest
	for _, lock := range usable {
		if lock.Rank() == safest.Rank() && lock.rate >= asFast*safest.rate && lock.betterSeen(take) {
			take = lock
		}
	}
	found := &Recommendation{Design: take.name, Word: take.Word}
	if take.rate < asFast*fastest.rate {
		slower := 100 * (1 - take.rate/fastest.rate)
		found.Price = fmt.Sprintf("%.0f %% slower than %s, where %s", slower, fastest.name, fastest.Why)
	}
	return found
}

// candidates are the locks with a conclusion and a speed. Speeds compare only between locks that ran at
// the same points, so one that missed some is left out.
func (r *Result) candidates() (all []candidate) {
	locks := r.Locks()
	most := 0
	for _, points := range locks {
		most = max(most, len(points))
	}
	for _, points := range locks {
		first := &r.Runs[points[0]]
		if first.Conclusion == nil || len(points) < most {
			continue
		}
		lock := candidate{Conclusion: first.Conclusion, name: Label{}.Of(first), rate: 1}
		for _, i := range points {
			lock.rate *= math.Pow(r.Runs[i].GrantsPerS, 1/float64(len(points)))
			lock.breaches += r.Runs[i].Breaches
		}
		if lock.rate > 0 {
			all = append(all, lock)
		}
	}
	return all
}

// saferThan: safer, or as safe and faster.
func (r *candidate) saferThan(other *candidate) bool {
	if mine, theirs := r.Rank(), other.Rank(); mine != theirs {
		return mine > theirs
	}
	return r.rate > other.rate
}

// betterSeen: less was broken in its runs, or as little, and less is left that was tried too little.
func (r *candidate) betterSeen(other *candidate) bool {
	return cmp.Or(cmp.Compare(r.breaches, other.breaches), cmp.Compare(len(r.Open), len(other.Open))) < 0
}
