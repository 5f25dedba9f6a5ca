package load

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// uncontended are the options of an open loop of brief holds, each client at its own key.
func uncontended(rate float64, length time.Duration) workloads.Options {
	return options(func(o *workloads.Options) {
		o.KeyChoice, o.Keys, o.Wait, o.Hold = workloads.Own, 0, 0, workloads.Always(0)
		o.Rate, o.Duration = rate, length
	})
}

// measures are the measures of a run's record.
func measures(t *testing.T, record []byte) measure.Measures {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	c := measure.New(src.Header())
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		c.Add(ev)
	}
	return c.Result(src.End())
}

// TestServerStopped: while a server is stopped arrivals continue to fall due. The intended
// start shows that; the start itself shows only the few that were under way. Here nobody is
// answered from 1 s to 3 s; TestFaults stops a server.
func TestServerStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		late := func() time.Duration {
			if since := time.Since(begun); since >= time.Second && since < 3*time.Second {
				return 3*time.Second - since
			}
			return 50 * time.Microsecond
		}
		var record bytes.Buffer
		s, err := Run(t.Context(), Config{
			Design: paced(tokenDesign(), late, late), Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), History: &record,
			Options: uncontended(200, 5*time.Second), clock: sleeper{},
		})
		if err != nil {
			t.Fatal(err)
		}
		m := measures(t, record.Bytes())
		acquire, service := m.Measured.Latency(measure.Acquire), m.Measured.Latency(measure.Service)
		// 400 of 1,000 fell due meanwhile; the tenth part of all waited for 1.5 s and more.
		if got := acquire.At(90); got < time.Second {
			t.Errorf("p90 from the intended start: got %v, want 1.5s or so", got)
		}
		// 4 of 1,000 were under way.
		if got := service.At(99); got > time.Second {
			t.Errorf("p99 from the start: got %v, want what it takes without the stop", got)
		}
		// Those under way may all have been releases.
		if got := max(service.Max(), m.Measured.Latency(measure.Release).Max()); got < time.Second {
			t.Errorf("longest from the start: got %v, want 2s or so", got)
		}
		a := m.Arrivals
		if a == nil || *s.Arrivals != a.Arrivals || a.FellShort() || a.BusyShare() < 0.5 {
			t.Errorf("arrivals: got %+v, in the history %+v; want them made up for, and clients kept busy by the lock", s.Arrivals, a)
		}
	})
}

// TestTooHighARate: an impossible rate is not offered, and the run says so.
func TestTooHighARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var record bytes.Buffer
		if _, err := Run(t.Context(), Config{
			clock: sleeper{}, Design: slowly(tokenDesign()), Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), History: &record,
			Options: uncontended(1e8, 150*time.Millisecond),
		}); err != nil {
			t.Fatal(err)
		}
		a := measures(t, record.Bytes()).Arrivals
		if a == nil || !a.FellShort() || a.StartedPerSecond > a.OfferedPerSecond/10 || a.Due < 1e7 || a.Started+a.Waiting != a.Due {
			t.Errorf("arrivals: got %+v, want most of 1e8/s waiting", a)
		}
	})
}

// TestArrivalsInHistory: each acquire has the time at which it was due, by the seed.
func TestArrivalsInHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := uncontended(2000, time.Second)
		o.Operations = 200
		var record bytes.Buffer
		s, err := Run(t.Context(), Config{clock: sleeper{}, Design: slowly(tokenDesign()), Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), History: &record, Options: o})
		if err != nil {
			t.Fatal(err)
		}
		src, err := history.NewSource(bytes.NewReader(record.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		got := map[int64]bool{}
		first := int64(history.Never)
		for ev, err := range src.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if op := ev.Op; ev.Phase == history.Call && op.Kind == history.Acquire {
				if op.Intended == 0 || op.Intended > op.Call {
					t.Errorf("an acquire called at %d was due at %d", op.Call, op.Intended)
				}
				got[op.Intended] = true
				first = min(first, op.Intended)
			}
		}
		timetable := newTimetable(&s.Options, runinfo.Share{})
		begin, _ := timetable.next()
		for range o.Operations - 1 {
			due, _ := timetable.next()
			if !got[first+int64(due-begin)] {
				t.Fatalf("nothing was due %v after the first arrival, want an acquire", due-begin)
			}
		}
		if int64(len(got)) != o.Operations || s.Ended != EndedOperations {
			t.Errorf("got %d arrivals, ended %q; want %d, %q", len(got), s.Ended, o.Operations, EndedOperations)
		}
	})
}

// TestOpenLoopUnderFaults: when clients die others take their arrivals.
func TestOpenLoopUnderFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash, err := fault.Parse("crash,p=0.02")
		if err != nil {
			t.Fatal(err)
		}
		var record bytes.Buffer
		if _, err := Run(t.Context(), Config{
			clock: sleeper{}, Design: slowly(tokenDesign()), Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), History: &record,
			Options: uncontended(300, 1500*time.Millisecond), Faults: []fault.Fault{crash},
		}); err != nil {
			t.Fatal(err)
		}
		_, result, end := judge(t, record.Bytes())
		if len(result.Defects) > 0 || end.Trailer.Arrivals == nil || end.Trailer.Arrivals.Started == 0 {
			t.Errorf("defects %v, arrivals %+v; want none, and some", result.Defects, end.Trailer.Arrivals)
		}
		if n := end.Trailer.Faults[0].Occurrences; n == 0 {
			t.Error("nobody died")
		}
	})
}
