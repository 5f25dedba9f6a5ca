package history

import (
	"slices"
	"testing"
	"time"
)

// TestTapeSince: an event that is known only afterwards precedes the later
// ones.
func TestTapeSince(t *testing.T) {
	tape := NewTape(Header{})
	owner, seen := tape.Client(0, 0), tape.Client(1, 1)
	owner.Event(Pause, "", "before")
	from := time.Now()
	owner.Event(Resume, "", "since")
	seen.FaultSince(from, "standstill", 7)
	var notes []string
	last := int64(0)
	for ev, err := range tape.Source(End{}).Events() {
		if err != nil || ev.Op.Call < last {
			t.Errorf("%s at %d after %d, error %v", ev.Op.Note, ev.Op.Call, last, err)
		}
		last = ev.Op.Call
		notes = append(notes, ev.Op.Note)
	}
	if want := []string{"before", "standstill", "since"}; !slices.Equal(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
}
