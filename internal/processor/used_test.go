package processor

import (
	"runtime"
	"testing"
)

// TestUsedRises works until the system counts it, which says nothing of how fast.
func TestUsedRises(t *testing.T) {
	before, err := Used()
	if err != nil {
		t.Skipf("%s: %v", runtime.GOOS, err)
	}
	for after := before; after <= before; {
		if after, err = Used(); err != nil {
			t.Fatal(err)
		}
	}
}
