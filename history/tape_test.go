package history_test

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// lines renders the events of a source, one a line.
func lines(t *testing.T, src history.Source) []string {
	t.Helper()
	var got []string
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		at, seq, end := ev.Op.Call, ev.Op.CallSeq, "call"
		if ev.Phase == history.Return {
			at, seq, end = ev.Op.Return, ev.Op.ReturnSeq, "return"
		}
		got = append(got, fmt.Sprintf("%v #%d %s %s %d", time.Duration(at), seq, end, ev.Op.Kind, ev.Op.Client))
	}
	return got
}

func TestTapeOrdersOneInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tape := history.NewTape(history.Header{})
		one, two := tape.Client(1, 1), tape.Client(2, 1)
		held, _ := one.Locker(&scripted{lease: &plain{}}).Acquire(ctx, "k", lockbench.Options{})
		inside := func() { _ = held.Release(ctx) }
		_, _ = two.Locker(&scripted{lease: &plain{}, during: inside}).Acquire(ctx, "k", lockbench.Options{})
		time.Sleep(time.Second)
		two.Fault("skew", -5)
		want := []string{
			"0s #1 call acquire 1", "0s #2 return acquire 1",
			"0s #3 call acquire 2", "0s #4 call release 1", "0s #5 return release 1", "0s #6 return acquire 2",
			"1s #7 call fault 2",
		}
		if diff := cmp.Diff(lines(t, tape.Source(history.End{})), want); diff != "" {
			t.Errorf("the events (-got +want):\n%s", diff)
		}
	})
}

// TestTapeIsARecorder lets both record the same, and compares the results except
// for the times and the words of errors, which a tape does not keep.
func TestTapeIsARecorder(t *testing.T) {
	for _, script := range []string{"a r a r", "a a w r w r a", "x a x a", "u a w", "a U a", "a F a", "a a L w a w"} {
		t.Run(script, func(t *testing.T) {
			tape := history.NewTape(history.Header{Reacquire: "nested"})
			perform(t, tape.Client(1, 1), script)
			got := calls(t, tape.Source(history.End{}))
			want := record(t, "nested", func(r *history.Recorder) { perform(t, r.Client(1, 1), script) })
			if diff := cmp.Diff(timeless(got), timeless(want)); diff != "" {
				t.Errorf("the tape and the recorder differ (-tape +recorder):\n%s", diff)
			}
		})
	}
}

func timeless(ops []history.Op) []history.Op {
	for i := range ops {
		ops[i].Note = ops[i].ErrorClass()
		op := &ops[i]
		if op.Attempt != history.NoStamp {
			op.Attempt -= op.Call
		}
		op.Call, op.Return, op.CallSeq, op.ReturnSeq = 0, 0, 0, 0
	}
	return ops
}

// TestNothingFollowsDeath has a client die inside an acquire that succeeds later.
func TestNothingFollowsDeath(t *testing.T) {
	events := func(c *history.Client) {
		inner := &scripted{lease: &plain{}, during: func() { c.Attempt("k"); c.Die("before"); c.Attempt("k") }}
		lease, err := c.Locker(inner).Acquire(ctx, "k", lockbench.Options{TTL: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		c.Event(history.Pause, "", "")
		c.Renewing("k")(time.Second, nil)
		_ = lease.Release(ctx)
		_, _ = c.Store(nowhere{}).Read(ctx, "k")
		c.Die("again")
	}
	tape := history.NewTape(history.Header{})
	events(tape.Client(1, 1))
	for name, ops := range map[string][]history.Op{
		"tape":     calls(t, tape.Source(history.End{})),
		"recorder": record(t, "refused", func(r *history.Recorder) { events(r.Client(1, 1)) }),
	} {
		t.Run(name, func(t *testing.T) {
			if len(ops) != 2 || ops[0].Return != history.Never || ops[0].Outcome != history.Unknown || ops[0].Attempts != 1 || ops[1].Kind != history.Death || ops[1].Note != "before" {
				t.Errorf("recorded %+v, want an acquire without return and a death", ops)
			}
		})
	}
}

func TestTapeAnchorsWhatIsUnderWay(t *testing.T) {
	tape := history.NewTape(history.Header{})
	c := tape.Client(1, 1)
	var ops []history.Op
	_, _ = c.Locker(&scripted{err: io.EOF, during: func() { ops = calls(t, tape.Source(history.End{})) }}).
		Acquire(ctx, "k", lockbench.Options{})
	if len(ops) != 1 || ops[0].Attempts != 1 || ops[0].Attempt != ops[0].Call || ops[0].Return != history.Never {
		t.Errorf("recorded %+v, want an acquire anchored at its call", ops)
	}
}

func TestTapeForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tape := history.NewTape(history.Header{Reacquire: "nested"})
		for range 3 {
			time.Sleep(time.Minute)
			tape.Reset()
			stuck := tape.Client(2, 1)
			stuck.Renewing("k")
			stuck.Die("")
			perform(t, tape.Client(1, 1), "aw")
			src := tape.Source(history.End{})
			ops := calls(t, src)
			if len(ops) != 4 || ops[2].Client != 1 || ops[2].CallSeq != 3 || ops[2].Call != 0 || ops[2].Hold != 1<<32|1 || ops[3].Hold != ops[2].Hold {
				t.Errorf("recorded %+v, want the first hold of client 1 and a write under it, at stamp 0", ops)
			}
			if src.End().Trailer.Ops != 4 {
				t.Errorf("the trailer counts %d operations, want 4", src.End().Trailer.Ops)
			}
		}
	})
}

func TestTapeRecordsLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tape := history.NewTape(history.Header{})
		for range 2 {
			inner := &able{lost: make(chan struct{})}
			locker := tape.Client(1, 1).Locker(&scripted{lease: inner})
			lease, _ := locker.Acquire(ctx, "k", lockbench.Options{})
			close(inner.lost)
			<-lease.(lockbench.Watcher).Lost()
			inner.lost = make(chan struct{})
			_, _ = locker.Acquire(ctx, "k", lockbench.Options{}) // watched until Reset
			if ops := calls(t, tape.Source(history.End{})); len(ops) != 3 || ops[1].Kind != history.Lost || ops[1].Hold != ops[0].Hold {
				t.Errorf("recorded %+v, want acquire, lost, acquire", ops)
			}
			tape.Reset()
		}
	})
}

// BenchmarkTape is a schedule of 3 clients, 30 operations, read once.
func BenchmarkTape(b *testing.B) {
	tape := history.NewTape(history.Header{})
	inner := &scripted{lease: &plain{}}
	b.ReportAllocs()
	for b.Loop() {
		tape.Reset()
		for id := range int32(3) {
			locker := tape.Client(id, id).Locker(inner)
			for range 5 {
				lease, _ := locker.Acquire(ctx, "key", lockbench.Options{TTL: time.Second})
				_ = lease.Release(ctx)
			}
		}
		for range tape.Source(history.End{}).Events() {
		}
	}
}
