package clocks

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// A Comparison says that a clock showed Before, then another clock showed Other, and then the clock showed After,
// in ns.
type Comparison struct{ Before, Other, After int64 }

// Bounds bound the readings of another clock by those of a clock. They are exact to 2 ns for readings up to
// a hundred days. They may be used concurrently.
type Bounds struct {
	upper, lower side
}

// A side has one of two bounds. Each comparison gives the bound that the other clock shows y at most, or at
// least, when the clock shows x. Its offsets are those of lines through these points: with the slope of the
// largest drift towards the bound beside a point, and of the smallest away from it.
type side struct {
	sign   float64 // 1 for an upper bound, -1 for a lower one
	slopes slopes
	xs     []int64
	// ahead[i] is the tightest offset of lines through the points before i, for readings after them; and
	// behind[i] that of lines through the points from i on, for readings before them.
	ahead, behind []float64
}

// slopes are the rates of the other clock that bound it after a point, and before it.
type slopes struct{ ahead, behind float64 }

// NewBounds returns bounds by comparisons, at least one, of clocks whose rates differ by drift at most: while
// the clock advances by d, the other one advances by (1 - drift) d to (1 + drift) d.
func NewBounds(all []Comparison, drift float64) *Bounds {
	return newBounds(all, slopes{1 + drift, 1 - drift}, slopes{1 - drift, 1 + drift})
}

func newBounds(all []Comparison, upper, lower slopes) *Bounds {
	return &Bounds{
		upper: newSide(all, 1, upper, func(c Comparison) int64 { return c.Before }),
		lower: newSide(all, -1, lower, func(c Comparison) int64 { return c.After }),
	}
}

func newSide(all []Comparison, sign float64, by slopes, at func(Comparison) int64) side {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Comparison) int { return cmp.Compare(at(a), at(b)) })
	n := len(all)
	s := side{sign: sign, slopes: by, xs: make([]int64, n), ahead: make([]float64, n+1), behind: make([]float64, n+1)}
	s.ahead[0], s.behind[n] = math.Inf(1), math.Inf(1)
	for i, c := range all {
		s.xs[i] = at(c)
		s.ahead[i+1] = min(s.ahead[i], sign*(float64(c.Other)-by.ahead*float64(at(c))))
	}
	for i, c := range slices.Backward(all) {
		s.behind[i] = min(s.behind[i+1], sign*(float64(c.Other)-by.behind*float64(at(c))))
	}
	return s
}

// at returns the bound at a reading of the clock, rounded outward.
func (s *side) at(x int64) int64 {
	i := sort.Search(len(s.xs), func(i int) bool { return s.xs[i] > x })
	y := min(s.ahead[i]+s.sign*s.slopes.ahead*float64(x), s.behind[i]+s.sign*s.slopes.behind*float64(x))
	return int64(s.sign * (math.Ceil(y) + 1))
}

// Upper returns the largest reading that the other clock can show when the clock shows x.
func (b *Bounds) Upper(x int64) int64 { return b.upper.at(x) }

// Lower returns the least reading that the other clock can show when the clock shows x.
func (b *Bounds) Lower(x int64) int64 { return b.lower.at(x) }

// Consistent returns the number of comparisons, from the first on, that clocks with this drift can show. The next
// one proves that one of the clocks was changed since. The comparisons are in the order of time.
func Consistent(all []Comparison, drift float64) int {
	seen := newConsistency(drift)
	for i, c := range all {
		if !seen.add(c) {
			return i
		}
	}
	return len(all)
}

// A consistency finds the first comparison that the ones before it, of clocks with this drift, contradict.
type consistency struct{ drift, most, least float64 } // of the other clock, less its reading by the fastest or slowest clock

func newConsistency(drift float64) consistency { return consistency{drift, math.Inf(1), math.Inf(-1)} }

// add adds the next comparison, and returns false if it contradicts those before it.
func (s *consistency) add(c Comparison) bool {
	if float64(c.Other) > s.most+(1+s.drift)*float64(c.After)+2 || float64(c.Other) < s.least+(1-s.drift)*float64(c.Before)-2 {
		return false
	}
	s.most = min(s.most, float64(c.Other)-(1+s.drift)*float64(c.Before))
	s.least = max(s.least, float64(c.Other)-(1-s.drift)*float64(c.After))
	return true
}
