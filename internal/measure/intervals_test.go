package measure

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/history"
)

// TestIntervals sees that each duration is in the interval in which it ended, and in no
// other, and that the intervals together are the whole.
func TestIntervals(t *testing.T) {
	type row struct {
		Op       string
		From, To int64
		Count    int64
		Max      int64
	}
	var got []row
	i := NewIntervals(history.Header{WarmupNS: 150}, 100, func(in Interval) {
		got = append(got, row{in.Op.String(), in.From, in.To, in.Values.TotalCount(), in.Values.Max()})
	})
	for _, op := range []history.Op{
		acquire(1, 0, 5), release(1, 10, 12),
		acquire(2, 20, 130), release(2, 140, 141), // ends in the second
		acquire(3, 760, 790), release(3, 799, 801), // far on; held to the end of its interval
	} {
		i.Add(history.Event{Phase: history.Call, Op: &op})
		i.Add(history.Event{Phase: history.Return, Op: &op})
	}
	i.Finish(history.End{Trailer: history.Trailer{EndNS: 850}})
	want := []row{
		{"acquire", 0, 100, 1, 5}, {"release", 0, 100, 1, 2}, {"hold", 0, 100, 1, 5},
		{"acquire", 100, 200, 1, 110}, {"release", 100, 200, 1, 1}, {"hold", 100, 200, 1, 10},
		{"acquire", 700, 800, 1, 30}, {"hold", 700, 800, 1, 9},
		{"release", 800, 850, 1, 2},
	}
	if diff := gocmp.Diff(got, want); diff != "" {
		t.Errorf("intervals (-got +want):\n%s", diff)
	}
}
