package processor

import (
	"runtime"
	"testing"
)

// TestUsedRises keeps the processor busy until the used time rises; the speed
// does not matter.
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
