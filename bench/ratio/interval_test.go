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
		{40, 7, interval{12, 0.9935734239043086}},
	} {
		t.Run(fmt.Sprintf("%d rounds, %d rows", c.n, c.rows), func(t *testing.T) {
			got := medianInterval(c.n, level/float64(c.rows))
			if got.rank != c.want.rank || math.Abs(got.confidence-c.want.confidence) > 1e-9 {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestFewestRounds(t *testing.T) {
	for rows, want := range map[int]int{1: 6, 2: 7, 4: 8, 7: 9} {
		if got := fewest(level / float64(rows)); got != want {
			t.Errorf("%d rows take %d rounds, want %d", rows, got, want)
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

const rounds, rows = 40, 7 // by default

// TestEqualsAreSeldomToldApart draws tables of equals from a skewed distribution: a run of the
// program finds a difference in some row in at most 5 % of cases, and far fewer would mean that the
// interval is too wide.
func TestEqualsAreSeldomToldApart(t *testing.T) {
	const tables = 4000
	random := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	for range tables {
		differs := false
		for range rows {
			differs = estimated(ratios(random, 1), level/rows).finding != same || differs
		}
		if differs {
			wrong++
		}
	}
	want := 1 - math.Pow(medianInterval(rounds, level/rows).confidence, rows)
	if share := float64(wrong) / tables; math.Abs(share-want) > 0.01 || share > level {
		t.Errorf("%.1f %% of tables of equals say that a row differs, want about %.1f %%", 100*share, 100*want)
	}
}

// TestThreePercentAreSeen: in the usual number of rounds 3 % of waste are found, and of equals it is
// shown that NEW does 0.97 of OLD or more, on a machine on which a turn is 3 % slower than another.
func TestThreePercentAreSeen(t *testing.T) {
	const tables = 1000
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name   string
		factor float64
		want   func(estimate) bool
	}{
		{"slower", 1 / 1.03, func(e estimate) bool { return e.finding == slower }},
		{"faster", 1.03, func(e estimate) bool { return e.finding == faster }},
		{"equal", 1, func(e estimate) bool { return e.low >= 0.97 && e.high <= 1.03 }},
		{"within 2 %", 1, func(e estimate) bool { return e.high-e.low < 0.04 }},
	} {
		seen := 0
		for range tables {
			if c.want(estimated(ratios(random, c.factor), level/rows)) {
				seen++
			}
		}
		if share := float64(seen) / tables; share < 0.9 {
			t.Errorf("%s: seen in %.0f %% of tables, want 90 %% or more", c.name, 100*share)
		}
	}
}

// ratios draws the ratios of rounds in which NEW does factor times as much as OLD. Disturbances
// only make a turn slower, by 3 % on average.
func ratios(random *rand.Rand, factor float64) []float64 {
	two := func() (time float64) {
		for range 2 {
			time += 1 + 0.03*random.ExpFloat64()
		}
		return time
	}
	values := make([]float64, rounds)
	for i := range values {
		values[i] = factor * two() / two()
	}
	return values
}
