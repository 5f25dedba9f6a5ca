package partition

import (
	"fmt"
	"testing"
)

// TestOf: names that differ in their last letters fall into all parts.
func TestOf(t *testing.T) {
	seen := map[int]int{}
	for i := range 100 * Count {
		seen[Of(fmt.Sprintf("key-%d", i))]++
	}
	if len(seen) != Count {
		t.Errorf("keys fall into %d parts, want %d", len(seen), Count)
	}
}

// TestRing: once it is full the oldest goes, unless it was forgotten before.
func TestRing(t *testing.T) {
	var (
		r      Ring[int]
		a, b   int
		places = 8192 / Count
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
