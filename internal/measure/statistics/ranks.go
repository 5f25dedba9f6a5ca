package statistics

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"
)

// exactLimit is the number of values up to which the distribution of the test is computed;
// with more it is practically normal.
const exactLimit = 60

// rankSum is the statistic of the two-sided test, the sum of the ranks of New in each block
// (P. van Elteren 1960); with one block it is the statistic of Mann and Whitney. Equal values
// share their ranks, and the p-value is exact for them, too.
func rankSum(blocks []Block) (sum int) {
	for _, b := range blocks {
		for _, rank := range b.ranks()[len(b.Base):] {
			sum += rank
		}
	}
	return sum
}

// tied reports whether a block has equal values.
func tied(blocks []Block) bool {
	return slices.ContainsFunc(blocks, func(b Block) bool {
		ranks := b.ranks()
		slices.Sort(ranks)
		return !slices.Equal(ranks, b.untied())
	})
}

// ranks are twice the ranks of the values of a block, Base first: mean ranks of equal values
// may be halves.
func (b Block) ranks() []int {
	all := slices.Concat(b.Base, b.New)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(all[i], all[j]) })
	ranks := make([]int, len(all))
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[order[to]] == all[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = from + 1 + to
		}
		from = to
	}
	return ranks
}

// untied are the ranks of a block without equal values.
func (b Block) untied() []int {
	ranks := make([]int, len(b.Base)+len(b.New))
	for i := range ranks {
		ranks[i] = 2 * (i + 1)
	}
	return ranks
}

// null is the distribution of the rank sum of New if chance decides which values of a block
// are New: exact, or else normal.
type null struct {
	exact    []float64 // the probability of each sum
	mean, sd float64
}

func newNull(blocks []Block, ranks func(Block) []int) null {
	values := 0
	for _, b := range blocks {
		values += len(b.Base) + len(b.New)
	}
	n, variance := null{}, 0.0
	if values <= exactLimit {
		n.exact = []float64{1}
	}
	for _, b := range blocks {
		all := ranks(b)
		mean, ofOne := moments(all)
		n.mean += mean * float64(len(b.New))
		variance += ofOne * float64(len(b.New)*len(b.Base)) / max(1, float64(len(all)-1))
		if n.exact != nil {
			n.exact = convolve(n.exact, sums(all, len(b.New)))
		}
	}
	n.sd = math.Sqrt(variance)
	return n
}

// moments are the mean and the variance of ranks; zero for none.
func moments(ranks []int) (mean, variance float64) {
	for _, r := range ranks {
		mean += float64(r) / float64(len(ranks))
	}
	for _, r := range ranks {
		variance += (float64(r) - mean) * (float64(r) - mean) / float64(len(ranks))
	}
	return mean, variance
}

// sums is the distribution of the sum of chosen of the ranks, with all choices equally likely.
func sums(ranks []int, chosen int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, chosen+1) // by number and sum of the chosen ranks
	for i := range ways {
		ways[i] = make([]float64, total+1)
	}
	ways[0][0] = 1
	reached := 0
	for i, r := range ranks {
		reached += r
		for k := min(chosen, i+1); k > 0; k-- {
			for s := reached; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	all := 0.0
	for _, n := range ways[chosen] {
		all += n
	}
	for s := range ways[chosen] {
		ways[chosen][s] /= all
	}
	return ways[chosen]
}

// convolve is the distribution of the sum of two independent numbers.
func convolve(a, b []float64) []float64 {
	c := make([]float64, len(a)+len(b)-1)
	for i, p := range a {
		if p == 0 {
			continue
		}
		for j, q := range b {
			c[i+j] += p * q
		}
	}
	return c
}

// twoSided is the probability of a sum as far from the mean as this one, or farther, on either
// side.
func (n null) twoSided(sum int) float64 {
	if n.exact != nil {
		return min(1, 2*min(total(n.exact[:sum+1]), total(n.exact[sum:])))
	}
	if n.sd == 0 {
		return 1
	}
	// Without equal values sums are two apart, so the correction for continuity is one.
	return min(1, 2*stats.StdNormal.CDF((1-math.Abs(float64(sum)-n.mean))/n.sd))
}

// atMost is the probability of a sum of at most so much.
func (n null) atMost(sum int) float64 {
	if n.exact != nil {
		return total(n.exact[:sum+1])
	}
	return stats.NormalDist{Mu: n.mean, Sigma: n.sd}.CDF(float64(sum) + 1)
}

func total(ps []float64) (sum float64) {
	for _, p := range ps {
		sum += p
	}
	return sum
}

// leastP is the smallest p-value of blocks of these sizes: in each, all values of one side are
// below all of the other.
func leastP(blocks []Block) float64 {
	logarithm := math.Log(2)
	for _, b := range blocks {
		logarithm -= logChoose(len(b.Base)+len(b.New), len(b.New))
	}
	return min(1, math.Exp(logarithm))
}

// logChoose is the logarithm of the number of ways to choose k of n.
func logChoose(n, k int) float64 {
	logN, _ := math.Lgamma(float64(n + 1))
	logK, _ := math.Lgamma(float64(k + 1))
	logRest, _ := math.Lgamma(float64(n - k + 1))
	return logN - logK - logRest
}

// tail is the rank of the first ratio within the interval, 0 if there is none: the largest
// number of comparisons of a value with another of its block in which New is greater, in the
// lower tail of the test.
func tail(blocks []Block, null null) int {
	comparisons, least := 0, 0
	for _, b := range blocks {
		comparisons += len(b.Base) * len(b.New)
		least += len(b.New) * (len(b.New) + 1) // twice 1 + 2 + ... + n
	}
	return sort.Search(comparisons/2, func(n int) bool { return null.atMost(least+2*n) > Usual/2 })
}
