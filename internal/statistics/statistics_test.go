package statistics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var near = cmpopts.EquateApprox(1e-6, 1e-9)

func TestHolm(t *testing.T) {
	for _, c := range []struct {
		name     string
		ps, want []float64
	}{
		{"none", nil, []float64{}},
		{"one", []float64{0.04}, []float64{0.04}},
		{"textbook", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"no more than one", []float64{0.6, 0.9}, []float64{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(Holm(c.ps), c.want, near); diff != "" {
				t.Errorf("adjusted (-got +want):\n%s", diff)
			}
		})
	}
}

func TestNeeded(t *testing.T) {
	for _, c := range []struct{ tests, want int }{{1, 6}, {4, 6}, {5, 7}, {17, 7}, {18, 8}, {240, 9}} {
		if got := Needed(c.tests); got != c.want {
			t.Errorf("for %d tests: got %d runs, want %d", c.tests, got, c.want)
		}
	}
	if got, want := leastP(6, 6), 0.0021645021645; math.Abs(got-want) > 1e-9 {
		t.Errorf("least p of six and six: got %v, want %v", got, want)
	}
}

func TestChance(t *testing.T) {
	for _, c := range []struct {
		badA, nA, badB, nB int
		want               float64
	}{
		{0, 6, 6, 6, 1.0 / 924}, {6, 6, 0, 6, 1.0 / 924}, {0, 6, 1, 6, 0.5}, {3, 6, 3, 6, 0.716450}, {0, 6, 0, 6, 1}, {1, 1, 0, 1, 0.5},
	} {
		if diff := cmp.Diff(Chance(c.badA, c.nA, c.badB, c.nB), c.want, near); diff != "" {
			t.Errorf("%d of %d, %d of %d (-got +want):\n%s", c.badA, c.nA, c.badB, c.nB, diff)
		}
	}
}

func TestCompareFamily(t *testing.T) {
	up := []float64{10, 11, 12, 13, 14, 15}
	double := []float64{20, 22, 24, 26, 28, 30}
	equal := []float64{5, 5, 5, 5, 5, 5}
	for _, c := range []struct {
		name string
		pair Pair
		want Finding
	}{
		{"no value", Pair{up, nil}, Unmeasured},
		{"five runs", Pair{up[:5], double}, TooFew},
		{"the same", Pair{up, up}, Same},
		{"the same value", Pair{equal, equal}, Same},
		{"double", Pair{up, double}, Differs},
		{"half", Pair{double, up}, Differs},
		{"one value against another", Pair{equal, double}, Differs},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CompareFamily([]Pair{c.pair})[0].Finding; got != c.want {
				t.Errorf("got finding %d, want %d", got, c.want)
			}
		})
	}
	many := make([]Pair, 5)
	for i := range many {
		many[i] = Pair{up, double}
	}
	if got := CompareFamily(many)[0].Finding; got != TooFew {
		t.Errorf("six runs among five tests: got finding %d, want %d", got, TooFew)
	}
}

func TestInterval(t *testing.T) {
	c := CompareFamily([]Pair{{[]float64{15, 10, 11, 13, 12, 14}, []float64{30, 20, 22, 26, 24, 28}}})[0]
	want := Comparison{
		Finding: Differs, P: 2.0 / 924, Adjusted: 2.0 / 924, Change: 1,
		Base: Summary{N: 6, Median: 12.5, Low: 10, High: 15}, New: Summary{N: 6, Median: 25, Low: 20, High: 30},
		// Published tables give 5 as the critical value of U for six and six: the sixth ratio
		// from either end.
		Low: 0.6, High: 1.5,
	}
	if diff := cmp.Diff(c, want, near); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
	few := CompareFamily([]Pair{{[]float64{1, 2, 3}, []float64{1, 2, 3}}})[0]
	if few.Low != -1 || !math.IsInf(few.High, 1) {
		t.Errorf("interval of three and three: got %v..%v, want -1..+Inf", few.Low, few.High)
	}
}

// table draws what a run of a lock measures, runs times on each side: figures that depend on
// each other, with the wide tails of latencies, the new ones slower by so much.
func table(random *rand.Rand, figures, runs int, slower float64) []Pair {
	pairs := make([]Pair, figures)
	for side := range 2 {
		for range runs {
			noise := random.NormFloat64() // of the whole run: a loaded machine
			for i := range pairs {
				v := 100 * math.Exp(0.05*noise+0.05*random.NormFloat64()*(1+float64(i%3)))
				if side == 0 {
					pairs[i].Base = append(pairs[i].Base, v)
				} else {
					pairs[i].New = append(pairs[i].New, v*(1+slower))
				}
			}
		}
	}
	return pairs
}

// differing counts the tables in which some figure is said to differ.
func differing(seed uint64, tables, runs int, slower float64) (n int) {
	random := rand.New(rand.NewPCG(seed, 7))
	for range tables {
		for _, c := range CompareFamily(table(random, 12, runs, slower)) {
			if c.Finding == Differs {
				n++
				break
			}
		}
	}
	return n
}

// TestTablesOfEquals sees that of a hundred tables of equals ninety-nine show no difference
// anywhere, and that a fifth more is seen.
func TestTablesOfEquals(t *testing.T) {
	for runs, tables := range map[int]int{7: 1000, 10: 400, 15: 100} {
		if got := differing(1, tables, runs, 0); got > tables/100+1 {
			t.Errorf("%d runs: %d of %d tables of equals show a difference, want %d at most", runs, got, tables, tables/100+1)
		}
		if got := differing(2, tables, runs, 0.2); runs > 7 && got < tables*9/10 {
			t.Errorf("%d runs: a fifth more is seen in %d of %d tables, want 9 of 10", runs, got, tables)
		}
	}
}

// TestIntervalCovers sees that the interval of the ratio has the true one in 95 % of cases.
func TestIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, runs := range []int{6, 12, 60} {
		missed, all := 0, 0
		for range 100 {
			for _, p := range table(random, 5, runs, 0.2) {
				c := compare(p)
				if all++; c.Low > 0.2 || c.High < 0.2 {
					missed++
				}
			}
		}
		if share := float64(missed) / float64(all); share > 0.07 || share < 0.02 {
			t.Errorf("%d runs: %.1f %% of intervals miss the ratio, want about 5 %%", runs, 100*share)
		}
	}
}
