package series

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

func TestCounts(t *testing.T) {
	const w = Narrowest
	for _, c := range []struct {
		name   string
		stamps []int64
		want   Counts
	}{
		{"nothing", nil, Counts{}},
		{"one", []int64{3 * w}, Counts{Width: w, N: []int64{0, 0, 0, 1}}},
		{"below zero", []int64{-5}, Counts{Width: w, N: []int64{1}}},
		{"borders belong to the later", []int64{w - 1, w}, Counts{Width: w, N: []int64{1, 1}}},
		{"the last that fits", []int64{0, Buckets*w - 1}, ends(w, Buckets)},
		{"the first that does not", []int64{0, Buckets * w}, ends(2*w, Buckets/2+1)},
		{"the end of time", []int64{0, math.MaxInt64}, ends(w<<32, int(math.MaxInt64/(w<<32))+1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Counts
			for _, at := range c.stamps {
				got.Add(at, 1)
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// ends has an event in the first and in the last of n buckets.
func ends(width int64, n int) Counts {
	c := Counts{Width: width, N: make([]int64, n)}
	c.N[0], c.N[n-1] = 1, 1
	return c
}

// TestNothingIsLost adds at random over spans of all lengths, to one series and to
// several that are merged: nothing may be lost, no highest value either, and the
// memory stays within bounds.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(longtest.Times(50, 200)) {
		r := rand.New(rand.NewPCG(seed, 1))
		span := Narrowest << r.IntN(30)
		var whole, parts [3]struct {
			Counts
			Peaks
		}
		var total, peak int64
		for range 500 {
			at, n, shard := r.Int64N(span), r.Int64N(9)+1, r.IntN(2)
			for _, s := range []*struct {
				Counts
				Peaks
			}{&whole[0], &parts[shard]} {
				s.Counts.Add(at, n)
				s.Peaks.Add(at, n)
			}
			total, peak = total+n, max(peak, n)
		}
		merged := parts[2]
		for _, p := range parts[:2] {
			merged.Counts.Merge(p.Counts)
			merged.Peaks.Merge(p.Peaks)
		}
		if diff := cmp.Diff(merged, whole[0]); diff != "" {
			t.Fatalf("seed %d: merged and whole differ (-merged +whole):\n%s", seed, diff)
		}
		if got := addUp(whole[0].Counts.N); got != total || len(whole[0].Counts.N) > Buckets {
			t.Errorf("seed %d: got %d events in %d buckets, want %d in at most %d", seed, got, len(whole[0].Counts.N), total, Buckets)
		}
		wide := whole[0].Peaks.Widened(whole[0].Peaks.Width * 8)
		if got := top(wide.N); got != peak || wide.Width != whole[0].Peaks.Width*8 {
			t.Errorf("seed %d: got a peak of %d at width %d, want %d", seed, got, wide.Width, peak)
		}
	}
}

func TestMergeLeavesTheOtherAlone(t *testing.T) {
	var a, b Counts
	a.Add(1000*Narrowest, 1)
	b.Add(0, 1)
	b.Add(Narrowest, 1)
	a.Merge(b)
	if want := (Counts{Width: Narrowest, N: []int64{1, 1}}); !cmp.Equal(b, want) {
		t.Errorf("got %v after it was merged into a wider one, want %v", b, want)
	}
}

func addUp(all []int64) (n int64) {
	for _, v := range all {
		n += v
	}
	return n
}

func top(all []int64) (n int64) {
	for _, v := range all {
		n = max(n, v)
	}
	return n
}
