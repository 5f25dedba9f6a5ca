package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lockbench/lockbench/internal/evidence/conclusion"
)

// A Recommendation is the recommended lock, the first by [conclusion.SortRivals]. Design is its
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

// A candidate is a lock that may be recommended.
type candidate struct {
	conclusion.Rival
	name string
}

// recommend returns the recommended lock, nil if there are fewer than two candidates or none can be
// used. tried reports, of the first run of a lock, whether enough was tried.
func (r *Result) recommend(tried func(*Run) bool) *Recommendation {
	rivals := r.candidates(tried)
	if len(rivals) < 2 {
		return nil
	}
	fastest := slices.MaxFunc(rivals, func(a, b candidate) int { return cmp.Compare(a.Rate, b.Rate) })
	conclusion.SortRivals(rivals, func(c *candidate) conclusion.Rival { return c.Rival })
	take := rivals[0]
	if !take.Recommended() {
		return nil
	}
	found := &Recommendation{Design: take.name, Word: take.Word}
	if take.Rate < conclusion.AsFast*fastest.Rate {
		slower := 100 * (1 - take.Rate/fastest.Rate)
		found.Price = fmt.Sprintf("%.0f %% slower than %s, where %s", slower, fastest.name, fastest.Why)
	}
	return found
}

// candidates returns the locks with a conclusion and a speed. It leaves out a lock that ran at
// fewer points than others, since speeds compare only at the same points. Speeds come from the
// released matrix if it has all locks, as for lockbench choose; one short run tells no more. Of
// equal locks the ones with a guard come first.
func (r *Result) candidates(tried func(*Run) bool) (all []candidate) {
	locks := r.Locks()
	most, known := 0, true
	for _, points := range locks {
		most = max(most, len(points))
		first := &r.Runs[points[0]]
		known = known && (first.Conclusion == nil || first.Known.grantsPerS() > 0)
	}
	unguarded := func(points []int) int {
		if r.Runs[points[0]].Guard() == "" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(locks, func(a, b []int) int { return unguarded(a) - unguarded(b) })
	for _, points := range locks {
		first := &r.Runs[points[0]]
		if first.Conclusion == nil || len(points) < most {
			continue
		}
		lock := candidate{conclusion.Rival{Conclusion: first.Conclusion, Tried: tried(first), Breaks: len(first.Conclusion.BrokenUnder), Rate: 1}, Label{}.Of(first)}
		for _, i := range points {
			lock.Rate *= math.Pow(r.Runs[i].GrantsPerS, 1/float64(len(points)))
		}
		if known {
			lock.Rate = first.Known.grantsPerS()
		}
		if lock.Rate > 0 {
			all = append(all, lock)
		}
	}
	return all
}
