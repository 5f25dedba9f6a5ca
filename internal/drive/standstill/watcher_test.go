package standstill

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// late is a clock in a synctest bubble during a standstill of the process: sleeps that end within
// it end at its end.
type late struct{ from, until time.Time }

func (late) Now() time.Time { return time.Now() }

func (l late) Sleep(ctx context.Context, d time.Duration) {
	machine{}.Sleep(ctx, d)
	if now := time.Now(); !now.Before(l.from) && now.Before(l.until) {
		time.Sleep(time.Until(l.until))
	}
}

// watched is the result of a Watcher in the first second of a bubble, stops and answers included.
func watched(t *testing.T, c Config, clock func(start time.Time) late) (seen []Standstill, sum Sum, start time.Time) {
	t.Helper()
	start = time.Now()
	c.Clock = clock(start)
	var certain time.Time
	c.Certain = func(at time.Time) { certain = at }
	c.Seen = func(s Standstill) {
		if s.From.Before(certain) {
			t.Errorf("a standstill from %v, when all before %v was certain", s.From.Sub(start), certain.Sub(start))
		}
		seen = append(seen, s)
	}
	w := Start(c)
	time.Sleep(time.Second)
	return seen, w.Stop(), start
}

func never(time.Time) late { return late{} }

// stands is a clock that stands still from one ms of a run to another.
func stands(from, until time.Duration) func(time.Time) late {
	return func(start time.Time) late { return late{start.Add(from), start.Add(until)} }
}

// answers is a server that answers at until if the request was made at from or later, and before until.
func answers(start time.Time, from, until time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		if at := time.Since(start); at >= from && at < until {
			machine{}.Sleep(ctx, until-at)
		}
		return ctx.Err()
	}
}

// outages counts one that begins after 310 ms, in the middle of a question, and ends before it is answered.
func outages(at time.Duration, any bool) (n int64) {
	for _, turn := range []time.Duration{310 * time.Millisecond, 690 * time.Millisecond} {
		if any && at >= turn {
			n++
		}
	}
	return n
}

// TestWatcher makes the driver, the server, both or neither stand still in virtual time.
func TestWatcher(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		clock func(time.Time) late
		ask   func(start time.Time) func(context.Context) error
		known bool
		want  []Of
		last  time.Duration // of all of them together; a detected one may be longer by a reading and a request
	}{
		"nothing": {clock: never},
		"nothing, and a server": {clock: never,
			ask: func(start time.Time) func(context.Context) error { return answers(start, 0, 0) }},
		"late by less than the bound": {clock: stands(300*ms, 312*ms)},
		"driver":                      {clock: stands(300*ms, 700*ms), want: []Of{Driver}, last: 400 * ms},
		"driver, and a server": {clock: stands(300*ms, 700*ms), want: []Of{Driver}, last: 400 * ms,
			ask: func(start time.Time) func(context.Context) error { return answers(start, 0, 0) }},
		"server": {clock: never, want: []Of{Server}, last: 400 * ms,
			ask: func(start time.Time) func(context.Context) error { return answers(start, 300*ms, 700*ms) }},
		"server, slow but in time": {clock: never,
			ask: func(start time.Time) func(context.Context) error { return answers(start, 300*ms, 318*ms) }},
		"server, injected": {clock: never, known: true,
			ask: func(start time.Time) func(context.Context) error { return answers(start, 300*ms, 700*ms) }},
		"server for longer": {clock: stands(300*ms, 500*ms), want: []Of{Driver, Server}, last: 400 * ms,
			ask: func(start time.Time) func(context.Context) error { return answers(start, 300*ms, 700*ms) }},
		"server that fails at once": {clock: never,
			ask: func(time.Time) func(context.Context) error {
				return func(context.Context) error { return errors.New("connection refused") }
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				cfg := Config{Outages: func() int64 { return outages(time.Since(begun), c.known) }}
				if c.ask != nil {
					cfg.Ask = append(cfg.Ask, c.ask(begun))
				}
				seen, sum, start := watched(t, cfg, c.clock)
				var of []Of
				for i, s := range seen {
					of = append(of, s.Of)
					if i == 0 && s.From.After(start.Add(300*ms)) || s.Length() > c.last+10*ms {
						t.Errorf("from %v for %v", s.From.Sub(start), s.Length())
					}
				}
				if !slices.Equal(of, c.want) || sum.Times != len(c.want) {
					t.Errorf("saw %v (%+v), want %v", of, sum, c.want)
				}
				if sum.For < c.last || sum.For > c.last+15*ms {
					t.Errorf("%v in all, want %v", sum.For, c.last)
				}
			})
		})
	}
}

// TestStopWhileAsking: a server that never answers stood still until watching ends.
func TestStopWhileAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sum, _ := watched(t, Config{Ask: []func(context.Context) error{func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}}, never)
		if sum.Server != 1 || sum.For < 980*time.Millisecond {
			t.Errorf("got %+v, want one of nearly a second", sum)
		}
	})
}

// TestBoundFor: a short lease bears less.
func TestBoundFor(t *testing.T) {
	for lease, want := range map[time.Duration]time.Duration{
		0: DefaultBound, time.Second: DefaultBound, 40 * time.Millisecond: 10 * time.Millisecond, time.Millisecond: time.Millisecond,
	} {
		if got := BoundFor(lease); got != want {
			t.Errorf("lease of %v: got %v, want %v", lease, got, want)
		}
	}
}

// TestRecord: a detected standstill is in the history at its beginning, before the events within
// it.
func TestRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		rec, err := history.NewRecorder(&file, history.Header{})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		cfg := Config{Clock: late{start.Add(300 * time.Millisecond), start.Add(700 * time.Millisecond)}}
		w := Start(cfg.Record(rec.Client(RecordedAs, RecordedAs)))
		owner := rec.Client(0, 0)
		time.Sleep(500 * time.Millisecond) // within it, and written before it is seen
		owner.Event(history.Pause, "", "")
		time.Sleep(500 * time.Millisecond)
		owner.Event(history.Resume, "", "")
		w.Stop()
		if err := rec.Close(history.Trailer{}); err != nil {
			t.Fatal(err)
		}
		src, err := history.NewSource(&file)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for ev, err := range src.Events() {
			if err != nil {
				t.Fatal(err)
			}
			order = append(order, ev.Op.Kind.String()+" "+ev.Op.Note)
			if ev.Op.Note == string(fault.Standstill) && (ev.Op.Call > 300e6 || ev.Op.Call+ev.Op.Value < 700e6) {
				t.Errorf("it is recorded from %d for %d", ev.Op.Call, ev.Op.Value)
			}
		}
		if want := []string{"fault standstill", "pause ", "resume "}; !slices.Equal(order, want) {
			t.Errorf("got %q, want %q", order, want)
		}
	})
}
