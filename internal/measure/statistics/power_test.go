package statistics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// machine draws the common part of all figures of a run, for several runs after each other, in
// standard deviations between runs.
type machine func(random *rand.Rand, runs int) []float64

// even is a machine on which no disturbance lasts from one run to the next.
func even(random *rand.Rand, runs int) (all []float64) {
	for range runs {
		all = append(all, random.NormFloat64())
	}
	return all
}

// drifting is a machine on which most of a run's disturbance, six tenths of the variance,
// affects its neighbours, too, and fades by a tenth from one to the next.
func drifting(random *rand.Rand, runs int) (all []float64) {
	lasting := random.NormFloat64()
	for range runs {
		all = append(all, math.Sqrt(0.6)*lasting+math.Sqrt(0.4)*random.NormFloat64())
		lasting = 0.9*lasting + math.Sqrt(1-0.9*0.9)*random.NormFloat64()
	}
	return all
}

// bursts is a machine that something else loads for half a dozen runs now and then, which
// disturbs them more than all else does.
func bursts(random *rand.Rand, runs int) (all []float64) {
	loaded := random.Float64() < 0.3
	for range runs {
		disturbed := 0.6 * random.NormFloat64()
		if loaded {
			disturbed += 1.5 + 3*random.Float64()
		}
		all = append(all, disturbed)
		if ends, begins := 0.15, 0.06; loaded {
			loaded = random.Float64() > ends
		} else {
			loaded = random.Float64() < begins
		}
	}
	return all
}

// tails are the variations of the figures, relative to the first: values of a closed loop, two
// main figures and six others.
var tails = []float64{1, 1, 1.5, 1, 1.5, 3, 1.2, 1.5}

// situation describes a comparison: two designs that take turns, the second slower by a
// factor, with a relative difference between runs.
type situation struct {
	machine       machine
	noise, slower float64
	runs          int
}

// table draws the figures of such runs. Seven tenths of their variance is of the whole run.
func (s situation) table(random *rand.Rand) []Pair {
	common := s.machine(random, 2*s.runs)
	pairs := make([]Pair, len(tails))
	for i := range pairs {
		pairs[i] = Pair{Main: i < 2, Blocks: alternatingBlocks(s.runs)}
		draw := func(at int) float64 {
			return 100 * math.Exp(s.noise*tails[i]*(math.Sqrt(0.7)*common[at]+math.Sqrt(0.3)*random.NormFloat64()))
		}
		first, round := 0, 0
		for _, b := range pairs[i].Blocks {
			for j := range b.Base {
				b.Base[j], b.New[j] = draw(2*round+first), s.slower*draw(2*round+1-first)
				first, round = 1-first, round+1
			}
		}
	}
	return pairs
}

// once makes one block of all, as if the sides had not taken turns.
func once(pairs []Pair) []Pair {
	for i, p := range pairs {
		base, changed := p.sides()
		pairs[i].Blocks = []Block{{base, changed}}
	}
	return pairs
}

// shown is the share of tables in which a difference is shown, in some of the first figures.
func (s situation) shown(tables, figures int) float64 {
	random, n := rand.New(rand.NewPCG(1, uint64(s.runs))), 0
	for range tables {
		if differs(Compare(s.table(random)).Comparisons[:figures]) {
			n++
		}
	}
	return float64(n) / float64(tables)
}

func differs(all []Comparison) bool {
	for _, c := range all {
		if c.Finding == Differs {
			return true
		}
	}
	return false
}

// TestPublishedPower checks the power of a comparison in docs/comparing.md, to three in a
// hundred: how many of 200 simulated comparisons of a design with itself show a difference
// anywhere, and how many with a design a fifth slower show it in a main figure. By default it
// does so for six and for twelve runs.
func TestPublishedPower(t *testing.T) {
	if testing.Short() {
		t.Skip("compares a few thousand tables")
	}
	page, err := os.ReadFile("../../../docs/comparing.md")
	if err != nil {
		t.Fatal(err)
	}
	const tables = 200
	for _, on := range []struct {
		machine machine
		name    string
	}{{even, "even"}, {drifting, "drifting"}} {
		runs := []int{6, 12}
		if longtest.On() {
			runs = []int{6, 8, 12, 20}
		}
		for _, runs := range runs {
			row := []float64{situation{on.machine, 0.1, 1, runs}.shown(tables, len(tails))}
			for _, noise := range []float64{0.05, 0.1, 0.2} {
				row = append(row, situation{on.machine, noise, 1.2, runs}.shown(tables, 2))
			}
			checkRow(t, string(page), fmt.Sprintf("| %s | %d |", on.name, runs), row)
			if row[0] > 0.05 {
				t.Errorf("%s, %d runs: %.1f %% of comparisons of equals show a difference, want 5 %% at most", on.name, runs, 100*row[0])
			}
		}
	}
}

var percentage = regexp.MustCompile(`([0-9.]+) %`)

// checkRow compares a row of a page, which begins like this, with shares.
func checkRow(t *testing.T, page, begin string, want []float64) {
	t.Helper()
	_, row, found := strings.Cut(page, begin)
	row, _, _ = strings.Cut(row, "\n")
	cells := percentage.FindAllStringSubmatch(row, -1)
	ok := found && len(cells) == len(want)
	for i := range cells {
		got, err := strconv.ParseFloat(cells[i][1], 64)
		ok = ok && err == nil && math.Abs(got/100-want[i]) <= 0.03
	}
	if !ok {
		t.Errorf("docs/comparing.md: %s%s\nit should be %.1f", begin, row, scaled(want))
	}
}

func scaled(shares []float64) (all []float64) {
	for _, v := range shares {
		all = append(all, 100*v)
	}
	return all
}

// TestEqualsAnywhere checks that hardly a comparison of equals shows a difference anywhere,
// also if load comes in bursts, and if the sides did not take turns on a machine on which no
// disturbance lasts.
func TestEqualsAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("compares a few hundred tables")
	}
	const tables = 200
	for _, c := range []struct {
		name    string
		machine machine
		join    func([]Pair) []Pair
	}{
		{"bursts", bursts, func(p []Pair) []Pair { return p }},
		{"without turns", even, once},
	} {
		random, n := rand.New(rand.NewPCG(9, 9)), 0
		for range tables {
			if differs(Compare(c.join(situation{c.machine, 0.1, 1, 10}.table(random))).Comparisons) {
				n++
			}
		}
		if n > tables/20 {
			t.Errorf("%s: %d of %d comparisons of equals show a difference, want %d at most", c.name, n, tables, tables/20)
		}
	}
}

// TestTurnsTell checks the effect of comparing only runs that were made near each other: more
// differences are found if disturbances last, and hardly fewer if they do not.
func TestTurnsTell(t *testing.T) {
	if testing.Short() {
		t.Skip("compares a few hundred tables")
	}
	const tables = 200
	for _, c := range []struct {
		name    string
		machine machine
		gain    int // at least
	}{{"even", even, -15}, {"drifting", drifting, 3}, {"bursts", bursts, 20}} {
		random := rand.New(rand.NewPCG(3, 12))
		blocks, whole := 0, 0
		for range tables {
			pairs := situation{c.machine, 0.15, 1.2, 12}.table(random)[:2]
			if differs(Compare(pairs).Comparisons) {
				blocks++
			}
			if differs(Compare(once(pairs)).Comparisons) {
				whole++
			}
		}
		t.Logf("%s: a fifth more is seen in %d of %d tables by blocks, %d without", c.name, blocks, tables, whole)
		if blocks < whole+c.gain {
			t.Errorf("%s: got a gain of %d, want %d", c.name, blocks-whole, c.gain)
		}
	}
}

// TestRunsFor checks that differences of the visible size are found in about four of five
// comparisons, and that as many runs as it asks for show a tenth as often.
func TestRunsFor(t *testing.T) {
	if testing.Short() {
		t.Skip("compares a few thousand tables")
	}
	for _, noise := range []float64{0.05, 0.1} {
		random := rand.New(rand.NewPCG(7, 12))
		var visible, runs float64
		const tables = 200
		for range tables {
			c := Compare(situation{even, noise, 1, 12}.table(random)).Comparisons[0]
			visible += math.Log(c.Visible()) / tables
			runs += float64(c.RunsFor(1.1)) / tables
		}
		for _, s := range []situation{{even, noise, math.Exp(visible), 12}, {even, noise, 1.1, int(math.Round(runs))}} {
			if got := s.shown(tables, 1); got < 0.7 || got > 0.95 {
				t.Errorf("noise of %v: %.3f is shown by %d runs in %.0f %% of comparisons, want about 80 %%", noise, s.slower, s.runs, 100*got)
			}
		}
	}
}

// TestIntervalCovers checks that the interval of the ratio contains the true one in 95 % of
// cases.
func TestIntervalCovers(t *testing.T) {
	for _, runs := range []int{6, 12, 60} {
		random := rand.New(rand.NewPCG(3, 3))
		missed, all := 0, 0
		for range 60 {
			for _, p := range (situation{drifting, 0.1, 1.2, runs}).table(random) {
				c := compare(p)
				if all++; c.Low > 0.2 || c.High < 0.2 {
					missed++
				}
			}
		}
		if share := float64(missed) / float64(all); share > 0.07 || share < 0.015 {
			t.Errorf("%d runs: %.1f %% of intervals miss the ratio, want about 5 %%", runs, 100*share)
		}
	}
}
