package statistics

import (
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// LeastRuns is how many measurements a confidence interval of a median takes: of fewer, all
// lie on one side of it in more than 5 % of cases.
const LeastRuns = 6

// A Pair is what was measured of two things, each several times. The values are positive,
// in any order.
type Pair struct{ Base, New []float64 }

// A Finding says what a comparison came to.
type Finding uint8

// The findings. The zero value is Unmeasured.
const (
	Unmeasured Finding = iota // one side has no value
	TooFew                    // of so few values no difference, however large, could be told
	Same                      // no difference seen
	Differs                   // they differ
)

// A Comparison tells whether a pair differs.
type Comparison struct {
	Finding   Finding
	Base, New Summary
	// P is how often equals would differ by as much or more; Adjusted corrects it for the
	// family, and decides.
	P, Adjusted float64
	// Change is the new median over that of the base, less one; Low and High bound, for 95 %
	// of all such pairs by themselves, the ratio of what is new to what was, less one.
	// Where there are too few values they are -1 and +Inf.
	Change, Low, High float64
}

// A Summary is a sample by its median, with the interval in which the true one lies in 95 %
// of cases; infinite when there are too few values to tell.
type Summary struct {
	N                 int
	Median, Low, High float64
}

// compare compares one pair as if it were all that is looked at.
func compare(p Pair) Comparison {
	level := benchmath.Thresholds{CompareAlpha: Alpha}
	base := benchmath.NewSample(slices.Clone(p.Base), &level)
	changed := benchmath.NewSample(slices.Clone(p.New), &level)
	c := Comparison{
		Base: summary(base), New: summary(changed),
		P: benchmath.AssumeNothing.Compare(base, changed).P,
	}
	c.Change = c.New.Median/c.Base.Median - 1
	c.Low, c.High = ratio(base.Values, changed.Values)
	return c
}

func summary(s *benchmath.Sample) Summary {
	found := benchmath.AssumeNothing.Summary(s, 1-Usual)
	return Summary{N: len(s.Values), Median: found.Center, Low: found.Lo, High: found.Hi}
}

// settle decides by the corrected p-value, as one of so many tests.
func (c *Comparison) settle(adjusted float64, tests int) {
	c.Adjusted = adjusted
	switch {
	case min(c.Base.N, c.New.N) < LeastRuns || leastP(c.Base.N, c.New.N)*float64(tests) > Alpha:
		c.Finding = TooFew
	case adjusted <= Alpha:
		c.Finding = Differs
	default:
		c.Finding = Same
	}
}

// leastP is the smallest p-value that samples of these sizes can have: all of one below all
// of the other, one of two outcomes among (a+b choose a).
func leastP(a, b int) float64 {
	logA, _ := math.Lgamma(float64(a + 1))
	logB, _ := math.Lgamma(float64(b + 1))
	logAll, _ := math.Lgamma(float64(a + b + 1))
	return min(1, 2*math.Exp(logA+logB-logAll))
}

// Needed is how many measurements of each side it takes so that a difference can be told
// among so many tests.
func Needed(tests int) int {
	n := LeastRuns
	for leastP(n, n)*float64(tests) > Alpha {
		n++
	}
	return n
}

// ratio bounds the shift between two samples on a logarithmic scale, less one: the test
// turned round, the ratios which it would not reject at the level Usual (J. Hodges and E.
// Lehmann 1963). Both samples are positive and sorted.
func ratio(base, changed []float64) (low, high float64) {
	ratios := make([]float64, 0, len(base)*len(changed))
	for _, b := range base {
		for _, c := range changed {
			ratios = append(ratios, c/b)
		}
	}
	slices.Sort(ratios)
	spared := tail(len(base), len(changed))
	if spared == 0 {
		return -1, math.Inf(1)
	}
	return ratios[spared-1] - 1, ratios[len(ratios)-spared] - 1
}

// tail is the rank of the first ratio within the interval, 0 when there is none: the number
// of values of U that lie in each tail of its distribution.
func tail(a, b int) int {
	if max(a, b) > stats.MannWhitneyExactLimit {
		mean := float64(a*b) / 2
		sigma := math.Sqrt(mean * float64(a+b+1) / 6)
		return max(0, int(mean-1.96*sigma))
	}
	u := stats.UDist{N1: a, N2: b}
	return sort.Search(a*b, func(n int) bool { return u.CDF(float64(n)) > Usual/2 })
}
