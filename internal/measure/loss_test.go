package measure

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/history"
)

// by is o of a client.
func by(client int32, o history.Op) history.Op {
	o.Client = client
	return o
}

// notice is the event of a hold's owner being told.
func notice(hold, at int64) history.Op {
	return op(history.Lost, history.OK, hold, at, history.Never)
}

func TestLossNotice(t *testing.T) {
	lost := func(kind history.Kind, from, to int64) history.Op { return op(kind, history.LossReported, 1, from, to) }
	cases := []struct {
		name string
		ops  []history.Op
		want []int64
	}{
		{"told after another was granted", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), notice(1, 70)}, []int64{40}},
		{"told in time", []history.Op{acquire(1, 0, 5), notice(1, 20), acquire(2, 25, 30)}, []int64{0}},
		{"told by the answer to a release", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), lost(history.Release, 50, 55)}, []int64{25}},
		{"told by the answer to an extend, and again", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), lost(history.Extend, 50, 55), notice(1, 70), lost(history.Release, 80, 85)}, []int64{25}},
		{"from the first that was granted", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), acquire(3, 31, 40), notice(1, 70)}, []int64{40}},
		{"not told", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), release(1, 50, 55)}, nil},
		{"no answer tells nothing", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), op(history.Release, history.Unknown, 1, 50, 55)}, nil},
		{"the new owner's own end is no notice", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), release(2, 50, 55)}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { wantDurations(t, LossNotice, c.ops, c.want) })
	}
}

func TestLeftTaken(t *testing.T) {
	gaveUp := func(from, to int64) history.Op { return by(7, op(history.Acquire, history.Unknown, 0, from, to)) }
	refused := func(from, to int64) history.Op {
		return by(8, op(history.Acquire, history.Refused, 0, from, to))
	}
	waited := func(hold, from, last, to int64) history.Op {
		o := acquire(hold, from, to)
		o.Attempt, o.Attempts = last, 3
		return o
	}
	cases := []struct {
		name string
		ops  []history.Op
		want []int64
	}{
		{"others are refused until it ends", []history.Op{gaveUp(0, 10), refused(20, 25), refused(40, 46), acquire(1, 60, 65)}, []int64{36}},
		{"a waiter is granted when it ends", []history.Op{gaveUp(0, 10), waited(1, 5, 60, 65)}, []int64{50}},
		{"a waiter that came later", []history.Op{gaveUp(0, 10), waited(1, 15, 60, 65)}, []int64{50}},
		{"granted at the first try, beside", []history.Op{gaveUp(0, 10), acquire(1, 5, 65)}, nil},
		{"granted beside, which others met", []history.Op{gaveUp(0, 10), acquire(1, 5, 65), refused(20, 25)}, nil},
		{"refused for the sake of who asked before", []history.Op{gaveUp(0, 10), refused(11, 14), acquire(1, 15, 65), refused(20, 25)}, []int64{4}},
		{"a key without holds' numbers", []history.Op{acquire(0, 0, 2), gaveUp(5, 10), refused(20, 25), acquire(0, 60, 65)}, nil},
		{"the first of several", []history.Op{gaveUp(0, 10), gaveUp(12, 20), refused(21, 25), acquire(1, 60, 65)}, []int64{15}},
		{"after a release", []history.Op{acquire(1, 0, 2), release(1, 3, 4), gaveUp(5, 10), refused(20, 25), acquire(2, 60, 65)}, []int64{15}},
		{"nobody met it", []history.Op{gaveUp(0, 10), acquire(1, 60, 65)}, nil},
		{"refused while it was under way", []history.Op{gaveUp(0, 10), refused(5, 25), acquire(1, 60, 65)}, nil},
		{"refused by the next owner, perhaps", []history.Op{gaveUp(0, 10), acquire(1, 12, 65), refused(20, 25)}, nil},
		{"somebody held the key", []history.Op{acquire(1, 0, 2), gaveUp(5, 10), refused(20, 25), release(1, 30, 31), acquire(2, 60, 65)}, nil},
		{"an owner died with it", []history.Op{by(3, acquire(1, 0, 2)), by(3, op(history.Death, history.OK, 0, 4, history.Never)), gaveUp(5, 10), refused(20, 25), acquire(2, 60, 65)}, nil},
		{"its release got no answer", []history.Op{acquire(1, 0, 2), op(history.Release, history.Unknown, 1, 3, 4), gaveUp(5, 10), refused(20, 25), acquire(2, 60, 65)}, nil},
		{"twice", []history.Op{gaveUp(0, 10), refused(20, 25), acquire(1, 60, 65), release(1, 66, 67), gaveUp(70, 80), refused(81, 85), acquire(2, 90, 91)}, []int64{5, 15}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { wantDurations(t, LeftTaken, c.ops, c.want) })
	}
}

// wantDurations wants these durations of op to be measured, from the shortest to the longest.
func wantDurations(t *testing.T, of Op, ops []history.Op, want []int64) {
	t.Helper()
	m := measured(history.Header{}, 1000, ops...)
	var got []int64
	if h := m.Measured.Latency(of).Histogram(); h != nil {
		for _, bar := range h.Distribution() {
			for range bar.Count {
				got = append(got, bar.From)
			}
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("want, got: %s", diff)
	}
}
