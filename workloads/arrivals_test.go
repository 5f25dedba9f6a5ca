package workloads

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// open are the options of an open loop.
func open(rate float64, arrival string, stages ...Stage) Options {
	o := Defaults()
	o.Rate, o.Arrival, o.Stages, o.Duration = rate, arrival, stages, 0
	if len(stages) == 0 {
		o.Duration = time.Minute
	}
	return o.OrDefaults()
}

// until lists the arrivals due up to end.
func until(a *Arrivals, end time.Duration) (all []time.Duration) {
	for due, ok := a.Next(); ok && due <= end; due, ok = a.Next() {
		all = append(all, due)
	}
	return all
}

func TestConstantArrivals(t *testing.T) {
	const s = time.Second
	// The rate rises by 2 a second: the integral is t*t, and reaches 1/2, 3/2 ...
	root := func(n float64) time.Duration { return time.Duration(math.Sqrt(n) * 1e9) }
	for _, c := range []struct {
		name string
		o    Options
		end  time.Duration
		want []time.Duration
	}{
		{"flat", open(2, Constant), 2 * s, []time.Duration{s / 4, 3 * s / 4, 5 * s / 4, 7 * s / 4}},
		{"ramp up", open(0, Constant, Stage{2 * s, 4}), 2 * s, []time.Duration{root(.5), root(1.5), root(2.5), root(3.5)}},
		{"ramp down", open(4, Constant, Stage{2 * s, 0}), 2 * s, []time.Duration{2*s - root(3.5), 2*s - root(2.5), 2*s - root(1.5), 2*s - root(.5)}},
		{"up, flat, down", open(0, Constant, Stage{s, 2}, Stage{s, 2}, Stage{s, 0}), 3 * s, []time.Duration{root(.5), s + s/4, s + 3*s/4, 3*s - root(.5)}},
		{"a jump", open(0, Constant, Stage{0, 2}, Stage{s, 2}), s, []time.Duration{s / 4, 3 * s / 4}},
		{"nothing for a while", open(0, Constant, Stage{0, 1}, Stage{s, 1}, Stage{0, 0}, Stage{s, 0}, Stage{0, 1}, Stage{s, 1}), 3 * s, []time.Duration{s / 2, 2*s + s/2}},
		{"slower than the run", open(0.001, Constant), 5 * s, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			near := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= time.Microsecond })
			if diff := cmp.Diff(until(c.o.Arrivals(), c.end), c.want, near); diff != "" {
				t.Errorf("arrivals (-got +want):\n%s", diff)
			}
		})
	}
}

// TestStagesIntegrate: as many arrivals in each stage as the mean of the rates at its ends
// makes; of Poisson ones within four standard deviations.
func TestStagesIntegrate(t *testing.T) {
	stages := []Stage{{3 * time.Second, 1000}, {time.Minute, 1000}, {0, 100}, {time.Minute, 5000}, {30 * time.Second, 0}}
	want := []float64{1500, 60000, 0, 153000, 75000}
	for _, model := range ArrivalModels() {
		t.Run(model, func(t *testing.T) {
			a := open(0, model, stages...).Arrivals()
			all := until(a, time.Hour)
			var end time.Duration
			for i, stage := range stages {
				begin := end
				end += stage.Duration
				got := 0.0
				for _, due := range all {
					if due > begin && due <= end {
						got++
					}
				}
				slack := 1.0
				if model == Poisson {
					slack = 4 * math.Sqrt(want[i])
				}
				if math.Abs(got-want[i]) > slack {
					t.Errorf("stage %d: got %v arrivals, want %v +- %v", i, got, want[i], slack)
				}
			}
			if due, ok := a.Next(); ok {
				t.Errorf("after the last stage: got an arrival at %v, want none", due)
			}
		})
	}
}

// dispersion is the variance of how many arrivals fall into a window, over its mean: 1
// for a Poisson process, 0 for an even one.
func dispersion(all []time.Duration, window time.Duration, windows int) float64 {
	counts := make([]float64, windows)
	for _, due := range all {
		if i := int(due / window); i < windows {
			counts[i]++
		}
	}
	var sum, squares float64
	for _, n := range counts {
		sum += n
		squares += n * n
	}
	mean := sum / float64(windows)
	return (squares/float64(windows) - mean*mean) / mean
}

// TestPoissonArrivals looks at windows from far shorter to far longer than the gaps. The
// index of 2,000 windows has a standard deviation of sqrt(2/2000) = 0.03.
func TestPoissonArrivals(t *testing.T) {
	const windows = 2000
	for _, window := range []time.Duration{time.Millisecond / 2, 10 * time.Millisecond, 100 * time.Millisecond} {
		for _, seed := range []uint64{1, 2, 3} {
			o := open(1000, Poisson)
			o.Seed = seed
			all := until(o.Arrivals(), windows*window)
			if got := dispersion(all, window, windows); math.Abs(got-1) > 0.13 {
				t.Errorf("seed %d, windows of %v: dispersion %.3f, want 1", seed, window, got)
			}
		}
	}
	even := until(open(1000, Constant).Arrivals(), windows*10*time.Millisecond)
	if got := dispersion(even, 10*time.Millisecond, windows); got > 0.001 {
		t.Errorf("constant: dispersion %.3f, want 0", got)
	}
}

// TestPoissonGaps: the gaps have the distribution function 1-exp(-x), by the greatest
// distance from it (Kolmogorov-Smirnov at 0.1 %: 1.95/sqrt(n)).
func TestPoissonGaps(t *testing.T) {
	all := until(open(1000, Poisson).Arrivals(), 20*time.Second)
	var below [40]float64 // gaps below i/10 of the mean
	last := time.Duration(0)
	for _, due := range all {
		for i := range below {
			if due-last <= time.Duration(i)*time.Millisecond/10 {
				below[i]++
			}
		}
		last = due
	}
	n := float64(len(all))
	for i, count := range below {
		want := 1 - math.Exp(-float64(i)/10)
		if got := count / n; math.Abs(got-want) > 1.95/math.Sqrt(n) {
			t.Errorf("share of gaps below %d/10 of the mean: got %.4f, want %.4f", i, got, want)
		}
	}
}

func TestEqualSeedsMakeEqualArrivals(t *testing.T) {
	o := open(0, Poisson, Stage{time.Second, 500}, Stage{time.Second, 0})
	first := until(o.Arrivals(), time.Minute)
	if diff := cmp.Diff(until(o.Arrivals(), time.Minute), first); diff != "" {
		t.Errorf("the same options (-got +want):\n%s", diff)
	}
	o.Seed++
	if cmp.Equal(until(o.Arrivals(), time.Minute), first) {
		t.Error("another seed made the same arrivals")
	}
}

func TestCountArrivals(t *testing.T) {
	for _, c := range []struct {
		name        string
		o           Options
		end         time.Duration
		want, slack int64
	}{
		{"few", open(10, Constant), time.Second, 10, 0},
		{"none left", open(0, Constant, Stage{time.Second, 10}), time.Hour, 5, 0},
		{"more than are drawn", open(1e9, Constant), 10 * time.Second, 1e10, 1},
		{"more than are drawn, on a ramp", open(0, Poisson, Stage{10 * time.Second, 1e9}), 10 * time.Second, 5e9, 4e5},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.o.Arrivals().Count(c.end); max(got-c.want, c.want-got) > c.slack {
				t.Errorf("got %d, want %d +- %d", got, c.want, c.slack)
			}
		})
	}
}

func TestIntervals(t *testing.T) {
	a := open(0, Constant, Stage{time.Second, 100}, Stage{time.Second, 100}).Arrivals()
	for due, ok := a.Next(); ok; due, ok = a.Next() {
		rate := min(100, 100*due.Seconds())
		if got, want := a.Interval().Seconds(), 1/rate; math.Abs(got/want-1) > 1e-3 {
			t.Fatalf("at %v: got an interval of %v s, want %v s", due, got, want)
		}
	}
}

func BenchmarkArrivals(b *testing.B) {
	for _, model := range ArrivalModels() {
		b.Run(model, func(b *testing.B) {
			a := open(1000, model, Stage{1000 * time.Hour, 2000}).Arrivals()
			b.ReportAllocs()
			for b.Loop() {
				a.Next()
			}
		})
	}
}
