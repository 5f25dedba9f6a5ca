package statistics

import "github.com/aclements/go-moremath/stats"

// Chance returns the probability that the two sides differ this much or more in the same
// direction, if bad runs are equally likely on both: badA of nA runs and badB of nB runs
// (Fisher's exact test, one-sided).
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
