package main

import (
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// level is the highest probability that any row's interval misses the true median.
const level = 0.05

// An interval has two order statistics of a sample as its bounds: the rank-th smallest value,
// counted from 1, and the rank-th largest. Rank 0 means that the sample is too small.
type interval struct {
	rank       int
	confidence float64 // the probability that it contains the true median, whatever the distribution
}

// medianInterval returns the narrowest interval for the median of n values with a probability of at
// most missing/2 of missing the median on either side.
//
// The number of values below the median is binomial, with n and 1/2. So the r-th smallest is above
// the median with the probability of fewer than r values below it, and the r-th largest is below it
// as often. One row of 15 rounds has ranks 4 and 12, and really 96.5 % of confidence; all seven
// rows, with 99.3 % requested, have 2 and 14, and 99.90 %. With 40 rounds, the default, seven rows
// have 12 and 29, and 99.36 %.
//
// benchmath.AssumeNothing is not used: its tails differ if that makes the interval shorter, so that
// exchanging OLD and NEW could change the word, and above 30 values it approximates.
func medianInterval(n int, missing float64) interval {
	below := stats.BinomialDist{N: n, P: 0.5}
	found := interval{}
	for r := 1; r <= n/2; r++ {
		tail := below.CDF(float64(r - 1))
		if tail > missing/2 {
			break
		}
		found = interval{rank: r, confidence: 1 - 2*tail}
	}
	return found
}

// fewest is the least number of values for an interval.
func fewest(missing float64) int {
	n := 1
	for medianInterval(n, missing).rank == 0 {
		n++
	}
	return n
}

// A finding is the word for the result of a row.
type finding string

// The findings.
const (
	same   finding = "same"
	faster finding = "faster"
	slower finding = "slower"
	tooFew finding = "too few rounds"
)

// An estimate is the result of a row's ratios.
type estimate struct {
	median    float64
	low, high float64 // zero with too few rounds
	finding   finding
}

// fine is the largest difference that "same" should not hide.
const fine = 0.03

// blunt reports whether a finding of "same" is too imprecise to mean much: its interval still admits a
// difference larger than the constant fine.
func (e estimate) blunt() bool {
	return e.finding == same && (e.low < 1-fine || e.high > 1+fine)
}

// estimated returns the estimate of ratios NEW/OLD of a figure. A higher figure is better.
func estimated(ratios []float64, missing float64) estimate {
	sorted := slices.Sorted(slices.Values(ratios))
	e := estimate{median: median(ratios), finding: tooFew}
	in := medianInterval(len(sorted), missing)
	if in.rank == 0 {
		return e
	}
	e.low, e.high = sorted[in.rank-1], sorted[len(sorted)-in.rank]
	switch {
	case e.low > 1:
		e.finding = faster
	case e.high < 1:
		e.finding = slower
	default:
		e.finding = same
	}
	return e
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
