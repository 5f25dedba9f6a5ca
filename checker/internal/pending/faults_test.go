package pending

import (
	"testing"

	"github.com/lockbench/lockbench"
)

// TestStrikes checks that each fault of a server counts once, also if a watcher records it at both
// ends of the window in which it happened.
func TestStrikes(t *testing.T) {
	var f Faults
	want := func(n int64, under lockbench.Conditions) {
		t.Helper()
		if got, found := f.Strikes(under); !found || got != n {
			t.Errorf("%s: got %d, %t, want %d", under, got, found, n)
		}
	}
	for range 3 {
		f.Struck(lockbench.ScriptFlush)
	}
	want(3, lockbench.ScriptFlush|lockbench.Outlived)
	for range 2 { // two restarts that a watcher saw
		f.Struck(lockbench.StateLoss)
		f.OpenWindow(lockbench.StateLoss)
		f.Struck(lockbench.Failover)
		f.Struck(lockbench.Failover)
		f.CloseWindow()
	}
	want(2, lockbench.Failover)
	want(2, lockbench.StateLoss|lockbench.ScriptFlush)
	if n, found := f.Strikes(lockbench.Outlived); found {
		t.Errorf("outlived: got %d strikes", n)
	}
}
