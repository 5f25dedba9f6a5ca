package workloads

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestParseDistribution(t *testing.T) {
	tests := []struct {
		text, canonical string
		min, mean       time.Duration
	}{
		{"0", "0s", 0, 0},
		{"5ms", "5ms", 5 * time.Millisecond, 5 * time.Millisecond},
		{"uniform:1ms-5ms", "uniform:1ms-5ms", time.Millisecond, 3 * time.Millisecond},
		{"uniform:1s-1s", "uniform:1s-1s", time.Second, time.Second},
		{"exp:5ms", "exp:5ms", 0, 5 * time.Millisecond},
		{"lognormal:5ms,0.8", "lognormal:5ms,0.8", 0, 6885638},
		{"lognormal:median=5ms,sigma=0.8", "lognormal:5ms,0.8", 0, 6885638},
		{"lognormal:5ms,0", "lognormal:5ms,0", 5 * time.Millisecond, 5 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			d, err := parseDistribution(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := d.String(); got != tt.canonical {
				t.Errorf("String() = %q, want %q", got, tt.canonical)
			}
			if got := d.min(); got != tt.min {
				t.Errorf("Min() = %v, want %v", got, tt.min)
			}
			if got := d.Mean(); got != tt.mean {
				t.Errorf("Mean() = %v, want %v", got, tt.mean)
			}
		})
	}
}

func TestParseDistributionErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `"" is no duration`},
		{"5", `"5" is no duration`},
		{"-5ms", "-5ms is negative"},
		{"25h", "25h0m0s is too long"},
		{"unifrom:1ms-5ms", "did you mean uniform?"},
		{"uniform:1ms", "no upper bound"},
		{"uniform:5ms-1ms", "uniform:1ms-5ms"},
		{"uniform:x-1ms", `"x" is no duration`},
		{"exp:", `"" is no duration`},
		{"lognormal:5ms", "no sigma"},
		{"lognormal:5ms,x", `sigma "x"`},
		{"lognormal:5ms,NaN", `sigma "NaN"`},
		{"lognormal:5ms,99", `sigma "99"`},
		{"lognormal:5ms,-1", `sigma "-1"`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := parseDistribution(tt.text)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, part := range []string{tt.want, "hint:", `distribution "` + tt.text + `"`} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not contain %q", err, part)
				}
			}
		})
	}
}

// TestSampleMean draws often enough that a mean off by 10 % would be seen, from a
// fixed seed.
func TestSampleMean(t *testing.T) {
	for _, text := range []string{"5ms", "uniform:1ms-5ms", "exp:5ms", "lognormal:5ms,0.8"} {
		t.Run(text, func(t *testing.T) {
			d, err := parseDistribution(text)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			const draws = 20_000
			var sum float64
			for range draws {
				sum += float64(d.sample(r))
			}
			if got, want := sum/draws, float64(d.Mean()); math.Abs(got-want) > want/10 {
				t.Errorf("mean of %d draws = %v, want about %v", draws, time.Duration(got), time.Duration(want))
			}
		})
	}
}

func FuzzParseDistribution(f *testing.F) {
	for _, text := range []string{"5ms", "uniform:1ms-5ms", "exp:5ms", "lognormal:median=5ms,sigma=0.8", "lognormal:24h,5", "uniform:-1ms-0", "exp:1e9h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDistribution(text)
		if err != nil {
			return
		}
		again, err := parseDistribution(d.String())
		if err != nil || again != d {
			t.Fatalf("%q parsed to %v, which parses to %v, %v", text, d, again, err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 10 {
			if s := d.sample(r); s < d.min() || s > longest {
				t.Fatalf("%v drew %v, outside [%v, %v]", d, s, d.min(), longest)
			}
		}
		if m := d.Mean(); m < d.min() || m > longest {
			t.Fatalf("%v has mean %v, outside [%v, %v]", d, m, d.min(), longest)
		}
	})
}
