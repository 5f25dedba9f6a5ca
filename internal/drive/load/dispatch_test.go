package load

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/lib/processor"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/workloads"
)

// sleeper waits in virtual time, and somewhat too long.
type sleeper struct{ late time.Duration }

func (s sleeper) wait(due time.Time) {
	if d := time.Until(due); d > 0 {
		time.Sleep(d + s.late)
	}
}

func (sleeper) close() {}

// even are the options of an open loop of so many evenly spaced arrivals a second.
func even(rate float64) workloads.Options {
	o := workloads.Defaults()
	o.Rate, o.Arrival = rate, workloads.Constant
	return o.OrDefaults()
}

// A taking is an arrival that a client began.
type taking struct {
	Client   int
	Due, Got time.Duration // since the start
}

// A team is the clients of one open loop, in virtual time.
type team struct {
	*dispatcher
	over  chan struct{}
	all   sync.WaitGroup
	mu    sync.Mutex
	taken []taking
}

func newTeam(o workloads.Options, late time.Duration) *team {
	t := &team{over: make(chan struct{})}
	t.dispatcher = newDispatcher(o, runinfo.Share{}, t.over, sleeper{late})
	t.begin(time.Now().Add(o.Warmup))
	return t
}

// client makes a client take arrivals until there are none for it. Each keeps the client busy for a
// time. ctx is the client's life.
func (t *team) client(ctx context.Context, id int, busy func(since time.Duration) time.Duration) {
	t.all.Go(func() {
		for {
			due, _, ok := t.next(ctx)
			if !ok {
				return
			}
			got := time.Since(t.start)
			t.mu.Lock()
			t.taken = append(t.taken, taking{id, due.Sub(t.start), got})
			t.mu.Unlock()
			time.Sleep(busy(got))
		}
	})
}

// end ends the run after d.
func (t *team) end(d time.Duration) *runinfo.Arrivals {
	time.Sleep(d)
	close(t.over)
	at := time.Now()
	t.all.Wait()
	k := t.finish(at)
	k.Processor = 0
	return k
}

func always100ms(time.Duration) time.Duration { return 100 * time.Millisecond }

const ms = time.Millisecond

func TestDispatch(t *testing.T) {
	stopped := func(since time.Duration) time.Duration { // the server is stopped from 1 s to 3 s
		if since >= time.Second && since < 3*time.Second {
			return 3*time.Second - since
		}
		return ms
	}
	brief := func(time.Duration) time.Duration { return ms }
	for _, c := range []struct {
		name    string
		rate    float64
		warmup  time.Duration
		late    time.Duration
		clients int
		busy    func(time.Duration) time.Duration
		want    runinfo.Arrivals
	}{
		{"kept up", 10, 0, 0, 2, always100ms, runinfo.Arrivals{Due: 50, Started: 50}},
		// One client makes 10/s: after 5 s half of the due arrivals have begun; the n-th,
		// due at n/20 s, begins n/20 s late.
		{"too few clients", 20, 0, 0, 1, always100ms, runinfo.Arrivals{
			Due: 100, Started: 50, Waiting: 50, BehindNS: int64(2475 * ms), BusyNS: int64(50 * 49 / 2 * 50 * ms),
		}},
		// The first to come in the 2 s, at 1.025 s, is held up; the next 39 begin from 3 s
		// on, one a ms, and one more after them. It is the server's doing, and made up for.
		{"a server that was stopped", 20, 0, 0, 1, stopped, runinfo.Arrivals{
			Due: 100, Started: 100, BusyNS: int64((39*1925 - 49*38*39/2 + 14) * ms),
		}},
		{"a warm-up", 10, 2 * time.Second, 0, 2, always100ms, runinfo.Arrivals{Due: 30, Started: 30}},
		// Idle clients wake 30 ms late; half of 100 ms are more than that.
		{"late, but not by much", 10, 0, 30 * ms, 2, brief, runinfo.Arrivals{
			Due: 50, Started: 50, WakingNS: int64(50 * 30 * ms), WakingMaxNS: int64(30 * ms),
		}},
		{"late", 10, 0, 60 * ms, 2, brief, runinfo.Arrivals{
			Due: 50, Started: 49, Waiting: 1, BehindNS: int64(50 * ms), WakingNS: int64(49 * 60 * ms), WakingMaxNS: int64(60 * ms), Overslept: 49,
		}},
		// Six are due when the first client wakes, 5 ms late: so they are 0 to 5 ms late.
		{"late, with others idle all the time", 1000, 0, 5 * ms, 1000, brief, runinfo.Arrivals{
			Due: 5000, Started: 4998, Waiting: 2, BehindNS: int64(1500 * time.Microsecond),
			WakingNS: int64(833 * 15 * ms), WakingMaxNS: int64(5 * ms),
		}},
		// Two clients that take no time are never both busy, though each is idle anew only
		// after its next arrival was due.
		{"late, with another idle each time", 1000, 0, 5 * ms, 2, func(time.Duration) time.Duration { return 0 }, runinfo.Arrivals{
			Due: 5000, Started: 4998, Waiting: 2, BehindNS: int64(1500 * time.Microsecond),
			WakingNS: int64(833 * 15 * ms), WakingMaxNS: int64(5 * ms),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := even(c.rate)
				o.Warmup = c.warmup
				team := newTeam(o, c.late)
				for id := range c.clients {
					team.client(t.Context(), id, c.busy)
				}
				if diff := cmp.Diff(*team.end(5 * time.Second), c.want); diff != "" {
					t.Errorf("arrivals (-got +want):\n%s", diff)
				}
			})
		})
	}
}

// TestArrivalsComeInTurn: the longest idle client takes the next arrival, at its time.
func TestArrivalsComeInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		team := newTeam(even(10), 0)
		for id := range 3 {
			team.client(t.Context(), id, always100ms)
			synctest.Wait()
		}
		team.end(600 * ms)
		want := []taking{{0, 50 * ms, 50 * ms}, {1, 150 * ms, 150 * ms}, {2, 250 * ms, 250 * ms}, {0, 350 * ms, 350 * ms}, {1, 450 * ms, 450 * ms}, {2, 550 * ms, 550 * ms}}
		if diff := cmp.Diff(team.taken, want); diff != "" {
			t.Errorf("who began what when (-got +want):\n%s", diff)
		}
	})
}

// TestCrashedClientsLeaveTheirArrival: to another idle client, at once.
func TestCrashedClientsLeaveTheirArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		team := newTeam(even(1), 0)
		life, die := context.WithCancel(t.Context())
		team.client(life, 0, always100ms)
		synctest.Wait()
		team.client(t.Context(), 1, always100ms)
		time.Sleep(400 * ms)
		die()
		team.end(1200 * ms)
		want := []taking{{1, 500 * ms, 500 * ms}, {1, 1500 * ms, 1500 * ms}}
		if diff := cmp.Diff(team.taken, want); diff != "" {
			t.Errorf("who began what when (-got +want):\n%s", diff)
		}
	})
}

// TestSoManyArrivals: no more than were asked for, and then it is over.
func TestSoManyArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := even(10)
		o.Operations = 7
		team := newTeam(o, 0)
		for id := range 2 {
			team.client(t.Context(), id, always100ms)
		}
		team.all.Wait()
		if _, done, ok := team.next(t.Context()); !done || ok {
			t.Errorf("after the last arrival: got done %v, another %v; want true and false", done, ok)
		}
		k := team.end(time.Minute)
		if want := (runinfo.Arrivals{Due: 7, Started: 7}); *k != want || len(team.taken) != 7 {
			t.Errorf("got %+v, %d begun; want %+v", *k, len(team.taken), want)
		}
	})
}

// TestAfterTheStages: clients stay until the run is over.
func TestAfterTheStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := even(0)
		o.Arrival, o.Stages = workloads.Constant, workloads.Stages{{Duration: 0, Rate: 10}, {Duration: time.Second, Rate: 10}}
		team := newTeam(o, 0)
		team.client(t.Context(), 0, always100ms)
		time.Sleep(time.Minute)
		left := make(chan struct{})
		go func() {
			team.all.Wait()
			close(left)
		}()
		synctest.Wait()
		select {
		case <-left:
			t.Error("the client left before the run was over")
		default:
		}
		if k, want := *team.end(0), (runinfo.Arrivals{Due: 10, Started: 10}); k != want {
			t.Errorf("got %+v, want %+v", k, want)
		}
	})
}

// TestAlarm: never before its time.
func TestAlarm(t *testing.T) {
	a := newAlarm()
	defer a.close()
	for _, d := range []time.Duration{-time.Second, 0, time.Microsecond, 300 * time.Microsecond, 3 * ms} {
		due := time.Now().Add(d)
		a.wait(due)
		if early := time.Until(due); early > 0 {
			t.Errorf("a wait of %v ended %v early", d, early)
		}
	}
}

// BenchmarkDispatch is the cost of an arrival for a client that is always behind; idle ones
// wait in addition.
func BenchmarkDispatch(b *testing.B) {
	for _, c := range []struct {
		name string
		rate float64
	}{{"behind", 1e9}, {"waited for", 2e4}} {
		b.Run(c.name, func(b *testing.B) {
			o := even(c.rate)
			o.Arrival = workloads.Poisson
			over := make(chan struct{})
			d := newDispatcher(o, runinfo.Share{}, over, newAlarm())
			d.begin(time.Now())
			before, _ := processor.Used()
			b.ReportAllocs()
			for b.Loop() {
				d.next(b.Context())
			}
			after, _ := processor.Used()
			close(over)
			d.finish(time.Now())
			b.ReportMetric(float64(after-before)/float64(b.N), "CPU-ns/arrival")
		})
	}
}
