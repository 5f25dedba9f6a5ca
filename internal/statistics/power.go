package statistics

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// power is how often a difference is to be seen that a Comparison calls visible.
const power = 0.8

// BlockRuns is how many runs of each side a block has at least: with fewer, too little is
// compared; with more, less of what happens on the machine is the same for all.
const BlockRuns = 4

// Visible is the factor by which a figure has to change so that as many runs, on a machine as
// restless, show it in four of five comparisons. It is computed from the interval of the ratio,
// whose width is twice 1.96 standard errors; +Inf where there is none.
func (c Comparison) Visible() float64 {
	if math.IsInf(c.High, 1) || c.level == 0 {
		return math.Inf(1)
	}
	return math.Exp(c.error() * (quantile(1-c.level/2) + quantile(power)))
}

// error is the standard error of the logarithm of the ratio.
func (c Comparison) error() float64 {
	return math.Log((1+c.High)/(1+c.Low)) / 2 / quantile(1-Usual/2)
}

// RunsFor is about how many runs of each side it takes until a change by a factor is visible:
// the error shrinks with the root of their number. 0 where that is not known.
func (c Comparison) RunsFor(factor float64) int {
	visible := math.Log(c.Visible())
	if math.IsInf(visible, 1) || factor == 1 {
		return 0
	}
	ratio := visible / math.Log(factor)
	return max(needed(c.level), int(math.Ceil(ratio*ratio*c.runs())))
}

// runs is how many runs of each side were worth as much as these: half the harmonic sum.
func (c Comparison) runs() float64 {
	return 2 / (1/float64(c.Base.N) + 1/float64(c.New.N))
}

func quantile(p float64) float64 { return stats.StdNormal.InvCDF(p) }

// needed is how many measurements of each side, made in turns, it takes until a test can come
// to a level.
func needed(level float64) int {
	n := LeastRuns
	for leastP(turns(n)) > level {
		n++
	}
	return n
}

// turns are the blocks of so many measurements of each side, without their values.
func turns(n int) (blocks []Block) {
	for ; n >= 2*BlockRuns; n -= BlockRuns {
		blocks = append(blocks, Block{make([]float64, BlockRuns), make([]float64, BlockRuns)})
	}
	return append(blocks, Block{make([]float64, n), make([]float64, n)})
}
