package statistics

import "github.com/aclements/go-moremath/stats"

// Chance reports how often, if the same share of runs went wrong on both sides, a draw of the
// runs would leave the sides as unequal as this or more so, in the same direction: bad of n
// runs on one side and bad of n on the other (Fisher's exact test, one-sided).
func Chance(badA, nA, badB, nB int) float64 {
	if badA*nB > badB*nA {
		badA, nA, badB, nB = badB, nB, badA, nA
	}
	d := stats.HypergeometicDist{N: nA + nB, K: badA + badB, Draws: nA}
	sum := 0.0
	for k := 0; k <= badA; k++ {
		sum += d.PMF(float64(k))
	}
	return min(1, sum)
}
