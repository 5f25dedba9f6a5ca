package statistics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/aclements/go-moremath/stats"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var near = cmpopts.EquateApprox(1e-6, 1e-9)

func TestHolm(t *testing.T) {
	for _, c := range []struct {
		name              string
		ps, weights, want []float64
	}{
		{"none", nil, nil, []float64{}},
		{"one", []float64{0.04}, nil, []float64{0.04}},
		{"textbook", []float64{0.01, 0.04, 0.03, 0.005}, nil, []float64{0.03, 0.06, 0.06, 0.02}},
		{"no more than one", []float64{0.6, 0.9}, nil, []float64{1, 1}},
		{"equal weights", []float64{0.01, 0.04, 0.03, 0.005}, []float64{2, 2, 2, 2}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"the heavier first", []float64{0.01, 0.009}, []float64{0.8, 0.2}, []float64{0.0125, 0.0125}},
		{"what is left goes to the lighter", []float64{0.001, 0.019}, []float64{0.8, 0.2}, []float64{0.00125, 0.019}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(Holm(c.ps, c.weights), c.want, near); diff != "" {
				t.Errorf("adjusted (-got +want):\n%s", diff)
			}
		})
	}
}

// one is a pair of samples that did not take turns.
func one(base, changed []float64) Pair { return Pair{Blocks: []Block{{base, changed}}} }

func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		level float64
		want  int
	}{{0.02, 6}, {0.008, 6}, {0.002, 7}, {0.0005, 8}, {0.0003, 9}, {0.00003, 11}} {
		if got := needed(c.level); got != c.want {
			t.Errorf("for a level of %v: got %d runs, want %d", c.level, got, c.want)
		}
	}
	if got, want := leastP(alternatingBlocks(6)), 2.0/924; math.Abs(got-want) > 1e-9 {
		t.Errorf("least p of six and six: got %v, want %v", got, want)
	}
	if got, want := leastP(alternatingBlocks(8)), 2.0/70/70; math.Abs(got-want) > 1e-9 {
		t.Errorf("least p of eight in turns: got %v, want %v", got, want)
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

func TestCompare(t *testing.T) {
	up := []float64{10, 11, 12, 13, 14, 15}
	double := []float64{20, 22, 24, 26, 28, 30}
	equal := []float64{5, 5, 5, 5, 5, 5}
	for _, c := range []struct {
		name string
		pair Pair
		want Finding
	}{
		{"no value", one(up, nil), Unmeasured},
		{"no block", Pair{}, Unmeasured},
		{"five runs", one(up[:5], double), TooFew},
		{"five runs of one value", one(equal[:5], equal), TooFew},
		{"the same", one(up, up), Same},
		{"the same value", one(equal, equal), Same},
		{"double", one(up, double), Differs},
		{"half", one(double, up), Differs},
		{"one value against another", one(equal, double), Differs},
		{"too few of either in a block", Pair{Blocks: []Block{{up, nil}, {nil, double}}}, TooFew},
		{"blocks of one", Pair{Blocks: []Block{{up[:1], double[:1]}, {up[1:2], double[1:2]}, {up[2:3], double[2:3]}, {up[3:4], double[3:4]}, {up[4:5], double[4:5]}, {up[5:], double[5:]}}}, TooFew},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Compare([]Pair{c.pair}).Comparisons[0].Finding; got != c.want {
				t.Errorf("got finding %d, want %d", got, c.want)
			}
		})
	}
}

// TestFamily checks that main figures need fewer runs than others, that a difference in them
// leaves the level to the others, and that constant figures cost nothing.
func TestFamily(t *testing.T) {
	up, double := []float64{10, 11, 12, 13, 14, 15}, []float64{20, 22, 24, 26, 28, 30}
	equal := []float64{5, 5, 5, 5, 5, 5}
	main := func(p Pair) Pair { p.Main = true; return p }
	differs, same := one(up, double), one(up, up)
	for _, c := range []struct {
		name   string
		pairs  []Pair
		want   []Finding
		tests  int
		needed int
	}{
		{"no main", []Pair{differs, differs, differs}, []Finding{Differs, Differs, Differs}, 3, 6},
		{"too many for six runs", []Pair{differs, same, same, same, same, same, same, same, same, same}, []Finding{TooFew, TooFew, TooFew, TooFew, TooFew, TooFew, TooFew, TooFew, TooFew, TooFew}, 10, 7},
		{"a main one among as many", []Pair{main(differs), same, same, same, same, same, same, same, same, same}, []Finding{Differs, Same, Same, Same, Same, Same, Same, Same, Same, Same}, 10, 6},
		{"another one among as many", []Pair{main(same), differs, same, same, same, same, same, same, same, same}, []Finding{Same, TooFew, TooFew, TooFew, TooFew, TooFew, TooFew, TooFew, TooFew, TooFew}, 10, 6},
		{"both", []Pair{main(differs), differs, one(equal, equal)}, []Finding{Differs, Differs, Same}, 2, 6},
		{"nothing measured", []Pair{one(nil, up)}, []Finding{Unmeasured}, 0, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Compare(c.pairs)
			var got []Finding
			for _, one := range f.Comparisons {
				got = append(got, one.Finding)
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("findings (-got +want):\n%s", diff)
			}
			if f.Tests != c.tests || f.Needed != c.needed {
				t.Errorf("got %d tests and %d runs needed, want %d and %d", f.Tests, f.Needed, c.tests, c.needed)
			}
		})
	}
}

// TestMannWhitney checks that the test of one block equals a library's, with ties and without,
// exact and normal.
func TestMannWhitney(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		base, changed int
		grain         float64 // of the values
		near          float64 // normal is near exact, and with ties the two ends are unlike
	}{{6, 6, 1e-9, 1e-9}, {7, 12, 1e-9, 1e-9}, {9, 10, 0.2, 0.02}, {40, 50, 1e-9, 0.003}, {40, 50, 0.05, 1e-9}} {
		for range 20 {
			draw := func(n int) (all []float64) {
				for range n {
					all = append(all, c.grain*math.Round((5+random.NormFloat64())/c.grain))
				}
				return all
			}
			base, changed := draw(c.base), draw(c.changed)
			want, err := stats.MannWhitneyUTest(base, changed, stats.LocationDiffers)
			if err != nil {
				t.Fatal(err)
			}
			if got := compare(one(base, changed)).P; math.Abs(got-want.P) > c.near {
				t.Errorf("%d and %d, grain %v: got p %v, want %v", c.base, c.changed, c.grain, got, want.P)
			}
		}
	}
}

// TestBlocks checks that only values of one block are compared: New is greater in each block,
// though not in all together. Of the 6 x 6 ways to choose two of four in each block one is as
// far out at this end.
func TestBlocks(t *testing.T) {
	blocks := []Block{{[]float64{1, 2}, []float64{3, 4}}, {[]float64{10, 20}, []float64{30, 40}}}
	c := compare(Pair{Blocks: blocks})
	if got, want := c.P, 2.0/36; math.Abs(got-want) > 1e-12 {
		t.Errorf("got p %v, want %v", got, want)
	}
	if got, want := c.Change, 1.5; math.Abs(got-want) > 1e-12 {
		t.Errorf("got an estimate of %v, want the median of 1.5, 2, 3 and 4, twice, less one: %v", got, want)
	}
}

func TestInterval(t *testing.T) {
	c := Compare([]Pair{one([]float64{15, 10, 11, 13, 12, 14}, []float64{30, 20, 22, 26, 24, 28})}).Comparisons[0]
	want := Comparison{
		Finding: Differs, P: 2.0 / 924, Adjusted: 2.0 / 924, Change: 1,
		Base: Summary{N: 6, Median: 12.5, Low: 10, High: 15}, New: Summary{N: 6, Median: 25, Low: 20, High: 30},
		// Published tables give 5 as the critical value of U for six and six: the sixth ratio
		// from either end.
		Low: 0.6, High: 1.5,
	}
	if diff := cmp.Diff(c, want, near, cmpopts.IgnoreUnexported(Comparison{})); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
	few := Compare([]Pair{one([]float64{1, 2, 3}, []float64{1, 2, 3})}).Comparisons[0]
	if few.Low != -1 || !math.IsInf(few.High, 1) {
		t.Errorf("interval of three and three: got %v..%v, want -1..+Inf", few.Low, few.High)
	}
}
