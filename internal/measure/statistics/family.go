package statistics

import (
	"cmp"
	"slices"
)

// Alpha is the level of a family of tests of figures: the highest probability of finding a
// difference anywhere among equals. The usual 0.05 would find two or more differences in
// every fourth set of twenty comparisons of equals.
const Alpha = 0.02

// Usual is the level of confidence intervals, the probability that they miss the truth, and
// of small sets of tests.
const Usual = 0.05

// mainShare is the share of a family's level for its main figures, if it has others. The
// rest is enough to find a difference in a lesser figure alone.
const mainShare = 0.8

// Holm corrects p-values that are considered together, and returns them in the same order:
// the least of them is at most x in no more than a share x of all families of equals,
// however their members depend on each other (S. Holm 1979). A test with twice the weight is
// corrected half as much; without weights all are equal.
func Holm(ps, weights []float64) []float64 {
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	order, left := make([]int, len(ps)), 0.0
	for i := range order {
		order[i] = i
		left += weight(i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a]/weight(a), ps[b]/weight(b)) })
	adjusted, least := make([]float64, len(ps)), 0.0
	for _, i := range order {
		least = max(least, min(1, ps[i]*left/weight(i)))
		adjusted[i] = least
		left -= weight(i)
	}
	return adjusted
}

// A Family is the result of comparing pairs together.
type Family struct {
	// Comparisons are the comparisons of the pairs, in order.
	Comparisons []Comparison
	// Tests is the number of pairs that could differ: both sides have values, and the values
	// are not all the same.
	Tests int
	// Needed is the least number of values of each side that can show a large enough difference in
	// some figure.
	Needed int
}

// Compare compares each pair of samples, and corrects for their number. A pair with an empty
// sample has a zero Comparison and does not count.
func Compare(pairs []Pair) Family {
	f := Family{Comparisons: make([]Comparison, len(pairs)), Needed: LeastRuns}
	var tested []int
	var ps []float64
	for i, p := range pairs {
		if !p.measured() {
			continue
		}
		f.Comparisons[i] = compare(p)
		if p.varies() {
			tested, ps = append(tested, i), append(ps, f.Comparisons[i].P)
		}
	}
	f.Tests = len(tested)
	weights := weigh(pairs, tested)
	adjusted := Holm(ps, weights)
	left := 1.0
	for at := range tested {
		if adjusted[at] <= Alpha {
			left -= weights[at]
		}
	}
	for at, i := range tested {
		f.Comparisons[i].settle(adjusted[at], Alpha*weights[at]/max(left, weights[at]), pairs[i])
	}
	if len(weights) > 0 {
		f.Needed = needed(Alpha * slices.Max(weights))
	}
	return f
}

// weigh gives the tested pairs weights that add up to one.
func weigh(pairs []Pair, tested []int) []float64 {
	mains := 0
	for _, i := range tested {
		if pairs[i].Main {
			mains++
		}
	}
	weights, others := make([]float64, len(tested)), len(tested)-mains
	for at, i := range tested {
		switch {
		case mains == 0 || others == 0:
			weights[at] = 1 / float64(len(tested))
		case pairs[i].Main:
			weights[at] = mainShare / float64(mains)
		default:
			weights[at] = (1 - mainShare) / float64(others)
		}
	}
	return weights
}
