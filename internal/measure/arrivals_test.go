package measure

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

func TestKeptUp(t *testing.T) {
	const s = int64(time.Second)
	for _, c := range []struct {
		name        string
		in          runinfo.Arrivals
		short, late bool
	}{
		{"all begun", runinfo.Arrivals{Due: 5000, Started: 5000}, false, false},
		{"made up for", runinfo.Arrivals{Due: 5000, Started: 5000, BusyNS: 2000 * s}, false, false},
		{"a few at the end", runinfo.Arrivals{Due: 5000, Started: 4951, Waiting: 49, BehindNS: s / 20}, false, false},
		{"too many at the end", runinfo.Arrivals{Due: 5000, Started: 4949, Waiting: 51, BehindNS: s / 20}, true, false},
		{"a sound queue in a short run", runinfo.Arrivals{Due: 100, Started: 91, Waiting: 9, BehindNS: s / 100}, false, false},
		{"few, but all there were", runinfo.Arrivals{Due: 5, Started: 1, Waiting: 4, BehindNS: 8 * s}, true, false},
		{"nothing begun", runinfo.Arrivals{Due: 5000, Waiting: 5000, BehindNS: 5 * s}, true, false},
		{"nothing due", runinfo.Arrivals{}, false, false},
		{"a stutter", runinfo.Arrivals{Due: 1000, Started: 1000, Overslept: 50}, false, false},
		{"late all along", runinfo.Arrivals{Due: 1000, Started: 1000, Overslept: 51}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Arrivals{Arrivals: c.in}
			if a.FellShort() != c.short || a.WokeLate() != c.late || a.KeptUp() != (!c.short && !c.late) {
				t.Errorf("got short %v, late %v, kept up %v; want %v, %v", a.FellShort(), a.WokeLate(), a.KeptUp(), c.short, c.late)
			}
		})
	}
}

func TestArrivalRates(t *testing.T) {
	due := func(at int64, o history.Op) history.Op {
		o.Intended = at
		return o
	}
	sec := int64(time.Second)
	c := New(history.Header{WarmupNS: sec})
	feed(c,
		due(5, acquire(1, 10, 15)), release(1, 20, 30), // in the warm-up
		due(sec+5, acquire(2, sec+10, sec+15)), release(2, sec+20, sec+30),
		due(sec+6, op(history.Acquire, history.Refused, 0, sec+12, sec+17)),
		due(sec+7, op(history.Acquire, history.Unknown, 0, sec+13, history.Never)),
	)
	told := runinfo.Arrivals{Due: 8, Started: 3, Waiting: 5, BusyNS: 30, WakingNS: 10}
	m := c.Result(history.End{Trailer: history.Trailer{EndNS: 3 * sec, Arrivals: &told}})
	want := Arrivals{Arrivals: told, OfferedPerSecond: 4, StartedPerSecond: 1.5, AnsweredPerSecond: 1}
	if m.Arrivals == nil || *m.Arrivals != want {
		t.Errorf("got %+v, want %+v", m.Arrivals, want)
	}
	if got := m.Arrivals.BusyShare(); got != 0.75 {
		t.Errorf("busy share: got %v, want 0.75", got)
	}
	if m := measured(history.Header{}, 10, acquire(1, 0, 5)); m.Arrivals != nil {
		t.Errorf("closed loop: got %+v, want nil", m.Arrivals)
	}
}
