package results

import (
	"slices"
	"testing"
	"time"
)

// TestSumOfStandstills checks that nil counts as no standstills, that a sum has the longest of all,
// and that standstills of a thousandth of the time or less are not mentioned.
func TestSumOfStandstills(t *testing.T) {
	const ms = int64(time.Millisecond)
	var sum *Standstills
	if much := sum.Plus(nil).Of(1); much != "" {
		t.Errorf("of none: %q", much)
	}
	sum = sum.Plus(&Standstills{Times: 1, TotalNS: 300 * ms, LongestNS: 300 * ms}).Plus(nil).Plus(&Standstills{Times: 2, TotalNS: 112 * ms, LongestNS: 60 * ms})
	if got, want := sum.Of(10_000*ms), "412ms in 3 standstills, the longest 300ms"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if much := sum.Of(1_000_000 * ms); much != "" {
		t.Errorf("of little: %q", much)
	}
}

// TestComparisonsSayWhoStoodStill checks that a comparison names the side that stood still, and for
// how long in all its runs.
func TestComparisonsSayWhoStoodStill(t *testing.T) {
	side := func(still ...int64) (runs []observed) {
		for _, ns := range still {
			r := Run{RunFigures: RunFigures{MeasuredNS: 1e9}}
			if ns > 0 {
				r.Standstills = &Standstills{Times: 1, TotalNS: ns, LongestNS: ns}
			}
			runs = append(runs, observed{run: &r})
		}
		return runs
	}
	d := ComparedDesign{Base: "a/b", New: "a/b", base: side(0, 4e8, 2e8), changed: side(0, 0, 1e6)}
	want := []string{"a/b: lockbench or its server stood still for 600ms in 2 standstills, the longest 400ms, in the runs of base; that breaks no claim, and is in the speeds"}
	if got := d.stoodStill(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
