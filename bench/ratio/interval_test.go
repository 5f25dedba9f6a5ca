package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestMedianIntervalIsThatOfTheBinomialDistribution(t *testing.T) {
	for _, c := range []struct {
		n, rows int
		want    interval
	}{
		{5, 1, interval{}},
		{6, 1, interval{1, 1 - 2./64}},
		{15, 1, interval{4, 1 - 2*576./32768}}, // 1 + 15 + 105 + 455
		{15, 6, interval{3, 1 - 2*121./32768}},
		{15, 7, interval{2, 1 - 2*16./32768}},
		{16, 7, interval{3, 1 - 2*137./65536}},
		{8, 7, interval{}},
		{9, 7, interval{1, 1 - 2./512}},
	} {
		t.Run(fmt.Sprintf("%d pairs, %d rows", c.n, c.rows), func(t *testing.T) {
			got := medianInterval(c.n, level/float64(c.rows))
			if got.rank != c.want.rank || math.Abs(got.confidence-c.want.confidence) > 1e-9 {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestFewestPairs(t *testing.T) {
	for rows, want := range map[int]int{1: 6, 2: 7, 4: 8, 7: 9} {
		if got := fewest(level / float64(rows)); got != want {
			t.Errorf("%d rows take %d pairs, want %d", rows, got, want)
		}
	}
}

func TestEstimateSaysWhichIsBetter(t *testing.T) {
	for _, c := range []struct {
		name   string
		ratios []float64
		want   estimate
	}{
		{"five", []float64{2, 2, 2, 2, 2}, estimate{median: 2, finding: tooFew}},
		{"all above", []float64{1.3, 1.1, 1.2, 1.4, 1.6, 1.5}, estimate{1.35, 1.1, 1.6, faster}},
		{"all below", []float64{0.9, 0.8, 0.7, 0.6, 0.5, 0.4}, estimate{0.65, 0.4, 0.9, slower}},
		{"one on the other side", []float64{1.3, 0.9, 1.2, 1.4, 1.6, 1.5}, estimate{1.35, 0.9, 1.6, same}},
		{"the least is equal", []float64{1.3, 1, 1.2, 1.4, 1.6, 1.5}, estimate{1.35, 1, 1.6, same}},
		{"the greatest is equal", []float64{1, 0.8, 0.7, 0.6, 0.5, 0.4}, estimate{0.65, 0.4, 1, same}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := estimated(c.ratios, level)
			if math.Abs(got.median-c.want.median) > 1e-12 {
				t.Errorf("median %v, want %v", got.median, c.want.median)
			}
			if got.median = c.want.median; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestEqualsAreSeldomToldApart draws tables of equals from a skewed distribution: a run of the
// program finds a difference in some row in at most 5 % of cases. By the ranks it is 1 - (1 -
// 2*137/65536)^7 = 2.9 % if the rows are independent; far fewer would mean that the interval
// is too wide.
func TestEqualsAreSeldomToldApart(t *testing.T) {
	const tables, rows, pairs = 4000, 7, 16
	random := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	for range tables {
		differs := false
		for range rows {
			differs = estimated(ratios(random, pairs, 1), level/rows).finding != same || differs
		}
		if differs {
			wrong++
		}
	}
	if share := float64(wrong) / tables; share < 0.02 || share > 0.04 {
		t.Errorf("%.1f %% of tables of equals say that a row differs, want about 2.9 %%", 100*share)
	}
}

// TestATenthIsSeen: a tenth of waste is found in the usual number of pairs, on a machine on
// which the figures of equals differ by up to a tenth.
func TestATenthIsSeen(t *testing.T) {
	const tables, rows, pairs = 1000, 7, 16
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		factor float64
		want   finding
	}{{1 / 1.1, slower}, {1.1, faster}} {
		seen := 0
		for range tables {
			if estimated(ratios(random, pairs, c.factor), level/rows).finding == c.want {
				seen++
			}
		}
		if share := float64(seen) / tables; share < 0.9 {
			t.Errorf("factor %.2f is seen in %.0f %% of tables, want 90 %% or more", c.factor, 100*share)
		}
	}
}

// ratios draws the ratios of pairs in which NEW does factor times as much as OLD. Disturbances
// only make a turn slower, by 3 % on average.
func ratios(random *rand.Rand, pairs int, factor float64) []float64 {
	values := make([]float64, pairs)
	for i := range values {
		values[i] = factor * (1 + 0.03*random.ExpFloat64()) / (1 + 0.03*random.ExpFloat64())
	}
	return values
}
