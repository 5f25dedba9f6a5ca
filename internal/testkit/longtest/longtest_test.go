package longtest

import (
	"fmt"
	"slices"
	"testing"
)

// fatal is a test that records how it ended.
type fatal struct {
	testing.TB
	said string
}

func (f *fatal) Helper() {}

func (f *fatal) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f)
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		campaigns, size string
		want            int
		said            string
	}{
		{"1", "12", 12, ""},
		{"1", "", 5, ""},
		{"", "12", 5, ""},
		{"", "many", 5, ""},
		{"1", "many", 0, "TRIALS=many; hint: a number, 1 or more"},
		{"1", "0", 0, "TRIALS=0; hint: a number, 1 or more"},
	} {
		t.Run(fmt.Sprintf("%q with campaigns %q", c.size, c.campaigns), func(t *testing.T) {
			t.Setenv(Campaigns, c.campaigns)
			t.Setenv("TRIALS", c.size)
			f := &fatal{TB: t}
			defer func() {
				if f.said != c.said {
					t.Errorf("said %q, want %q", f.said, c.said)
				}
				if recovered := recover(); recovered != nil && recovered != f {
					panic(recovered)
				}
			}()
			if got := Size(f, "TRIALS", 5); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		long            string
		few, many, want int
	}{
		{"", 5, 100, 5}, {"0", 5, 100, 5}, {"1", 5, 100, 100}, {"0.25", 5, 100, 25}, {"0.01", 5, 100, 5}, {"0.5", 10, 1, 1},
	} {
		t.Setenv(Variable, c.long)
		if got := Times(c.few, c.many); got != c.want || On() != (c.long != "" && c.long != "0") {
			t.Errorf("%s=%q: %d of %d to %d times, and on: %t; want %d", Variable, c.long, got, c.few, c.many, On(), c.want)
		}
	}
}

// TestPicks checks that a share of the parts is picked, and each part by some seed.
func TestPicks(t *testing.T) {
	for _, c := range []struct {
		long string
		want int
	}{{"1", 40}, {"0.25", 10}, {"", 0}} {
		t.Setenv(Variable, c.long)
		by := make([]int, 40)
		for seed := range uint32(4) {
			picked := 0
			for n := range by {
				if Picks(n, seed) {
					picked++
					by[n]++
				}
			}
			if picked != c.want {
				t.Errorf("%s=%q, seed %d: %d of 40 parts, want %d", Variable, c.long, seed, picked, c.want)
			}
		}
		if least := slices.Min(by); c.want > 0 && least == 0 {
			t.Errorf("%s=%q: no seed picks some part: %v", Variable, c.long, by)
		}
	}
}
