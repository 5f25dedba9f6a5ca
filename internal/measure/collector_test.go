package measure

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// feed gives c the calls and returns of ops in the order of time, calls first.
func feed(c *Collector, ops ...history.Op) {
	var events []history.Event
	for i := range ops {
		events = append(events, history.Event{Phase: history.Call, Op: &ops[i]})
		if ops[i].Return != history.Never {
			events = append(events, history.Event{Phase: history.Return, Op: &ops[i]})
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int {
		return cmp.Or(cmp.Compare(stamp(a), stamp(b)), cmp.Compare(a.Phase, b.Phase))
	})
	for _, ev := range events {
		c.Add(ev)
	}
}

func stamp(ev history.Event) int64 {
	if ev.Phase == history.Return {
		return ev.Op.Return
	}
	return ev.Op.Call
}

func op(kind history.Kind, outcome history.Outcome, hold, from, to int64) history.Op {
	o := history.Op{Kind: kind, Outcome: outcome, Hold: hold, Key: "k", Call: from, Return: to}
	if kind == history.Acquire {
		o.Attempts = 1
	}
	return o
}

func acquire(hold, from, to int64) history.Op { return op(history.Acquire, history.OK, hold, from, to) }
func release(hold, from, to int64) history.Op { return op(history.Release, history.OK, hold, from, to) }

func measured(h history.Header, end int64, ops ...history.Op) Measures {
	c := New(h)
	feed(c, ops...)
	return c.Result(history.End{Trailer: history.Trailer{EndNS: end}})
}

func TestHandoff(t *testing.T) {
	late := release(1, 20, 25)
	late.Late = true
	delayed := release(1, 20, 25)
	delayed.Delay = 100
	cases := []struct {
		name string
		ops  []history.Op
		want []int64
	}{
		{"somebody waited", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), release(1, 20, 25)}, []int64{10}},
		{"granted before the release returned", []history.Op{acquire(1, 0, 5), acquire(2, 10, 23), release(1, 20, 25)}, []int64{3}},
		{"nobody waited", []history.Op{acquire(1, 0, 5), release(1, 20, 25), acquire(2, 40, 43)}, nil},
		{"called at the very stamp of the release", []history.Op{acquire(1, 0, 5), release(1, 20, 25), acquire(2, 20, 43)}, nil},
		{"release answered lost", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), op(history.Release, history.LossReported, 1, 20, 25)}, nil},
		{"release unknown", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), op(history.Release, history.Unknown, 1, 20, 25)}, nil},
		{"took effect late", []history.Op{acquire(1, 0, 5), acquire(2, 10, 30), late}, nil},
		{"others kept out on purpose", []history.Op{acquire(1, 0, 5), acquire(2, 10, 130), delayed}, nil},
		{"release by one who was overtaken", []history.Op{acquire(1, 0, 5), acquire(2, 6, 8), acquire(3, 10, 30), release(1, 20, 25)}, nil},
		{"only the first grant after a release", []history.Op{acquire(1, 0, 5), acquire(2, 6, 30), acquire(3, 7, 32), release(1, 20, 25)}, []int64{10}},
		{"a failed release frees nothing", []history.Op{acquire(1, 0, 5), acquire(2, 6, 30), op(history.Release, history.Failed, 1, 10, 12), release(1, 20, 25)}, []int64{10}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := measured(history.Header{}, 1000, c.ops...)
			if diff := gocmp.Diff(values(m.Measured.Latency(Handoff)), c.want); diff != "" {
				t.Errorf("hand-offs (-got +want):\n%s", diff)
			}
		})
	}
}

// values lists the recorded values; exact, since small values are not rounded.
func values(l *Latency) []int64 {
	if l.Histogram() == nil {
		return nil
	}
	var vs []int64
	for _, bar := range l.Histogram().Distribution() {
		for range bar.Count {
			vs = append(vs, bar.From)
		}
	}
	return vs
}

func TestNestedAcquires(t *testing.T) {
	ops := []history.Op{
		acquire(1, 0, 5), acquire(1, 6, 8), acquire(2, 9, 50),
		release(1, 10, 12), release(1, 30, 33),
	}
	cases := []struct {
		reacquire string
		holds     []int64
		handoffs  []int64
	}{
		{"nested", []int64{25}, []int64{20}},
		// The first release frees the key; the second finds nothing to give up
		// and the key still free.
		{"refreshed", []int64{5}, []int64{20}},
	}
	for _, c := range cases {
		t.Run(c.reacquire, func(t *testing.T) {
			m := measured(history.Header{Reacquire: c.reacquire}, 100, ops...)
			if got, want := m.Measured.Counts, (Counts{Grants: 2, Nested: 1, Attempts: 3}); got != want {
				t.Errorf("counts: got %+v, want %+v", got, want)
			}
			if diff := gocmp.Diff(values(m.Measured.Latency(Hold)), c.holds); diff != "" {
				t.Errorf("holds (-got +want):\n%s", diff)
			}
			if diff := gocmp.Diff(values(m.Measured.Latency(Handoff)), c.handoffs); diff != "" {
				t.Errorf("hand-offs (-got +want):\n%s", diff)
			}
		})
	}
}

func TestCountsAndLatencies(t *testing.T) {
	lost := op(history.Release, history.LossReported, 1, 60, 63)
	m := measured(history.Header{}, 1000,
		acquire(1, 0, 5),
		op(history.Acquire, history.Refused, 0, 10, 17),
		op(history.Acquire, history.Unknown, 0, 20, history.Never),
		op(history.Acquire, history.Failed, 0, 30, 31),
		op(history.Extend, history.OK, 1, 40, 44),
		op(history.Extend, history.Unknown, 1, 50, 59),
		lost,
		op(history.Read, history.Unknown, 1, 70, 90), // not an operation on the lock
	)
	want := Counts{Grants: 1, Refused: 1, Unknown: 2, Failed: 1, Lost: 1, Attempts: 4}
	if got := m.Measured.Counts; got != want {
		t.Errorf("counts: got %+v, want %+v", got, want)
	}
	for op, want := range map[Op][]int64{Acquire: {5}, Refused: {7}, Extend: {4, 9}, Release: {3}, Hold: {55}} {
		if diff := gocmp.Diff(values(m.Measured.Latency(op)), want); diff != "" {
			t.Errorf("%v (-got +want):\n%s", op, diff)
		}
	}
	if m.AttemptsPerGrant != 4 {
		t.Errorf("attempts per grant: got %v, want 4", m.AttemptsPerGrant)
	}
}

func TestIntendedStart(t *testing.T) {
	due := func(at int64, o history.Op) history.Op {
		o.Intended = at
		return o
	}
	open := []history.Op{
		due(1, acquire(1, 10, 15)), release(1, 20, 21),
		due(2, op(history.Acquire, history.Refused, 0, 12, 17)),
		due(3, op(history.Acquire, history.Unknown, 0, 23, history.Never)),
		due(40, acquire(2, 40, 44)),
	}
	closed := []history.Op{acquire(1, 10, 15), release(1, 20, 21), op(history.Acquire, history.Refused, 0, 12, 17)}
	for _, c := range []struct {
		name string
		ops  []history.Op
		want map[Op][]int64
	}{
		{"open loop", open, map[Op][]int64{Acquire: {4, 14}, Service: {4, 5}, Refused: {15}, Lag: {0, 9, 10, 20}, Release: {1}}},
		{"closed loop", closed, map[Op][]int64{Acquire: {5}, Service: {5}, Refused: {5}, Lag: nil, Release: {1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := measured(history.Header{}, 1000, c.ops...)
			for op, want := range c.want {
				if diff := gocmp.Diff(values(m.Measured.Latency(op)), want); diff != "" {
					t.Errorf("%v (-got +want):\n%s", op, diff)
				}
			}
			if got, want := m.Measured.OpenLoop(), c.name == "open loop"; got != want {
				t.Errorf("open loop: got %v, want %v", got, want)
			}
		})
	}
}

func TestWarmupIsLeftOut(t *testing.T) {
	h := history.Header{WarmupNS: int64(time.Second)}
	c := New(h)
	sec := int64(time.Second)
	feed(c,
		acquire(1, 0, 10), release(1, 20, 30), // all in the warm-up
		acquire(2, sec-5, sec+5), release(2, sec+10, sec+20), // begun in it, returned after
		acquire(3, 2*sec, 2*sec+1), release(3, 2*sec+2, 2*sec+3),
	)
	m := c.Result(history.End{Trailer: history.Trailer{EndNS: 3 * sec, Commands: 12}})
	if m.Warmup.Grants != 1 || m.Measured.Grants != 2 {
		t.Errorf("grants: got %d and %d, want 1 and 2", m.Warmup.Grants, m.Measured.Grants)
	}
	if m.GrantsPerSecond != 1 {
		t.Errorf("grants/s: got %v, want 1 (2 in 2 s)", m.GrantsPerSecond)
	}
	if m.CommandsPerGrant != 4 {
		t.Errorf("commands per grant: got %v, want 4 (12 for 3, the warm-up's included)", m.CommandsPerGrant)
	}
	if got := m.Warmup.Latency(Acquire).Count(); got != 1 {
		t.Errorf("acquires in the warm-up: got %d, want 1", got)
	}
}

func TestSpan(t *testing.T) {
	partial := history.End{Partial: true}
	cases := []struct {
		name string
		end  history.End
		want time.Duration
	}{
		{"whole", history.End{Trailer: history.Trailer{EndNS: 5000}}, 5000},
		{"partial: the last stamp", partial, 400},
		{"a grant after the clients were told to stop", history.End{Trailer: history.Trailer{EndNS: 100}}, 310},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			col := New(history.Header{})
			feed(col, acquire(1, 0, 310))
			cut := history.Op{Call: 400}
			col.Add(history.Event{Phase: history.Cut, Op: &cut})
			if got := col.Result(c.end).Span; got != c.want {
				t.Errorf("span: got %v, want %v", got, c.want)
			}
		})
	}
}

func TestNothingMeasured(t *testing.T) {
	m := measured(history.Header{WarmupNS: 50}, 10)
	if m.Span != 0 || m.GrantsPerSecond != 0 || m.AttemptsPerGrant != 0 || m.CommandsPerGrant != 0 {
		t.Errorf("got %v, %v, %v, %v, want zeros", m.Span, m.GrantsPerSecond, m.AttemptsPerGrant, m.CommandsPerGrant)
	}
	l := m.Measured.Latency(Acquire)
	if l.Count() != 0 || l.At(99) != 0 || l.Max() != 0 {
		t.Errorf("an empty latency: got %d, %v, %v, want zeros", l.Count(), l.At(99), l.Max())
	}
}

func TestOutOfRangeIsCounted(t *testing.T) {
	m := measured(history.Header{}, 0, acquire(1, 0, 7*int64(time.Hour)), acquire(2, 30, 35))
	l := m.Measured.Latency(Acquire)
	if l.OutOfRange != 1 || l.Count() != 1 {
		t.Errorf("got %d out of range and %d in it, want 1 and 1", l.OutOfRange, l.Count())
	}
}

func TestPercentiles(t *testing.T) {
	var l Latency
	for i := range int64(1000) {
		l.record(i + 1)
	}
	for p, want := range map[float64]time.Duration{50: 500, 90: 900, 99: 990, 99.9: 999} {
		if got := l.At(p); got != want {
			t.Errorf("p%v: got %v, want %v", p, got, want)
		}
	}
	if l.Max() != 1000 {
		t.Errorf("max: got %v, want 1µs", l.Max())
	}
}

// TestMemoryFollowsOpenHolds keeps the collector from remembering every grant.
func TestMemoryFollowsOpenHolds(t *testing.T) {
	c := New(history.Header{})
	for i := range int64(1000) {
		feed(c, acquire(i+1, 10*i, 10*i+1), release(i+1, 10*i+2, 10*i+3))
	}
	if len(c.open) != 0 || len(c.keys) != 1 {
		t.Errorf("got %d holds and %d keys kept, want 0 and 1", len(c.open), len(c.keys))
	}
}

func BenchmarkCollector(b *testing.B) {
	c := New(history.Header{})
	keys := [...]string{"stock-1", "stock-2", "stock-3", "stock-4"}
	a, r := acquire(0, 0, 0), release(0, 0, 0)
	for i := range int64(b.N) {
		a.Hold, a.Key, a.Call, a.Return = i+1, keys[i%4], 1000*i, 1000*i+300
		r.Hold, r.Key, r.Call, r.Return = i+1, keys[i%4], 1000*i+400, 1000*i+600
		c.Add(history.Event{Phase: history.Call, Op: &a})
		c.Add(history.Event{Phase: history.Return, Op: &a})
		c.Add(history.Event{Phase: history.Call, Op: &r})
		c.Add(history.Event{Phase: history.Return, Op: &r})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/op-recorded")
}

func TestCostsThatNobodyKnowsAreNotZero(t *testing.T) {
	cpu := int64(0)
	known := history.Trailer{EndNS: 1000, Traffic: &runinfo.Traffic{Sent: 300, Received: 30}, ServerCPUNS: &cpu}
	for _, c := range []struct {
		name    string
		trailer history.Trailer
		ops     []history.Op
		want    [3]Cost
	}{
		{"known", known, []history.Op{acquire(1, 0, 5), acquire(2, 600, 605)}, [3]Cost{{150, true}, {15, true}, {0, true}}},
		{"not told", history.Trailer{EndNS: 1000}, []history.Op{acquire(1, 0, 5)}, [3]Cost{}},
		{"nothing granted", known, nil, [3]Cost{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			col := New(history.Header{WarmupNS: 500})
			feed(col, c.ops...)
			m := col.Result(history.End{Trailer: c.trailer})
			if got := [3]Cost{m.Sent, m.Received, m.ServerCPU}; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestCrashedClientsHoldNothing keeps the collector from remembering holds that nobody will
// release.
func TestCrashedClientsHoldNothing(t *testing.T) {
	c := New(history.Header{})
	for i := range int64(100) {
		grant, death := acquire(i+1, 10*i, 10*i+1), op(history.Death, history.OK, 0, 10*i+2, 10*i+2)
		grant.Client, death.Client, death.Key = int32(i), int32(i), ""
		feed(c, grant)
		c.Add(history.Event{Phase: history.Call, Op: &death})
	}
	if len(c.open) != 0 {
		t.Errorf("got %d holds of crashed clients kept, want none", len(c.open))
	}
}
