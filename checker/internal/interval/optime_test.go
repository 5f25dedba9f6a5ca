package interval

import (
	"math"
	"testing"

	"github.com/lockbench/lockbench/history"
)

// TestOrderOfStamps: time counts first, then the number; equal stamps have no order.
func TestOrderOfStamps(t *testing.T) {
	rising := []Stamp{{T: -1}, {T: 3}, {3, 1}, {3, 2}, {T: 4}, Forever}
	for i, a := range rising {
		for j, b := range rising {
			if a.Before(b) != (i < j) {
				t.Errorf("%v before %v: %t", a, b, a.Before(b))
			}
			if Earlier(a, b) != rising[min(i, j)] || Later(a, b) != rising[max(i, j)] {
				t.Errorf("%v and %v: earlier %v, later %v", a, b, Earlier(a, b), Later(a, b))
			}
		}
	}
}

// TestLeases: an unrecorded lease counts as unbounded, and the requested lease counts if the
// outcome is unknown.
func TestLeases(t *testing.T) {
	for _, c := range []struct {
		op   history.Op
		want int64
	}{
		{history.Op{Granted: 7, Asked: 9}, 7},
		{history.Op{Asked: 9, Outcome: history.OK}, math.MaxInt64},
		{history.Op{Asked: 9, Outcome: history.Unknown}, 9},
		{history.Op{Granted: history.NotTold}, 1},
		{history.Op{Granted: history.NotTold, Asked: 9, Outcome: history.Unknown}, 1},
	} {
		if got := Lease(&c.op); got != c.want {
			t.Errorf("%+v: lease %d, want %d", c.op, got, c.want)
		}
	}
	if got := After(math.MaxInt64-1, 2); got != math.MaxInt64 {
		t.Errorf("after the end of time: %d", got)
	}
}
