package count

import (
	"fmt"
	"math/bits"
	"testing"
)

// TestOf: names that differ in their last letters fall into all parts.
func TestOf(t *testing.T) {
	seen := map[int]int{}
	for i := range 100 * Partitions {
		seen[PartitionOf(fmt.Sprintf("key-%d", i))]++
	}
	if len(seen) != Partitions {
		t.Errorf("keys fall into %d parts, want %d", len(seen), Partitions)
	}
}

// TestMixedBySteps: the last eight bytes count for any length, and so does the length.
func TestMixedBySteps(t *testing.T) {
	for n := range 20 {
		name := "abcdefghijklmnopqrst"[:n]
		want := uint64(n)
		for _, b := range []byte(name[max(0, n-8):]) {
			want = bits.RotateLeft64(want, 8) ^ uint64(b)
		}
		if got := Hash(name); got != want*0x9e3779b97f4a7c15 {
			t.Errorf("%q: %x, want %x", name, got, want*0x9e3779b97f4a7c15)
		}
	}
}

// TestRing: once it is full the oldest goes, unless it was forgotten before.
func TestRing(t *testing.T) {
	var (
		r      Ring[int]
		a, b   int
		places = 8192 / Partitions
	)
	for range places {
		if _, full := r.Push(&a); full != nil {
			t.Fatal("full too early")
		}
	}
	r.Forget(1)
	for want, oldest := range []*int{&a, nil, &a} {
		if place, full := r.Push(&b); place != want || full != oldest {
			t.Errorf("push %d: at %d, %p has to go, want %p", want, place, full, oldest)
		}
	}
}
