package history_test

import (
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestTakenAwayNamesTheHold looks for the victim's hold in the event.
func TestTakenAwayNamesTheHold(t *testing.T) {
	tape := history.NewTape(history.Header{})
	victim := tape.Client(2, 2)
	if _, err := victim.Locker(&scripted{lease: &plain{}}).Acquire(ctx, "k", lockbench.Options{}); err != nil {
		t.Fatal(err)
	}
	victim.TakenAway("k", 1)
	var got history.Op
	for ev := range tape.Source(history.End{}).Events() {
		got = *ev.Op
	}
	if got.Kind != history.Fault || got.Note != "taken-away" || got.Client != 2 || got.Value != 1 || got.Hold != 2<<32|1 {
		t.Errorf("got %+v, want a fault of client 2, by client 1, of hold %d", got, int64(2<<32|1))
	}
}
