package load

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/servertest"
	"github.com/lockbench/lockbench/servers"
	"github.com/lockbench/lockbench/workloads"
)

// faulted is one design under one fault, on a real server.
type faulted struct {
	name, design, fault string
	// held must be held and broken broken, each with exposure.
	held, broken []lockbench.Guarantee
	change       func(*workloads.Options)
}

var faultedRuns = []faulted{
	{name: "crash, sound", design: "lua-token/strategy", fault: "crash,p=0.01",
		held: list(lockbench.Recovery, lockbench.Exclusion)},
	{name: "crash between two commands", design: "setnx-getset/naive", fault: "crash,p=0.05",
		broken: list(lockbench.Recovery), change: wedges},
	{name: "crash of a watchdog", design: "hash-reentrant/notify", fault: "crash,p=0.01",
		held: list(lockbench.Recovery, lockbench.Exclusion)},
	{name: "lost reply, sound", design: "lua-token/strategy", fault: "lost-reply,p=0.02",
		held: list(lockbench.LostReply, lockbench.Exclusion)},
	{name: "lost reply between two commands", design: "setnx-getset/naive", fault: "lost-reply,p=0.05",
		broken: list(lockbench.LostReply), change: wedges},
	{name: "cut, sound", design: "lua-token/strategy", fault: "cut,p=0.02",
		held: list(lockbench.LostReply, lockbench.Exclusion)},
	{name: "cancel, sound", design: "lua-token/strategy", fault: "cancel,p=0.1",
		held: list(lockbench.Cancel, lockbench.Exclusion)},
	{name: "skew, by the server's clock", design: "lua-token/strategy", fault: "skew,by=5s",
		held: list(lockbench.Skew)},
	{name: "skew, by the clients' clocks", design: "setnx-getset/timestamp", fault: "skew,by=5s",
		broken: list(lockbench.Skew)},
	{name: "script flush, sound", design: "lua-token/strategy", fault: "script-flush,every=100ms",
		held: list(lockbench.ScriptFlush, lockbench.Exclusion)},
	{name: "pause, owner checked", design: "lua-token/strategy", fault: "pause,p=0.2",
		held: list(lockbench.OwnerRelease, lockbench.LossReported, lockbench.Exclusion), change: shortLease},
	{name: "pause, plain delete", design: "setnx-getset/naive", fault: "pause,p=0.2",
		broken: list(lockbench.OwnerRelease, lockbench.LossReported, lockbench.Exclusion), change: busyKey},
	{name: "pause, fenced store", design: "lua-token/fenced", fault: "pause,p=0.2",
		held: list(lockbench.Effects, lockbench.Fencing, lockbench.LossReported), change: guarded},
	{name: "server pause, sound", design: "lua-token/strategy", fault: "server-pause,at=500ms,every=2s,for=1s",
		held: list(lockbench.Exclusion, lockbench.NoEarlyExpiry)},
	{name: "restart, empty", design: "lua-token/strategy", fault: "restart,at=500ms,every=1s",
		held: list(lockbench.Exclusion), broken: list(lockbench.Restart), change: longHolds},
	{name: "restart, from its log", design: "lua-token/strategy", fault: "restart-aof,at=500ms,every=1s",
		held: list(lockbench.Exclusion, lockbench.ScriptFlush), change: longHolds},
	{name: "failover", design: "lua-token/strategy", fault: "failover,at=300ms,every=600ms",
		held: list(lockbench.Exclusion, lockbench.ScriptFlush), broken: list(lockbench.Failover), change: longThinks},
	{name: "evicted", design: "lua-token/strategy", fault: "evict,at=300ms,every=600ms",
		held: list(lockbench.Exclusion), broken: list(lockbench.Restart), change: longHolds},
	{name: "clock stepped ahead", design: "lua-token/strategy", fault: "clock-step,at=300ms,every=300ms",
		held: list(lockbench.Skew), broken: list(lockbench.Restart), change: longHolds},
	{name: "clock stepped back, to its start", design: "lua-token/strategy", fault: "clock-step,at=300ms,every=0s,by=-3s",
		held: list(lockbench.Skew), change: longHolds},
	{name: "clock stepped ahead, by the clients' clocks", design: "rueidislock/noloop", fault: "clock-step,at=300ms,every=300ms",
		broken: list(lockbench.Restart, lockbench.Skew), change: longHolds},
	{name: "lost reply, of another client library", design: "rueidislock/noloop", fault: "lost-reply,p=0.05",
		held: list(lockbench.LostReply)},
	{name: "cut, of another client library", design: "rueidislock/noloop", fault: "cut,p=0.05",
		held: list(lockbench.LostReply)},
	{name: "cancel, of another client library", design: "rueidislock/noloop", fault: "cancel,p=0.2",
		held: list(lockbench.Cancel, lockbench.Exclusion)},
	{name: "lost reply, of a client that batches", design: "lua-token/batched", fault: "lost-reply,p=0.05",
		held: list(lockbench.LostReply, lockbench.Exclusion)},
	{name: "cut, of a client that batches", design: "lua-token/batched", fault: "client-kill,at=300ms,every=300ms",
		held: list(lockbench.Exclusion)},
	{name: "slow", design: "lua-token/strategy", fault: "slow,every=500ms,for=200ms",
		held: list(lockbench.Exclusion)},
	{name: "throttled", design: "lua-token/strategy", fault: "throttle,every=500ms,for=200ms",
		held: list(lockbench.Exclusion)},
	{name: "black hole", design: "lua-token/strategy", fault: "black-hole,at=100ms,every=100ms,for=200ms",
		held: list(lockbench.Exclusion, lockbench.LostReply), change: wedges},
	{name: "client kill, sound", design: "lua-token/strategy", fault: "client-kill,at=50ms,every=10ms",
		held: list(lockbench.Exclusion, lockbench.LostReply)},
}

func list(g ...lockbench.Guarantee) []lockbench.Guarantee { return g }

// longHolds has every lock held for most of the time, and others try for it often, so
// that what strikes the server meets some that last and what it forgot is taken soon.
func longHolds(o *workloads.Options) {
	o.Hold, o.Wait = workloads.Always(300*time.Millisecond), 20*time.Millisecond
}

// shortLease has one key that is always held, by leases that a pause soon outlives: who
// was paused comes back while another holds it.
func shortLease(o *workloads.Options) {
	o.TTL, o.Duration = 200*time.Millisecond, 3*time.Second
	o.Keys, o.Hold = 1, workloads.Always(20*time.Millisecond)
}

func busyKey(o *workloads.Options) {
	shortLease(o)
	o.Duration = 6 * time.Second
}

// longThinks has locks that are held for long, and free for as long: of a lock that was
// held before, too, a replica would keep the older grant.
func longThinks(o *workloads.Options) {
	longHolds(o)
	o.Clients, o.Keys, o.Duration = 8, 4, 3*time.Second
	o.Think = workloads.Always(600 * time.Millisecond)
}

// guarded has the store refuse writes with a fence lower than one it has seen.
func guarded(o *workloads.Options) {
	shortLease(o)
	o.Guard = lockbench.FenceGuard
}

// wedges gives the run the time to see that a key stays locked past every lease.
func wedges(o *workloads.Options) { o.Duration = 7 * time.Second }

// TestFaults shows each fault what breaks under it, and what does not.
func TestFaults(t *testing.T) {
	for _, c := range faultedRuns {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// mostRuns is how often a fault may meet too little to say: what it meets is luck.
const mostRuns = 4

func (c *faulted) run(t *testing.T) {
	f, err := faults.Parse(c.fault)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		header, result, end := c.once(t, f)
		if c.untested(result) && n < mostRuns {
			continue
		}
		c.judge(t, result)
		if got := end.Trailer.Faults; len(got) != 1 || got[0].Struck == 0 || got[0].MetHeld+got[0].MetAcquire == 0 {
			t.Errorf("exposures %+v; want %s to have struck a lock", got, c.fault)
		}
		if len(header.Faults) != 1 || len(result.Defects) > 0 {
			t.Errorf("faults %v, defects %v; want one and none", header.Faults, result.Defects)
		}
		return
	}
}

// once makes one run, and looks at what it leaves behind.
func (c *faulted) once(t *testing.T, f faults.Fault) (history.Header, checker.Result, history.End) {
	t.Helper()
	server, records := servertest.Start(t), servertest.Start(t)
	if f.Kind == faults.ClockStep {
		servertest.Need(t, servers.FindClock())
	}
	var record bytes.Buffer
	s, err := Run(t.Context(), Config{
		Design: catalogued(t, c.design), Server: server, Records: records, Workload: workloads.Oversell(), History: &record,
		Faults: []faults.Fault{f}, Options: options(c.options),
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Ended != EndedDuration {
		t.Errorf("ended %q; want duration", s.Ended)
	}
	if n := keysLeft(t, server) + keysLeft(t, records); n != 0 {
		t.Errorf("%d keys left on the servers", n)
	}
	return judge(t, record.Bytes())
}

// untested tells whether something that c is to show was not met, or too seldom to break.
func (c *faulted) untested(r checker.Result) bool {
	return slices.ContainsFunc(c.held, func(g lockbench.Guarantee) bool { return r.Find(g).Verdict == checker.Untested }) ||
		slices.ContainsFunc(c.broken, func(g lockbench.Guarantee) bool { return r.Find(g).Verdict != checker.Broken })
}

func (c *faulted) options(o *workloads.Options) {
	o.Clients, o.Keys, o.Wait, o.Duration = 6, 2, 200*time.Millisecond, 2*time.Second
	if c.change != nil {
		c.change(o)
	}
}

func (c *faulted) judge(t *testing.T, r checker.Result) {
	t.Helper()
	for _, g := range c.held {
		if f := r.Find(g); f.Verdict != checker.Held {
			t.Errorf("%s: %v with %d occasions (%s); want held; %+v", g, f.Verdict, f.Exposure, f.Note, f.Witness)
		}
	}
	for _, g := range c.broken {
		if f := r.Find(g); f.Verdict != checker.Broken {
			t.Errorf("%s: %v with %d occasions (%s); want broken", g, f.Verdict, f.Exposure, f.Note)
		}
	}
}

func catalogued(t *testing.T, name string) design.Design {
	t.Helper()
	found, err := impls.Match(name)
	if err != nil || len(found) != 1 {
		t.Fatalf("design %s: %v", name, err)
	}
	return found[0]
}

// TestServersDown: a lock on five servers goes on without two of them, and grants
// nothing without three.
func TestServersDown(t *testing.T) {
	for _, c := range []struct {
		fault string
		goes  bool
	}{
		{"down,at=500ms,n=2", true},
		{"down,at=500ms,n=3", false},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			f, err := faults.Parse(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			var all []*servers.Server
			for range 5 {
				all = append(all, servertest.Start(t))
			}
			var record bytes.Buffer
			_, err = Run(t.Context(), Config{
				Design: catalogued(t, "redsync/quorum"), Server: all[0], Others: all[1:], Workload: workloads.Mutex(), History: &record,
				Faults: []faults.Fault{f}, Options: options(func(o *workloads.Options) { o.Duration = 2 * time.Second }),
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := grantsAfter(t, record.Bytes(), string(faults.Down)); n > 0 != c.goes {
				t.Errorf("%d grants called after the servers were down; want some: %t", n, c.goes)
			}
			_, result, _ := judge(t, record.Bytes())
			if v := verdict(result, lockbench.Exclusion); v != checker.Held || len(result.Defects) > 0 {
				t.Errorf("exclusion %v, defects %v; want held and none", v, result.Defects)
			}
		})
	}
}

// settled is for how long after servers were told to end they may still answer.
const settled = 200 * time.Millisecond

// grantsAfter counts the acquires granted that were called after the fault with this
// note, and before servers came back.
func grantsAfter(t *testing.T, record []byte, note string) (n int) {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	from, to := history.Never, history.Never
	for ev, err := range src.Events() {
		op := ev.Op
		switch {
		case err != nil:
			t.Fatal(err)
		case ev.Phase != history.Call:
		case op.Note == note:
			from = op.Call + int64(settled)
		case op.Note == string(faults.Restart):
			to = min(to, op.Call)
		case op.Kind == history.Acquire && op.Outcome == history.OK && op.Call > from && op.Call < to:
			n++
		}
	}
	return n
}
