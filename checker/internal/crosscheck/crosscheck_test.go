package crosscheck

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// shared are the operations of A and B: A is granted the key from 1 to 11 and extends it by another
// 20 from 8 on; B is granted it at 22, within A's extended lease.
func shared() []*history.Op {
	return []*history.Op{
		{Kind: history.Acquire, Outcome: history.OK, Client: 1, Hold: 1, Call: 1, Return: 2, Attempt: 1, Granted: 10},
		{Kind: history.Extend, Outcome: history.OK, Client: 1, Hold: 1, Call: 8, Return: 9, Attempt: history.NoStamp, Granted: 20},
		{Kind: history.Acquire, Outcome: history.OK, Client: 2, Hold: 2, Call: 20, Return: 22, Attempt: 20, Granted: 10},
	}
}

// TestSegments: an extend in time moves the end, a death ends the interval earlier.
func TestSegments(t *testing.T) {
	b := Segment{Client: 2, Attempt: interval.Stamp{T: 20}, Start: interval.Stamp{T: 22}, End: interval.Stamp{T: 30}}
	for _, c := range []struct {
		name     string
		departed []*history.Op
		end      int64
		conflict bool
	}{
		{"alive", nil, 28, true},
		{"dead", []*history.Op{{Kind: history.Death, Client: 1, Call: 15}}, 15, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Segments(shared(), c.departed, interval.Rules{})
			a := Segment{Client: 1, Attempt: interval.Stamp{T: 1}, Start: interval.Stamp{T: 2}, End: interval.Stamp{T: c.end}}
			if diff := cmp.Diff(got, []Segment{a, b}); diff != "" {
				t.Errorf("segments (-got +want):\n%s", diff)
			}
			sound, known := Linearizable(got, 0)
			if InConflict(got) != c.conflict || sound == c.conflict || !known {
				t.Errorf("in conflict %t, sound %t, known %t; want conflict %t", InConflict(got), sound, known, c.conflict)
			}
		})
	}
}

// TestFew: of a key with many operations none is kept, and of too many keys the last are not.
func TestFew(t *testing.T) {
	var f SmallHistory
	keys := 0
	for _, op := range shared() {
		f.Keep(op, &keys)
	}
	if sound, known := f.Sound(nil, interval.Rules{}); sound || !known || !f.Has(2) || keys != 1 {
		t.Errorf("sound %t, known %t, has client 2 %t, of %d keys", sound, known, f.Has(2), keys)
	}
	for range maxOps {
		f.Keep(shared()[0], &keys)
	}
	if _, known := f.Sound(nil, interval.Rules{}); known || f.Has(1) || keys != 0 {
		t.Errorf("of many: known %t, has client 1 %t, of %d keys", known, f.Has(1), keys)
	}
	keys = maxKeys
	var late SmallHistory
	if late.Keep(shared()[0], &keys); late.Has(1) || keys != maxKeys {
		t.Error("one more key is kept")
	}
}

// BenchmarkPorcupine judges the same grants, a lock at a time, by search.
func BenchmarkPorcupine(b *testing.B) {
	const grants = 200
	var all []Segment
	for i := range int64(grants) {
		all = append(all, Segment{Client: int32(i % 32), Attempt: interval.Stamp{T: 10 * i}, Start: interval.Stamp{T: 10*i + 2}, End: interval.Stamp{T: 10*i + 8}})
	}
	for b.Loop() {
		Linearizable(all, 0)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*grants), "ns/grant")
}
