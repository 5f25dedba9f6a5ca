package pending

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/history"
)

// TestTable follows two clients of one process; one of them dies.
func TestTable(t *testing.T) {
	table := NewClients()
	first, second := &history.Op{Client: 1, Process: 7, Kind: history.Acquire}, &history.Op{Client: 2, Process: 7, Kind: history.Acquire}
	table.Get(1).Called(first)
	table.Get(2).Called(second)
	table.Returned(first)
	if cl := table.Get(1); len(cl.UnderWay) != 0 || cl.Last != first || !table.Busy() {
		t.Errorf("after the return: under way %v, last %v, busy %t", cl.UnderWay, cl.Last, table.Busy())
	}
	table.Get(2).Dead = true
	table.Retire(2)
	if !table.LivesOn(2) || !table.Gone(2) || table.Gone(1) || !table.Gone(3) || table.Busy() {
		t.Error("of a dead client, one alive, and one that is not known: wrong")
	}
	if n := len(slices.Collect(table.Each)); n != 2 {
		t.Errorf("%d clients, want 2", n)
	}
	table = table.Empty()
	if table.Find(1) != nil || table.Get(1).Last != nil {
		t.Error("emptied, it knows a client")
	}
}

// TestTheDeadAreForgotten: of many that died only the newest are known.
func TestTheDeadAreForgotten(t *testing.T) {
	table := NewClients()
	for id := range int32(maxDead + 1) {
		table.Get(id).Dead = true
		table.Retire(id)
	}
	if table.Find(0) != nil || table.Find(1) == nil {
		t.Error("want the first of the dead forgotten, and no other")
	}
}

// TestValues: each client has its own.
func TestValues(t *testing.T) {
	var v Values
	v.Raise(1, 5)
	v.Raise(1, 3)
	v.Lower(2, 4)
	v.Lower(2, 2)
	a, _ := v.Get(1)
	if b := v.Of(2); a != 5 || b != 2 || v.Highest() != 5 {
		t.Errorf("got %d and %d, highest %d; want 5 and 2, highest 5", a, b, v.Highest())
	}
	if n := v.Remove(1); n != 5 || v.Remove(1) != 0 {
		t.Errorf("removed %d, want 5, and then nothing", n)
	}
}
