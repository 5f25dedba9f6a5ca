package count

import "testing"

// TestDurations: an absorbed set counts as its own, and an empty one has no figures.
func TestDurations(t *testing.T) {
	var all, more, none Durations
	if got := none.Figures("delay"); got != nil {
		t.Errorf("figures of none: %v", got)
	}
	more.Add(100)
	all.Absorb(none)
	all.Absorb(more)
	all.Add(-1) // the least that counts is 1 ns
	want := map[string]float64{"delay_count": 2, "delay_p50_ns": 1, "delay_p99_ns": 100, "delay_max_ns": 100}
	for name, n := range all.Figures("delay") {
		if want[name] != n {
			t.Errorf("%s = %v, want %v", name, n, want[name])
		}
	}
}
