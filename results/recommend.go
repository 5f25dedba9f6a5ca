package results

import (
	"cmp"
	"fmt"
	"math"

	"github.com/lockbench/lockbench/internal/evidence/conclusion"
)

// A Recommendation is the lock recommended for a workload: the fastest of the safest. Design is its
// name, with its guard if it has one, and Word its conclusion.
type Recommendation struct {
	Design string          `json:"design"`
	Word   conclusion.Word `json:"word"`
	// Price states by how much the lock is slower than the fastest one, and the reason against that
	// one; empty if no other lock is clearly faster.
	Price string `json:"price,omitempty"`
}

// Of reports whether run is of the recommended lock. It returns false for nil.
func (r *Recommendation) Of(run *Run) bool { return r != nil && r.Design == Label{}.Of(run) }

// asFast is the ratio of speeds from which on a lock counts as fast as another. One run of each
// cannot tell smaller differences.
const asFast = 0.9

// A candidate is one of the locks from which one is recommended.
type candidate struct {
	*conclusion.Conclusion
	name string
	// rate is the geometric mean over the points of the lock, in grants per second.
	rate     float64
	breaches int64
}

// recommend returns the recommended lock, nil if there are fewer than two candidates or none can be
// used.
func (r *Result) recommend() *Recommendation {
	var fastest, safest *candidate // safest is the fastest of the locks that are equally safe
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

// candidates returns the locks with a conclusion and a speed. It leaves out a lock that ran at
// fewer points than others, since speeds compare only at the same points.
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

// saferThan reports whether r is safer than other, or as safe and faster.
func (r *candidate) saferThan(other *candidate) bool {
	if mine, theirs := r.Rank(), other.Rank(); mine != theirs {
		return mine > theirs
	}
	return r.rate > other.rate
}

// betterSeen reports whether r had fewer breaches in its runs than other or, with as many, has
// fewer open questions in its conclusion.
func (r *candidate) betterSeen(other *candidate) bool {
	return cmp.Or(cmp.Compare(r.breaches, other.breaches), cmp.Compare(len(r.Open), len(other.Open))) < 0
}
