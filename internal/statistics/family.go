package statistics

import (
	"cmp"
	"slices"
)

// Alpha is the level of a family of tests of figures: how often, at most, equals are said to
// differ anywhere in it. One in twenty would be usual, but then of twenty comparisons of
// equals two or more differ every fourth time.
const Alpha = 0.01

// Usual is the level of confidence intervals, which leave out the truth that often, and of
// tests that few are made of.
const Usual = 0.05

// Holm corrects p-values that are looked at together, and returns them in the same order:
// the least of them is at most x in no more than a share x of all families of
// equals, however their members depend on each other (S. Holm 1979).
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted, least := make([]float64, len(ps)), 0.0
	for rank, i := range order {
		least = max(least, min(1, float64(len(ps)-rank)*ps[i]))
		adjusted[i] = least
	}
	return adjusted
}

// CompareFamily compares each pair of samples, and corrects for their number. Pairs of which
// a sample is empty have a zero Comparison and do not count.
func CompareFamily(pairs []Pair) []Comparison {
	all := make([]Comparison, len(pairs))
	var tested []int
	var ps []float64
	for i, p := range pairs {
		if len(p.Base) == 0 || len(p.New) == 0 {
			continue
		}
		all[i] = compare(p)
		tested, ps = append(tested, i), append(ps, all[i].P)
	}
	for at, p := range Holm(ps) {
		all[tested[at]].settle(p, len(ps))
	}
	return all
}
