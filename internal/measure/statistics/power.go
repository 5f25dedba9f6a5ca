package statistics

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// power is the probability of finding a difference that Comparison.Visible calls visible.
const power = 0.8

// BlockRuns is the least number of runs of each side in a block: with fewer, too little is
// compared; with more, the runs share fewer disturbances of the machine.
const BlockRuns = 4

// Visible is the least factor of change in a figure that four of five such comparisons show: with
// as many runs, on a machine as unsteady. It is computed from the interval of the ratio, which is
// twice 1.96 standard errors wide; +Inf if there is none.
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

// RunsFor is about the number of runs of each side until a change by a factor is visible: the
// error shrinks with the root of that number. 0 if it is unknown.
func (c Comparison) RunsFor(factor float64) int {
	visible := math.Log(c.Visible())
	if math.IsInf(visible, 1) || factor == 1 {
		return 0
	}
	ratio := visible / math.Log(factor)
	return max(needed(c.level), int(math.Ceil(ratio*ratio*c.runs())))
}

// runs is the equivalent number of runs of each side: half the harmonic sum.
func (c Comparison) runs() float64 {
	return 2 / (1/float64(c.Base.N) + 1/float64(c.New.N))
}

func quantile(p float64) float64 { return stats.StdNormal.InvCDF(p) }

// needed returns the least number of measurements of each side, made in turns, that lets a test
// reach level.
func needed(level float64) int {
	n := LeastRuns
	for leastP(alternatingBlocks(n)) > level {
		n++
	}
	return n
}

// alternatingBlocks returns the blocks of n runs of each side, made in turns.
func alternatingBlocks(n int) (blocks []Block) {
	for ; n >= 2*BlockRuns; n -= BlockRuns {
		blocks = append(blocks, Block{make([]float64, BlockRuns), make([]float64, BlockRuns)})
	}
	return append(blocks, Block{make([]float64, n), make([]float64, n)})
}
