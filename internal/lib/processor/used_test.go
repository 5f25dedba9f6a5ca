package processor

import (
	"runtime"
	"testing"
)

// TestBusy keeps a processor busy until that shows.
func TestBusy(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("%s: unknown there", runtime.GOOS)
	}
	for busy := Busy(); ; {
		if share := busy(); share != nil {
			if *share < 0 || *share > 1 {
				t.Errorf("%v of the time is used", *share)
			}
			if *share > 0 {
				return
			}
		}
	}
}

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
