package pending

import (
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// TestKeep: operations without an effect are forgotten first; the loss of one that may still
// act is recorded.
func TestKeep(t *testing.T) {
	var all Effects
	for i := range maxEffects {
		all.Keep(Effect{Cause: lockbench.Cancel, Op: &history.Op{Kind: history.Acquire, Client: int32(i)}, Superseded: i == 5})
	}
	if old, lost := all.Keep(Effect{Op: &history.Op{Client: 99}}); lost || old.Op.Client != 5 {
		t.Errorf("client %d made way (lost: %t), want 5, of which nothing is left", old.Op.Client, lost)
	}
	if old, lost := all.Keep(Effect{Op: &history.Op{Client: 99}}); !lost || old.Op.Client != 0 {
		t.Errorf("client %d made way (lost: %t), want 0, the oldest", old.Op.Client, lost)
	}
	if all.LeftBy(0) || !all.LeftBy(1) {
		t.Error("want client 0 forgotten, and client 1 not")
	}
}

// TestTouches: a command with a lost reply may have run; one that was cut did not, but its
// second try may have run later than its call; a release that was given up may run late.
func TestTouches(t *testing.T) {
	release := &history.Op{Kind: history.Release, Outcome: history.Unknown, Return: 5}
	answered := &history.Op{Kind: history.Release, Outcome: history.OK, Return: 5}
	for _, c := range []struct {
		name                string
		x                   Effect
		unanswered, touches bool
	}{
		{"reply lost", Effect{Cause: lockbench.LostReply, Op: release}, true, true},
		{"cut", Effect{Cause: lockbench.LostReply, Op: release, Cut: true}, false, false},
		{"cut and tried again", Effect{Cause: lockbench.LostReply, Op: answered, Cut: true}, false, true},
		{"given up", Effect{Cause: lockbench.Cancel, Op: release}, false, false},
		{"given up and ran late", Effect{Cause: lockbench.Cancel, Op: release, Until: interval.Stamp{T: 9}}, true, true},
	} {
		if c.x.Unanswered() != c.unanswered || c.x.Touches() != c.touches {
			t.Errorf("%s: unanswered %t, touches %t", c.name, c.x.Unanswered(), c.x.Touches())
		}
	}
	late := Effect{Cause: lockbench.Cancel, Op: release, Until: interval.Stamp{T: 9}}
	if got := late.Acted().T; got != 9 {
		t.Errorf("acted by %d, want 9", got)
	}
}

// TestBound: the effect of an affected operation ends once.
func TestBound(t *testing.T) {
	op := &history.Op{Kind: history.Acquire}
	all := Effects{{Op: op}}
	if !all.Unbounded() || !all.Bound(op) || all.Bound(op) || all.Unbounded() {
		t.Error("want it unbounded until the first time that it is bound")
	}
}
