package clockwatch

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/clocks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched records while answers of common are awaited, and returns the comparisons of the history and the last stamp
// before the end.
func watched(t *testing.T, answers int64, common func(n int64) (int64, error)) (windows []clocks.Window, probes []clocks.Comparison, last int64) {
	t.Helper()
	if err := Check(); err != nil {
		t.Skip(err)
	}
	var file bytes.Buffer
	r, err := history.NewRecorder(&file, history.Header{Design: "test"})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	enough := make(chan struct{})
	w := Start(r.Base(), r.Client(RecordedAs, RecordedAs), func(context.Context) (int64, error) {
		n := asked.Add(1)
		if n == answers {
			close(enough)
		}
		return common(n)
	})
	<-enough
	last = r.Now()
	if notes := w.Stop(); len(notes) > 0 {
		t.Errorf("notes %q", notes)
	}
	if err := r.Close(history.Trailer{}); err != nil {
		t.Fatal(err)
	}
	src, err := history.NewSource(&file)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch op := ev.Op; {
		case ev.Phase != history.Call:
		case op.Client != RecordedAs:
			t.Errorf("client %d records %v", op.Client, op.Kind)
		case op.Kind == history.Probe:
			probes = append(probes, clocks.Comparison{Before: int64(op.Base), Other: op.Value, After: int64(op.Base) + op.Delay})
		case op.Kind == history.Clock:
			windows = append(windows, clocks.Window{From: int64(op.Base) - op.Delay, Until: int64(op.Base), Least: op.Value, Largest: op.Value + op.Wait})
		}
	}
	return windows, probes, last
}

// TestWatch checks that a history tells the common clock, and that the last question is sent, and the clocks
// are read, after the last operation.
func TestWatch(t *testing.T) {
	ahead := Raw() - int64(time.Hour)
	windows, probes, last := watched(t, 8, func(int64) (int64, error) { return Raw() - ahead, nil })
	if len(probes) < 9 {
		t.Errorf("%d probes, want 8 and a last one", len(probes))
	}
	clock := clocks.NewClock(windows, probes)
	if clock == nil {
		t.Fatalf("%d windows and %d probes say nothing", len(windows), len(probes))
	}
	if least, most, known := clock.At(last / 2); !known || least > most || least < int64(time.Hour) || most > int64(2*time.Hour) {
		t.Errorf("at %d of %d: %d to %d, known %v", last/2, last, least, most, known)
	}
	i := slices.IndexFunc(windows, func(w clocks.Window) bool { return w.From <= last && last <= w.Until })
	if i < 0 || probes[len(probes)-1].Before < last+windows[i].Least {
		t.Errorf("the last operation is at %d, in none of %v or after the last of %v", last, windows, probes)
	}
}

// TestWatchUnanswered checks that questions without an answer leave no record, and that the last question is asked
// until it is answered.
func TestWatchUnanswered(t *testing.T) {
	lost := errors.New("lost")
	_, probes, _ := watched(t, 3, func(n int64) (int64, error) {
		if n == 2 || n == 7 {
			return n, nil
		}
		return 0, lost
	})
	if len(probes) != 2 || probes[0].Other != 2 || probes[1].Other != 7 {
		t.Errorf("probes %+v, want answers 2 and 7", probes)
	}
}

// TestWatchChange checks that a change of the clocks is noted.
func TestWatchChange(t *testing.T) {
	w := &Watcher{stopAsking: make(chan struct{}), stopRead: make(chan struct{})}
	w.meter.Changed = true
	if notes := w.Stop(); len(notes) != 1 {
		t.Errorf("notes %q", notes)
	}
	w = nil
	if notes := w.Stop(); notes != nil {
		t.Errorf("notes %q of none", notes)
	}
}
