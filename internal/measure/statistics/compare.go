package statistics

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// LeastRuns is the number of measurements needed for a confidence interval of a median: with
// fewer, all lie on one side of it in more than 5 % of cases.
const LeastRuns = 6

// A Pair has measurements of two things, several of each. The values are positive.
type Pair struct {
	// Blocks divide the measurements by time; there is one block if the sides did not take
	// turns.
	Blocks []Block
	// Main marks a main figure, in which differences are looked for first.
	Main bool
}

// A Block has measurements made near each other, in any order.
type Block struct{ Base, New []float64 }

// sides returns all values of each side.
func (p Pair) sides() (base, changed []float64) {
	for _, b := range p.Blocks {
		base, changed = append(base, b.Base...), append(changed, b.New...)
	}
	return base, changed
}

// measured reports whether both sides have values.
func (p Pair) measured() bool {
	base, changed := p.sides()
	return len(base) > 0 && len(changed) > 0
}

// varies reports whether the values are not all the same.
func (p Pair) varies() bool {
	all := slices.Concat(p.sides())
	return slices.Min(all) < slices.Max(all)
}

// A Finding is the result of a comparison.
type Finding uint8

// The findings. The zero value is Unmeasured.
const (
	Unmeasured Finding = iota // one side has no value
	TooFew                    // too few values to prove any difference, however large
	Same                      // no difference seen
	Differs                   // they differ
)

// A Comparison reports whether a pair differs.
type Comparison struct {
	Finding   Finding
	Base, New Summary
	// P is the probability that equals differ as much or more; Adjusted corrects it for the
	// family, and decides.
	P, Adjusted float64
	// Change is the ratio of New to Base, less one: the median of the ratios of all values
	// within blocks. Low and High bound it for 95 % of all such pairs by themselves. With
	// too few values they are -1 and +Inf.
	Change, Low, High float64

	level float64 // the test's share of Alpha, given the tests that show no difference
}

// A Summary describes a sample by its median and the 95 % confidence interval of the median, which
// is infinite if there are too few values.
type Summary struct {
	N                 int
	Median, Low, High float64
}

// compare compares one pair as if it were the only one. If all values are the same the
// result is final.
func compare(p Pair) Comparison {
	base, changed := p.sides()
	c := Comparison{Finding: Same, Base: summary(base), New: summary(changed), Adjusted: 1}
	null := newNull(p.Blocks, Block.ranks)
	c.P = null.twoSided(rankSum(p.Blocks))
	if tied(p.Blocks) {
		null = newNull(p.Blocks, Block.untied)
	}
	c.Change, c.Low, c.High = ratio(p.Blocks, null)
	if c.few() {
		c.Finding = TooFew
	}
	return c
}

func summary(values []float64) Summary {
	s := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	found := benchmath.AssumeNothing.Summary(s, 1-Usual)
	return Summary{N: len(values), Median: found.Center, Low: found.Lo, High: found.Hi}
}

func (c *Comparison) few() bool { return min(c.Base.N, c.New.N) < LeastRuns }

// settle decides by the corrected p-value; level is the test's share of Alpha.
func (c *Comparison) settle(adjusted, level float64, p Pair) {
	c.Adjusted, c.level = adjusted, level
	switch {
	case c.few():
		c.Finding = TooFew
	case adjusted <= Alpha:
		c.Finding = Differs
	case leastP(p.Blocks) > level:
		c.Finding = TooFew
	default:
		c.Finding = Same
	}
}

// ratio estimates the shift between two samples on a logarithmic scale, less one, and its
// bounds: the ratios that the test would not reject at the level Usual (J. Hodges and E.
// Lehmann 1963). null is the distribution of the test without equal values.
func ratio(blocks []Block, null null) (estimate, low, high float64) {
	var ratios []float64
	for _, block := range blocks {
		for _, b := range block.Base {
			for _, c := range block.New {
				ratios = append(ratios, c/b)
			}
		}
	}
	if len(ratios) == 0 {
		return 0, -1, math.Inf(1)
	}
	slices.Sort(ratios)
	n := len(ratios)
	estimate = (ratios[(n-1)/2]+ratios[n/2])/2 - 1
	spared := tail(blocks, null)
	if spared == 0 {
		return estimate, -1, math.Inf(1)
	}
	return estimate, ratios[spared-1] - 1, ratios[n-spared] - 1
}
