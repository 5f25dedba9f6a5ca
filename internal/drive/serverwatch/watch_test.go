package serverwatch_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/serverwatch"
)

// A fake is a user's server with glances set by the test.
type fake struct {
	design.Service
	glance func(at time.Duration) (design.Glance, error)
	closed bool
}

func (f *fake) Kind() string    { return design.External }
func (f *fake) Address() string { return "redis://far:6379/0" }

func (f *fake) Watch(string) (func(context.Context) (design.Glance, error), func() error) {
	begun := time.Now()
	return func(context.Context) (design.Glance, error) { return f.glance(time.Since(begun)) }, func() error {
		f.closed = true
		return nil
	}
}

// from is a glance of before until an instant, and one of after from then on.
func from(at time.Duration, before, after design.Glance) func(time.Duration) (design.Glance, error) {
	return func(now time.Duration) (design.Glance, error) {
		if now < at {
			return before, nil
		}
		return after, nil
	}
}

func TestWatcher(t *testing.T) {
	const at = 1050 * time.Millisecond
	usual := design.Glance{Run: "a", Role: "master", Data: "x", Kept: true}
	once := func(change func(*design.Glance)) func(time.Duration) (design.Glance, error) {
		after := usual
		change(&after)
		return from(at, usual, after)
	}
	loss := []string{"server-losing", "server-loss"}
	taken := []string{"server-losing", "failover", "script-flush", "failover", "script-flush", "server-loss"}
	for _, c := range []struct {
		name   string
		glance func(time.Duration) (design.Glance, error)
		events []string
		told   string
	}{
		{"nothing", once(func(*design.Glance) {}), nil, ""},
		{"started anew", once(func(g *design.Glance) { g.Run, g.Data = "b", "y" }),
			[]string{"server-losing", "script-flush", "script-flush", "server-loss"}, "it was started anew, between 1.00 and 1.10 s"},
		{"replica took over", once(func(g *design.Glance) { g.Run, g.Data, g.Ancestor = "b", "y", "x" }), taken, "another server took over"},
		{"replica took over, and both serve for three looks", func(now time.Duration) (design.Glance, error) {
			g := usual
			if now > at {
				g = design.Glance{Run: "b", Role: "master", Data: "y", Ancestor: "x", Kept: true, Rival: now < at+300*time.Millisecond}
			}
			return g, nil
		}, slices.Repeat(taken, 4), "another server took over that had been its replica, between 1.00 and 1.10 s. What"},
		{"becomes a replica", once(func(g *design.Glance) { g.Role = "slave" }), taken, "it was a master and became a slave"},
		{"other data", once(func(g *design.Glance) { g.Data = "y" }), taken, "it began to follow other data"},
		{"evicts", once(func(g *design.Glance) { g.Evicted = 7 }), loss, "it evicted 7 keys"},
		{"flushed", func(now time.Duration) (design.Glance, error) {
			g := usual
			g.Kept = now < at || now > at+100*time.Millisecond
			return g, nil
		}, loss, "it lost keys that lockbench had written, as by a flush or a deletion, between 1.00 and 1.10 s"},
		{"deleted one by one", func(now time.Duration) (design.Glance, error) {
			g := usual
			g.Kept = now < at || now > at+time.Second || now/(100*time.Millisecond)%2 == 0
			return g, nil
		}, loss, "as by a flush or a deletion, between 1.00 and 1.90 s"},
		{"deleted until the end", func(now time.Duration) (design.Glance, error) {
			g := usual
			g.Kept = now < 2950*time.Millisecond
			return g, nil
		}, loss, "as by a flush or a deletion, between 2.90 and 3.00 s"},
		{"hides", from(0, design.Glance{}, design.Glance{Kept: true, Hidden: "NOPERM"}), nil, "hides whether it restarts"},
		{"is away", func(now time.Duration) (design.Glance, error) {
			if now > at && now < at+time.Second {
				return design.Glance{}, errors.New("connection refused")
			}
			return usual, nil
		}, []string{"server-standstill"}, "it gave no answer for 1.1s, between 1.00 and 2.10 s"},
		{"is away for a moment", func(now time.Duration) (design.Glance, error) {
			if now > at && now < at+200*time.Millisecond {
				return design.Glance{}, errors.New("connection refused")
			}
			return usual, nil
		}, nil, ""},
		{"goes away and stays away", func(now time.Duration) (design.Glance, error) {
			if now > at {
				return design.Glance{}, errors.New("connection refused")
			}
			return usual, nil
		}, loss, "it gave no answer from 1.00 s to the end"},
		{"answers late at first", func(now time.Duration) (design.Glance, error) {
			if now < 300*time.Millisecond {
				return design.Glance{}, errors.New("connection refused")
			}
			return from(at, usual, design.Glance{Run: "a", Role: "master", Data: "x", Kept: true, Evicted: 7})(now)
		}, loss, "it evicted 7 keys"},
		{"flushed while the last answer is on its way", func(now time.Duration) (design.Glance, error) {
			g := usual
			if now > at && now < 2*time.Second {
				time.Sleep(3 * time.Second)
				return g, nil
			}
			g.Kept = now < 2*time.Second
			return g, nil
		}, loss, "it lost keys that lockbench had written"},
		{"never answers", func(time.Duration) (design.Glance, error) {
			return design.Glance{}, errors.New("connection refused")
		}, nil, "was not watched for restarts, failovers and lost data: connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var record bytes.Buffer
				r, err := history.NewRecorder(&record, history.Header{Design: "lock"})
				if err != nil {
					t.Fatal(err)
				}
				s := &fake{glance: c.glance}
				w := serverwatch.Start(t.Context(), []design.Service{s}, "lockbench:", r.Client(serverwatch.RecordedAs, serverwatch.RecordedAs))
				time.Sleep(3 * time.Second)
				notes := strings.Join(w.Stop(), "\n")
				if err := r.Close(history.Trailer{}); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(notes, c.told) || (notes == "") != (c.told == "") || !s.closed {
					t.Errorf("notes %q, closed: %t; want %q in them", notes, s.closed, c.told)
				}
				if got := notesOf(eventsOf(t, &record)); !slices.Equal(got, c.events) {
					t.Errorf("events %q, want %q", got, c.events)
				}
			})
		})
	}
}

// TestDeletionWindow: keys that go before the first of the watcher's own, and after the last, are
// inside the window.
func TestDeletionWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var record bytes.Buffer
		r, err := history.NewRecorder(&record, history.Header{Design: "lock"})
		if err != nil {
			t.Fatal(err)
		}
		s := &fake{glance: func(now time.Duration) (design.Glance, error) {
			return design.Glance{Run: "a", Kept: now < 1050*time.Millisecond || now > 1350*time.Millisecond}, nil
		}}
		w := serverwatch.Start(t.Context(), []design.Service{s}, "lockbench:", r.Client(serverwatch.RecordedAs, serverwatch.RecordedAs))
		time.Sleep(3 * time.Second)
		w.Stop()
		if err := r.Close(history.Trailer{}); err != nil {
			t.Fatal(err)
		}
		events := eventsOf(t, &record) // the looks at 1.0 and 1.4 s found all keys
		if len(events) != 2 || events[0].Call != int64(750*time.Millisecond) || events[1].Call != int64(1600*time.Millisecond) {
			t.Errorf("got %+v, want a window from 0.75 to 1.6 s", events)
		}
	})
}

// eventsOf reads a history's events.
func eventsOf(t *testing.T, record *bytes.Buffer) (events []history.Op) {
	t.Helper()
	src, err := history.NewSource(record)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Phase == history.Call && ev.Op.Kind == history.Fault {
			events = append(events, *ev.Op)
		}
	}
	return events
}

func notesOf(events []history.Op) (notes []string) {
	for _, op := range events {
		notes = append(notes, op.Note)
	}
	return notes
}

// TestOursAreNotWatched: lockbench already knows all about servers that it
// started.
func TestOursAreNotWatched(t *testing.T) {
	if w := serverwatch.Start(t.Context(), []design.Service{ours{}}, "lockbench:", nil); w != nil || w.Stop() != nil {
		t.Error("a private server is watched")
	}
}

type ours struct{ design.Service }

func (ours) Kind() string { return design.Private }

func (ours) Watch(string) (func(context.Context) (design.Glance, error), func() error) {
	return nil, nil
}
