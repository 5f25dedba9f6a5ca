package reports

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

func TestOverTime(t *testing.T) {
	run := results.New([]results.Judged{plainDelete("private")}, nil).Runs[0]
	got := run.OverTime
	if got == nil {
		t.Fatal("got nothing over time")
	}
	want := &results.OverTime{
		WarmupNS: 100 * ms, EndNS: 400 * ms,
		BucketNS: 40 * ms, // as wide as the widest bucket, the violations'
		Grants:   []int64{0, 0, 20, 40, 40, 40, 40, 40, 40, 40},
		Refused:  []int64{}, Troubled: []int64{},
		SlowestNS:  got.SlowestNS,
		Violations: map[lockbench.Cell][]int64{stale: {0, 0, 4, 3}},
		Faults:     []results.FaultLine{{Note: "slow", Occurrences: []int64{0, 0, 0, 1, 1}, Periods: []results.Period{{FromNS: 150 * ms, ToNS: 180 * ms}}}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if got, want := slices.Max(got.SlowestNS), 2*ms+299_000; got != want {
		t.Errorf("slowest acquire: got %d, want %d", got, want)
	}
	if got := results.New([]results.Judged{failedRun("private")}, nil).Runs[0].OverTime; got != nil && len(got.Grants) > 0 {
		t.Errorf("nothing was granted: got %+v", got)
	}
}

// TestSpectrum compares the curve with the percentiles beside it.
func TestSpectrum(t *testing.T) {
	for op, l := range results.New([]results.Judged{tokenLock("private")}, nil).Runs[0].Latency {
		s := l.Spectrum
		if l.Count == 0 {
			if s != nil {
				t.Errorf("%s: got a curve of nothing", op)
			}
			continue
		}
		last := len(s.NS) - 1
		if s.Shares[last] != 1 || s.NS[last] != l.Max || !slices.IsSorted(s.Shares) || !slices.IsSorted(s.NS) {
			t.Errorf("%s: got a curve that ends in %d at %v, want %d at 1, and both rising", op, s.NS[last], s.Shares[last], l.Max)
		}
		half, _ := slices.BinarySearch(s.Shares, 0.5)
		if got := s.NS[half]; got != l.P50 {
			t.Errorf("%s: got %d at a half, want %d", op, got, l.P50)
		}
	}
	if s := results.New([]results.Judged{failedRun("private")}, nil).Runs[0].Latency["acquire"].Spectrum; s != nil {
		t.Errorf("got %v of nothing", s)
	}
}
