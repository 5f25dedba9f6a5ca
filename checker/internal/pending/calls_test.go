package pending

import (
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
)

// TestCalls: a call matters to others until it is over; one of unknown outcome at any time, also
// after its sender's death; and so do calls that are no longer remembered one by one.
func TestCalls(t *testing.T) {
	var s Calls
	beside := func(client int32, from int64) bool {
		_, beside := s.Concurrent(client, interval.Stamp{T: from})
		return beside
	}
	s.Sent(1, interval.Stamp{T: 10}, lockbench.Outlived)
	if beside(1, 5) || !beside(2, 10) || beside(2, 11) {
		t.Error("want it to matter to client 2 until 10")
	}
	if under, _ := s.Concurrent(2, interval.Stamp{T: 5}); under != lockbench.Outlived {
		t.Errorf("touched by %v, want outlived", under)
	}
	for range maxCalls {
		s.Sent(2, interval.Stamp{T: 4}, 0)
	}
	if !beside(2, 10) || beside(2, 11) {
		t.Error("want the forgotten one to matter until 10")
	}
	s.SentUnknown(1, lockbench.Cancel)
	if !s.Pending(1) || !s.Retire(1) || s.Pending(1) || !s.Pending(Crashed) || !beside(1, 99) {
		t.Error("want what the dead sent to be pending")
	}
	s.Acted(Crashed)
	if s.Pending(Crashed) || beside(1, 99) {
		t.Error("want it over once it has acted")
	}
	if under, _ := s.Concurrent(3, interval.Stamp{T: 10}); under != lockbench.Outlived|lockbench.Cancel {
		t.Errorf("touched by %v, want by what the forgotten one and the pending one were", under)
	}
	if s = s.Empty(); beside(1, 0) {
		t.Error("emptied, it has calls")
	}
}

// TestTouch: a fault of a client touches its calls under way, and no others.
func TestTouch(t *testing.T) {
	var s Calls
	s.Sent(1, interval.Stamp{T: 10}, 0)
	s.Touch(1, lockbench.Pause, interval.Stamp{T: 11})
	s.Touch(2, lockbench.Crash, interval.Stamp{T: 5})
	if under, _ := s.Concurrent(3, interval.Stamp{T: 5}); under != 0 {
		t.Errorf("touched by %v, want nothing", under)
	}
	s.Touch(1, lockbench.Pause, interval.Stamp{T: 10})
	if under, _ := s.Concurrent(3, interval.Stamp{T: 5}); under != lockbench.Pause {
		t.Errorf("touched by %v, want pause", under)
	}
}
