package measure

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/series"
)

const bucket = series.Narrowest

func event(kind history.Kind, client int32, at int64, note string, value int64) history.Op {
	return history.Op{Kind: kind, Client: client, Call: at, Return: at, Note: note, Value: value}
}

func counts(n ...int64) series.Counts { return series.Counts{Width: bucket, N: n} }

func TestTimeline(t *testing.T) {
	got := measured(history.Header{}, 4*bucket,
		acquire(1, 0, 5), release(1, 6, 8),
		acquire(2, bucket-3, bucket+4), acquire(3, bucket, bucket+2),
		op(history.Acquire, history.Refused, 0, 2*bucket, 2*bucket+1),
		op(history.Release, history.LossReported, 2, bucket, bucket+1),
		op(history.Extend, history.Unknown, 3, 3*bucket, history.Never),
		op(history.Write, history.Failed, 3, 3*bucket, 3*bucket+1),
	).Timeline
	want := Timeline{
		Grants: counts(1, 2), Refused: counts(0, 0, 1), Troubled: counts(0, 1, 0, 1),
		Slowest: series.Peaks(counts(5, 7)),
	}
	if diff := gocmp.Diff(got, want, cmpopts.IgnoreUnexported(Timeline{})); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestFaultLines(t *testing.T) {
	pause := func(client int32, at int64) history.Op { return event(history.Pause, client, at, "", 0) }
	resume := func(client int32, at int64) history.Op { return event(history.Resume, client, at, "", 0) }
	fault := func(at int64, note string, value int64) history.Op {
		return event(history.Fault, -1, at, note, value)
	}
	many := func(note string) (ops []history.Op) {
		for i := range int64(100) {
			ops = append(ops, fault(100*i, note, 10+i/50*80)) // the later half is nearer together
		}
		return ops
	}
	for _, c := range []struct {
		name string
		ops  []history.Op
		want []FaultLine
	}{
		{"none", nil, nil},
		{"occurrences of no length", []history.Op{fault(1, "restart", 0), fault(2, "lost-reply", 0), fault(bucket, "restart", 0)},
			[]FaultLine{{Note: "restart", Occurrences: counts(1, 1)}, {Note: "lost-reply", Occurrences: counts(1)}}},
		{"a server that stands still", []history.Op{fault(5, "server-pause", 99), fault(80, "server-resume", 0), fault(90, "server-pause", 99)},
			[]FaultLine{{Note: "server-pause", Occurrences: counts(2), Periods: []Period{{5, 80}, {90, 1000}}}}},
		{"an eviction", []history.Op{fault(5, "evicting", 0), fault(80, "evict", 0)},
			[]FaultLine{{Note: "evict", Occurrences: counts(1), Periods: []Period{{5, 80}}}}},
		{"a clock that is stepped", []history.Op{fault(5, "stepping", 99), fault(80, "clock-step", 99), fault(bucket, "stepping", -99), fault(bucket+5, "clock-step", -99)},
			[]FaultLine{{Note: "clock-step", Occurrences: counts(1, 1), Periods: []Period{{5, 80}, {bucket, bucket + 5}}}}},
		{"an end without a beginning", []history.Op{fault(5, "evict", 0), resume(1, 6)},
			[]FaultLine{{Note: "evict"}}},
		{"clients that stand still by turns and at once", []history.Op{pause(1, 10), pause(2, 20), resume(1, 30), resume(2, 40), pause(1, 50), resume(1, 60)},
			[]FaultLine{{Note: "pause", Occurrences: counts(3), Periods: []Period{{10, 40}, {50, 60}}}}},
		{"one that dies standing still", []history.Op{pause(1, 10), event(history.Death, 1, 30, "", 0), resume(1, 50)},
			[]FaultLine{{Note: "pause", Occurrences: counts(1), Periods: []Period{{10, 30}}}, {Note: "death", Occurrences: counts(1)}}},
		{"faults that tell how long they last", []history.Op{fault(10, "slow", 20), fault(25, "slow", 20), fault(100, "slow", 5)},
			[]FaultLine{{Note: "slow", Occurrences: counts(3), Periods: []Period{{10, 45}, {100, 105}}}}},
		{"the nearest are put together", many("slow"), []FaultLine{{Note: "slow", Occurrences: counts(100), Periods: joined()}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := measured(history.Header{}, 1000, c.ops...).Timeline.Faults
			if diff := gocmp.Diff(got, c.want, cmpopts.IgnoreUnexported(FaultLine{})); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// joined are the periods of a hundred after joining to 64: the first fifty are 10 ns
// long, the others 90 and therefore nearer together.
func joined() (all []Period) {
	for i := range int64(50) {
		all = append(all, Period{100 * i, 100*i + 10})
	}
	all = append(all, Period{5000, 8690})
	for i := range int64(13) {
		all = append(all, Period{8700 + 100*i, 8790 + 100*i})
	}
	return all
}

// TestTimelineStaysSmall has more kinds of faults than the timeline keeps.
func TestTimelineStaysSmall(t *testing.T) {
	var ops []history.Op
	for i := range int64(1000) {
		ops = append(ops, event(history.Fault, -1, i*bucket, fmt.Sprint("fault-", i), 0))
	}
	got := measured(history.Header{}, 0, ops...).Timeline.Faults
	occurrences := int64(0)
	for _, f := range got {
		for _, n := range f.Occurrences.N {
			occurrences += n
		}
	}
	if last := got[len(got)-1]; len(got) != maxNotes+1 || last.Note != otherNote || occurrences != 1000 {
		t.Errorf("got %d lines with %d occurrences, the last for %q, want %d with 1000, the last for %q", len(got), occurrences, last.Note, maxNotes+1, otherNote)
	}
}

// TestJoinedFaultLines checks that a fault of a server, which is on the record of each share, is one on the
// joined line, and that faults of clients add up.
func TestJoinedFaultLines(t *testing.T) {
	share := func(restarts ...int64) Measures {
		ops := []history.Op{event(history.Death, 1, 5, "crash", 0)}
		for _, at := range restarts {
			ops = append(ops, event(history.Fault, -1, at, "restart", 0), event(history.Fault, -1, at+1, "leases-prolonged", 0))
		}
		return measured(history.Header{}, 4*bucket, ops...)
	}
	for _, shares := range [][]Measures{{share(10), share(12, bucket)}, {share(12, bucket), share(10)}} {
		got := Join(shares...).Timeline.Faults
		for _, line := range got {
			if n := line.Count(); n != 2 {
				t.Errorf("%s: %d times, want 2", line.Note, n)
			}
		}
		if len(got) != 3 {
			t.Errorf("%+v", got)
		}
	}
}
