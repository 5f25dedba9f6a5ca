package machines

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/drive/clockwatch"
	"github.com/lockbench/lockbench/internal/measure/clocks"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// competing are the options of a run over two keys that all clients take.
func competing(operations int64) workloads.Options {
	o := counted(operations)
	o.Keys, o.SharedKeys, o.Hold = 2, true, workloads.Always(2*time.Millisecond)
	return o
}

// sharing returns a plan of one lock on a Redis server, and the server.
func sharing(t *testing.T, o workloads.Options) (runner.Plan, *servers.Server) {
	t.Helper()
	on := servertest.Start(t)
	p := planOf(t, o)
	d, err := impls.Match("lua-token/token")
	if err != nil {
		t.Fatal(err)
	}
	p.Subjects[0].Design, p.Servers = d[0], []string{"unix://" + on.Options().Addr}
	return p, on
}

// keysLeft removes the keys on a server, and returns their number.
func keysLeft(t *testing.T, on *servers.Server) int {
	t.Helper()
	n, err := on.Sweep(t.Context(), "lockbench:")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A record is what the history of a machine has on its keys and clocks.
type record struct {
	header  history.Header
	keys    []string
	windows []clocks.Window
	probes  []clocks.Comparison
	end     int64 // the largest stamp of a client
}

// recordsOf reads the histories of a folder.
func recordsOf(t *testing.T, folder string) (all [2]record) {
	t.Helper()
	headers := eachEvent(t, folder, func(i int, ev history.Event) {
		r, op := &all[i], ev.Op
		switch {
		case ev.Phase != history.Call:
		case op.Kind == history.Probe:
			r.probes = append(r.probes, clocks.Comparison{Before: int64(op.Base), Other: op.Value, After: int64(op.Base) + op.Delay})
		case op.Kind == history.Clock:
			r.windows = append(r.windows, clocks.Window{From: int64(op.Base) - op.Delay, Until: int64(op.Base), Least: op.Value, Largest: op.Value + op.Wait})
		case op.Kind == history.Acquire:
			r.end = max(r.end, op.Call)
			if !slices.Contains(r.keys, op.Key) {
				r.keys = append(r.keys, op.Key)
			}
		}
	})
	for i, h := range headers {
		all[i].header = h
	}
	return all
}

// started is the instant of stamp zero.
func (r *record) started(t *testing.T) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, r.header.Started)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestSharedKeys checks that two machines compete for the same keys, whose records are removed at the end, and that
// their histories relate their stamps to one clock.
func TestSharedKeys(t *testing.T) {
	if err := clockwatch.Check(); err != nil {
		t.Skip(err)
	}
	p, on := sharing(t, competing(400))
	r := gather(t, 2, listening(p)).run(t, p, nil)
	j := &r.Runs[0]
	if j.Err != nil || j.Verdicts.Partial || j.Verdicts.Grants != 400 || j.Verdicts.Breaches > 0 {
		t.Errorf("%d grants, %d breaches, partial %v, error %v", j.Verdicts.Grants, j.Verdicts.Breaches, j.Verdicts.Partial, j.Err)
	}
	if b := j.Measures.Business; b == nil || b.Figures != nil || !strings.Contains(b.Why, "other machines") {
		t.Errorf("business %+v", b)
	}
	if n := keysLeft(t, on); n > 0 {
		t.Errorf("%d keys are left", n)
	}
	all := recordsOf(t, p.History)
	var known [2]*clocks.Clock
	for i := range all {
		its := &all[i]
		if !its.header.Others || len(its.keys) != 2 {
			t.Errorf("machine %d: others %v, keys %v; want two", i+1, its.header.Others, its.keys)
		}
		if known[i] = clocks.NewClock(its.windows, its.probes); known[i] == nil {
			t.Fatalf("machine %d: %d windows and %d probes say nothing", i+1, len(its.windows), len(its.probes))
		}
	}
	middle := all[0].started(t).Add(time.Duration(all[0].end / 2))
	var least, most [2]int64
	for i := range all {
		var is bool
		if least[i], most[i], is = known[i].At(int64(middle.Sub(all[i].started(t)))); !is {
			t.Errorf("machine %d: the clock is not known in the middle of the run", i+1)
		}
	}
	const slack = int64(time.Millisecond) // headers have wall clocks
	if least[0] > most[1]+slack || least[1] > most[0]+slack {
		t.Errorf("the middle of the run is %d to %d by one machine and %d to %d by the other", least[0], most[0], least[1], most[1])
	}
}

// TestFaultsOnTwoMachines runs a sound lock under faults of clients for half a minute, on keys of each machine and on
// shared ones: nothing is accused. A broken lock is caught by overlaps between the machines. TestSharedKeys and
// TestServerFaults are shorter.
func TestFaultsOnTwoMachines(t *testing.T) {
	longtest.Only(t)
	if err := clockwatch.Check(); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name, design string
		shared       bool
		length       time.Duration
		faults       []string
		broken       bool
	}{
		{"keys of each machine", "lua-token/token", false, 30 * time.Second, []string{"crash", "lost-reply", "pause", "cut"}, false},
		{"shared keys", "lua-token/token", true, 30 * time.Second, []string{"crash", "lost-reply", "pause", "cut"}, false},
		{"shared keys of a broken lock", "setnx-getset/naive", true, 15 * time.Second, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := workloads.Defaults()
			o.Clients, o.Keys, o.Groups, o.SharedKeys, o.Stallers, o.Duration, o.Seed = 8, 4, 2, c.shared, 8, c.length, 7
			o.TTL = time.Second // keys of the dead are free again soon
			p, on := sharing(t, o)
			d, err := impls.Match(c.design)
			if err != nil {
				t.Fatal(err)
			}
			p.Subjects[0].Design, p.Faults = d[0], c.faults
			j := &gather(t, 2, listening(p)).run(t, p, nil).Runs[0]
			if j.Err != nil || j.Verdicts.Partial || len(j.Machines) != 2 {
				t.Fatalf("%d machines, partial %v, error %v", len(j.Machines), j.Verdicts.Partial, j.Err)
			}
			var met, overlaps int64
			for _, f := range j.Verdicts.Findings {
				if f.Against > 0 {
					t.Errorf("accused: %+v", f)
				}
				if f.Cell.Guarantee == lockbench.Exclusion || f.Cell.Guarantee == lockbench.OwnerRelease {
					met, overlaps = met+f.Exposure, overlaps+f.Violations
				}
			}
			t.Logf("owners met %d times, with %d overlaps", met, overlaps)
			// On keys of one machine owners are late, and judged for that.
			if met == 0 || c.shared && c.broken != (overlaps > 0) {
				t.Error("that is not what this lock does")
			}
			if n := keysLeft(t, on); n > 0 {
				t.Errorf("%d keys are left", n)
			}
		})
	}
}

// TestRecordsOfMachines checks that shared keys are refused for records that each machine has in its memory.
func TestRecordsOfMachines(t *testing.T) {
	p := planOf(t, competing(8))
	p.Machines = gather(t, 2, listening(p))
	if _, err := runner.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "keeps no records of workload oversell") {
		t.Errorf("got %v", err)
	}
}

// TestSharedKeysOfLostAgent checks that no key is removed when the clients of a lost machine may still run.
func TestSharedKeysOfLostAgent(t *testing.T) {
	o := competing(0)
	o.Duration = 3 * time.Second
	p, on := sharing(t, o)
	c := gather(t, 2, listening(p))
	r := c.run(t, p, func() { c.agents[1].conn.Close() })
	j := &r.Runs[0]
	if !j.Verdicts.Partial || !slices.ContainsFunc(j.Notes, func(n string) bool {
		return strings.Contains(n, "may be left on the server") && strings.Contains(n, "machine 2 ")
	}) {
		t.Errorf("partial %v, notes %q", j.Verdicts.Partial, j.Notes)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	c.served.Wait()
	if !slices.ContainsFunc(c.errs, func(err error) bool { return errors.Is(err, ErrCoordinatorLost) }) {
		t.Errorf("the agents ended by %v, want %v", c.errs, ErrCoordinatorLost)
	}
	if keysLeft(t, on) == 0 {
		t.Error("no keys are left")
	}
}

// TestSharedKeysOfInterrupted checks that machines which are interrupted remove the keys.
func TestSharedKeysOfInterrupted(t *testing.T) {
	o := competing(0)
	o.Duration = time.Minute
	p, on := sharing(t, o)
	c := gather(t, 2, listening(p))
	r := c.run(t, p, c.interrupt)
	if j := &r.Runs[0]; j.Err != nil || j.Verdicts.Grants == 0 || j.Verdicts.Partial || j.End.Trailer.Ended != "interrupted" {
		t.Errorf("%d grants, partial %v, ended by %q, error %v", j.Verdicts.Grants, j.Verdicts.Partial, j.End.Trailer.Ended, j.Err)
	}
	if n := keysLeft(t, on); n > 0 {
		t.Errorf("%d keys are left", n)
	}
}

// TestSharedKeysOfFailure checks that a run which one machine cannot open leaves no key, and does not wait for clients
// that do not begin.
func TestSharedKeysOfFailure(t *testing.T) {
	p, on := sharing(t, competing(80))
	c := gather(t, 2, listening(p))
	good := c.agents[1].History
	c.agents[1].History = filepath.Join(t.TempDir(), "missing")
	p.Machines = c
	if _, err := runner.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "machine 2 ") {
		t.Errorf("a run without a folder on one machine: %v", err)
	}
	c.agents[1].History = good
	if r := c.run(t, p, nil); r.Runs[0].Err != nil || r.Runs[0].Verdicts.Grants != 80 {
		t.Errorf("the next run: %d grants, error %v", r.Runs[0].Verdicts.Grants, r.Runs[0].Err)
	}
	if n := keysLeft(t, on); n > 0 {
		t.Errorf("%d keys are left", n)
	}
}

// TestAwaitOthers checks when a run removes its keys: at once if no machine can have begun, else when it is told that
// all have stopped, and never if it is not told.
func TestAwaitOthers(t *testing.T) {
	for _, c := range []struct {
		name               string
		ready, interrupted bool
		told               []string
		wait               time.Duration
		err                string
	}{
		{"not ready", false, false, nil, 0, ""},
		{"told", true, false, []string{""}, 0, ""},
		{"told twice", true, false, []string{"", "machine 2 is lost"}, 0, ""},
		{"one is lost", true, false, []string{"machine 2 is lost", ""}, 0, "machine 2 is lost"},
		{"interrupted", true, true, nil, othersEnd, "clients of other machines may still run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recording{others: make(chan string, 1)}
				r.ready.Store(c.ready)
				for _, why := range c.told {
					r.othersEnded(why)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.interrupted {
					cancel()
				}
				began := time.Now()
				err := r.awaitOthers(ctx)
				if text := fmt.Sprint(err); (err == nil) != (c.err == "") || err != nil && text != c.err {
					t.Errorf("error %v, want %q", err, c.err)
				}
				if waited := time.Since(began); waited != c.wait {
					t.Errorf("waited %v, want %v", waited, c.wait)
				}
				if !r.stopped.Load() {
					t.Error("the coordinator is not told that the clients have stopped")
				}
			})
		})
	}
}

// TestStopped checks when the coordinator says that the clients of all machines have stopped.
func TestStopped(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name  string
		other machine // the first one has stopped
		all   bool
		lost  bool
	}{
		{"of another run", machine{last: beat{Run: 1, Stopped: true}, since: now}, false, false},
		{"not stopped", machine{last: beat{Run: 2}, since: now}, false, false},
		{"stopped", machine{last: beat{Run: 2, Stopped: true}, since: now}, true, false},
		{"ended", machine{last: beat{Run: 2, Ended: true}, since: now}, true, false},
		{"lost", machine{last: beat{Run: 2}, since: now.Add(-time.Hour)}, true, true},
		{"lost when stopped", machine{last: beat{Run: 2, Stopped: true}, since: now.Add(-time.Hour)}, true, false},
		{"torn", machine{last: beat{Run: 2}, since: now, torn: errSilent}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := &Coordinator{}
			of.machines = []*machine{{of: of, last: beat{Run: 2, Stopped: true}, since: now}, &c.other}
			c.other.of = of
			if all, lost := of.stopped(2); all != c.all || (lost != nil) != c.lost {
				t.Errorf("all %v, lost %v; want %v, %v", all, lost, c.all, c.lost)
			}
		})
	}
}
