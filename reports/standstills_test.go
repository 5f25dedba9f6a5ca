package reports

import (
	"testing"

	"github.com/lockbench/lockbench/results"
)

// TestStoodStill checks that a standstill of a thousandth of a run is not mentioned.
func TestStoodStill(t *testing.T) {
	const ms = int64(1e6)
	run := func(s *results.Standstills) *results.Run {
		return &results.Run{RunFigures: results.RunFigures{MeasuredNS: 10_000 * ms, Standstills: s}}
	}
	for _, c := range []struct {
		is   *results.Standstills
		want string
	}{
		{nil, ""},
		{&results.Standstills{Times: 1, TotalNS: 10 * ms, LongestNS: 10 * ms}, ""},
		{&results.Standstills{Times: 3, TotalNS: 412 * ms, LongestNS: 300 * ms},
			"lockbench or its server stood still for 412ms in 3 standstills, the longest 300ms; what that kept from being done breaks nothing"},
	} {
		if got := stoodStill(run(c.is)); got != c.want {
			t.Errorf("of %+v: got %q, want %q", c.is, got, c.want)
		}
	}
}

// TestLeftTaken checks that keys left taken by acquires without an answer are reported if
// they kept others out.
func TestLeftTaken(t *testing.T) {
	const ms = int64(1e6)
	run := func(l results.Latency) *results.Run {
		return &results.Run{RunFigures: results.RunFigures{Latency: map[string]results.Latency{"left_taken": l}}}
	}
	if got := leftTaken(run(results.Latency{})); got != "" {
		t.Errorf("of nothing: got %q", got)
	}
	const want = "an acquire without an answer left its key taken for nobody 3 times: for 400ms at the median, at most 1.2s"
	if got := leftTaken(run(results.Latency{Count: 3, P50: 400 * ms, Max: 1200 * ms})); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
