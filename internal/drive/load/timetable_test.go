package load

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/workloads"
)

// arriving are the options of an open loop.
func arriving(rate float64, arrival string, stages ...workloads.Stage) workloads.Options {
	o := workloads.Defaults()
	o.Rate, o.Arrival, o.Stages, o.Duration = rate, arrival, stages, 0
	if len(stages) == 0 {
		o.Duration = time.Minute
	}
	return o.OrDefaults()
}

// stage leads the rate to a target.
func stage(d time.Duration, rate float64) workloads.Stage {
	return workloads.Stage{Duration: d, Rate: rate}
}

// timetableOf is newTimetable of options that have no address.
func timetableOf(o workloads.Options) *timetable { return newTimetable(&o, runinfo.Share{}) }

// until lists the arrivals due up to end.
func until(a *timetable, end time.Duration) (all []time.Duration) {
	for due, ok := a.next(); ok && due <= end; due, ok = a.next() {
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
		o    workloads.Options
		end  time.Duration
		want []time.Duration
	}{
		{"flat", arriving(2, workloads.Constant), 2 * s, []time.Duration{s / 4, 3 * s / 4, 5 * s / 4, 7 * s / 4}},
		{"ramp up", arriving(0, workloads.Constant, stage(2*s, 4)), 2 * s, []time.Duration{root(.5), root(1.5), root(2.5), root(3.5)}},
		{"ramp down", arriving(4, workloads.Constant, stage(2*s, 0)), 2 * s, []time.Duration{2*s - root(3.5), 2*s - root(2.5), 2*s - root(1.5), 2*s - root(.5)}},
		{"up, flat, down", arriving(0, workloads.Constant, stage(s, 2), stage(s, 2), stage(s, 0)), 3 * s, []time.Duration{root(.5), s + s/4, s + 3*s/4, 3*s - root(.5)}},
		{"a jump", arriving(0, workloads.Constant, stage(0, 2), stage(s, 2)), s, []time.Duration{s / 4, 3 * s / 4}},
		{"nothing for a while", arriving(0, workloads.Constant, stage(0, 1), stage(s, 1), stage(0, 0), stage(s, 0), stage(0, 1), stage(s, 1)), 3 * s, []time.Duration{s / 2, 2*s + s/2}},
		{"slower than the run", arriving(0.001, workloads.Constant), 5 * s, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			near := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= time.Microsecond })
			if diff := cmp.Diff(until(newTimetable(&c.o, runinfo.Share{}), c.end), c.want, near); diff != "" {
				t.Errorf("arrivals (-got +want):\n%s", diff)
			}
		})
	}
}

// TestStagesIntegrate: as many arrivals in each stage as the mean of the rates at its ends
// makes; of Poisson ones within four standard deviations.
func TestStagesIntegrate(t *testing.T) {
	stages := []workloads.Stage{stage(3*time.Second, 1000), stage(time.Minute, 1000), stage(0, 100), stage(time.Minute, 5000), stage(30*time.Second, 0)}
	want := []float64{1500, 60000, 0, 153000, 75000}
	for _, model := range workloads.ArrivalModels() {
		t.Run(model, func(t *testing.T) {
			a := timetableOf(arriving(0, model, stages...))
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
				if model == workloads.Poisson {
					slack = 4 * math.Sqrt(want[i])
				}
				if math.Abs(got-want[i]) > slack {
					t.Errorf("stage %d: got %v arrivals, want %v +- %v", i, got, want[i], slack)
				}
			}
			if due, ok := a.next(); ok {
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
			o := arriving(1000, workloads.Poisson)
			o.Seed = seed
			all := until(newTimetable(&o, runinfo.Share{}), windows*window)
			if got := dispersion(all, window, windows); math.Abs(got-1) > 0.13 {
				t.Errorf("seed %d, windows of %v: dispersion %.3f, want 1", seed, window, got)
			}
		}
	}
	even := until(timetableOf(arriving(1000, workloads.Constant)), windows*10*time.Millisecond)
	if got := dispersion(even, 10*time.Millisecond, windows); got > 0.001 {
		t.Errorf("constant: dispersion %.3f, want 0", got)
	}
}

// TestPoissonGaps: the gaps have the distribution function 1-exp(-x), by the greatest
// distance from it (Kolmogorov-Smirnov at 0.1 %: 1.95/sqrt(n)).
func TestPoissonGaps(t *testing.T) {
	all := until(timetableOf(arriving(1000, workloads.Poisson)), 20*time.Second)
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
	o := arriving(0, workloads.Poisson, stage(time.Second, 500), stage(time.Second, 0))
	first := until(newTimetable(&o, runinfo.Share{}), time.Minute)
	if diff := cmp.Diff(until(newTimetable(&o, runinfo.Share{}), time.Minute), first); diff != "" {
		t.Errorf("the same options (-got +want):\n%s", diff)
	}
	o.Seed++
	if cmp.Equal(until(newTimetable(&o, runinfo.Share{}), time.Minute), first) {
		t.Error("another seed made the same arrivals")
	}
}

func TestCountArrivals(t *testing.T) {
	for _, c := range []struct {
		name        string
		o           workloads.Options
		end         time.Duration
		want, slack int64
	}{
		{"few", arriving(10, workloads.Constant), time.Second, 10, 0},
		{"none left", arriving(0, workloads.Constant, stage(time.Second, 10)), time.Hour, 5, 0},
		{"more than are drawn", arriving(1e9, workloads.Constant), 10 * time.Second, 1e10, 1},
		{"more than are drawn, on a ramp", arriving(0, workloads.Poisson, stage(10*time.Second, 1e9)), 10 * time.Second, 5e9, 4e5},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newTimetable(&c.o, runinfo.Share{}).count(c.end); max(got-c.want, c.want-got) > c.slack {
				t.Errorf("got %d, want %d +- %d", got, c.want, c.slack)
			}
		})
	}
}

func TestIntervals(t *testing.T) {
	a := timetableOf(arriving(0, workloads.Constant, stage(time.Second, 100), stage(time.Second, 100)))
	for due, ok := a.next(); ok; due, ok = a.next() {
		rate := min(100, 100*due.Seconds())
		if got, want := a.interval().Seconds(), 1/rate; math.Abs(got/want-1) > 1e-3 {
			t.Fatalf("at %v: got an interval of %v s, want %v s", due, got, want)
		}
	}
}

func BenchmarkArrivals(b *testing.B) {
	for _, model := range workloads.ArrivalModels() {
		b.Run(model, func(b *testing.B) {
			a := timetableOf(arriving(1000, model, stage(1000*time.Hour, 2000)))
			b.ReportAllocs()
			for b.Loop() {
				a.next()
			}
		})
	}
}

// FuzzTimetable has arrivals in order, and none after the last stage.
func FuzzTimetable(f *testing.F) {
	f.Add("30s:100,1m:1000,30s:0")
	f.Add("0s:5,1h:0.001")
	f.Add("1ns:1e9,1000h:1e-300")
	f.Fuzz(func(t *testing.T, text string) {
		var stages workloads.Stages
		if stages.UnmarshalText([]byte(text)) != nil {
			return
		}
		o, err := workloads.Must("mutex").Options(arriving(0, workloads.Poisson, stages...))
		if err != nil {
			return
		}
		last := time.Duration(0)
		a := newTimetable(&o, runinfo.Share{})
		for range 1000 {
			due, ok := a.next()
			if !ok {
				return
			}
			if due < last || due > stages.Length()+1 {
				t.Fatalf("%q: an arrival at %v after one at %v", stages, due, last)
			}
			last = due
		}
	})
}
