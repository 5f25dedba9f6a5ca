package checker

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/lockbench/lockbench/history"
)

// A feeder gives a Checker one operation after the other and remembers some of
// them without keeping them.
type feeder struct {
	*Checker
	now, holds int64
	fed        []weak.Pointer[history.Op]
}

func (f *feeder) feed(kind history.Kind, o history.Outcome, client int32, key string, change ...func(*history.Op)) {
	op := &history.Op{
		Kind: kind, Outcome: o, Client: client, Stream: client, Key: key, Hold: f.holds,
		Call: f.now, Return: f.now + 2, Attempt: f.now, Asked: 100, Granted: 100,
	}
	for _, do := range change {
		do(op)
	}
	f.fed = append(f.fed, weak.Make(op))
	f.Add(history.Event{Phase: history.Call, Op: op})
	if kind < history.Lost && op.Return != history.Never {
		f.Add(history.Event{Phase: history.Return, Op: op})
	}
	f.now += 4
}

// TestMemoryIsWhatIsOpen runs long histories: hardly any of their operations may
// still be reachable at the end.
func TestMemoryIsWhatIsOpen(t *testing.T) {
	const rounds, kept = 30_000, 25_000
	under := func(hold int64) func(*history.Op) { return func(op *history.Op) { op.Hold = hold } }
	for _, c := range []struct {
		name, reacquire string
		round           func(f *feeder, i int64)
	}{
		{"every holder overruns and loses an update", "refused", func(f *feeder, i int64) {
			f.feed(history.Acquire, history.OK, int32(i%8), "k")
			f.feed(history.Read, history.OK, int32(i%8), "k")
			f.now += 200
			if old := i - 3; old > 0 {
				f.feed(history.Write, history.OK, int32(old%8), "k", under(old))
				f.feed(history.Release, history.LossReported, int32(old%8), "k", under(old))
			}
		}},
		{"every stale owner extends what the next one holds", "refused", func(f *feeder, i int64) {
			f.feed(history.Acquire, history.OK, int32(i%8), "k")
			if i > 1 {
				f.feed(history.Extend, history.OK, int32((i-1)%8), "k", under(i-1))
			}
			f.now += 200
		}},
		{"one holder never lets go and all others get in", "refused", func(f *feeder, i int64) {
			if i == 1 {
				f.feed(history.Acquire, history.OK, 99, "k", under(1<<40), func(op *history.Op) { op.Granted = 0 })
			}
			f.feed(history.Acquire, history.OK, int32(i%8), "k")
			f.feed(history.Release, history.OK, int32(i%8), "k")
		}},
		{"many keys", "refused", func(f *feeder, i int64) {
			key := fmt.Sprint(i % 4000)
			f.feed(history.Acquire, history.OK, int32(i%8), key)
			f.feed(history.Release, history.OK, int32(i%8), key)
		}},
		{"one hold is taken and released within, with a fence", "nested", func(f *feeder, i int64) {
			f.feed(history.Acquire, history.OK, 1, "k", under(1), func(op *history.Op) { op.Granted, op.Fence = 1<<40, 7 })
			if i > 1 {
				f.feed(history.Release, history.OK, 1, "k", under(1))
			}
		}},
		{"every client dies with a lock and a call under way", "refused", func(f *feeder, i int64) {
			key, client := fmt.Sprint(i%16), int32(i)
			f.feed(history.Acquire, history.OK, client, key)
			never := func(op *history.Op) { op.Outcome, op.Return = history.Unknown, history.Never }
			f.feed(history.Acquire, history.Unknown, client, key, never)
			f.feed(history.Death, history.OK, client, "", under(0))
			f.now += 2_000_000_000
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &feeder{Checker: New(history.Header{Reacquire: c.reacquire})}
			for i := int64(1); i <= rounds; i++ {
				f.holds = i
				c.round(f, i)
			}
			runtime.GC()
			alive := 0
			for _, p := range f.fed {
				if p.Value() != nil {
					alive++
				}
			}
			t.Logf("%d of %d operations kept", alive, len(f.fed))
			if alive > kept {
				t.Errorf("%d of %d operations are still kept, want %d at most", alive, len(f.fed), kept)
			}
			runtime.KeepAlive(f)
		})
	}
}
