package load

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/workloads"
)

// faulted is one design under one fault, lua-token/strategy if none is named.
type faulted struct {
	name, design, fault string
	// held must be held under these conditions and any others, except for work past a lease and the
	// condition of a broken cell; broken must be broken under exactly these.
	held, broken []lockbench.Cell
	// after is the condition under which the end of the fault may break a held cell: a clock that is
	// set right again steps the other way.
	after  lockbench.Conditions
	change func(*workloads.Options)
}

// faultedClients are runs in virtual time: runs with faults of clients, and runs that an embedded
// server suits as well as any.
var faultedClients = []faulted{
	{name: "crash, sound", fault: "crash,p=0.01", held: cells("recovery@crash exclusion")},
	{name: "crash between two commands", design: "setnx-getset/naive", fault: "crash,p=0.05", broken: cells("recovery@crash"), change: wedges},
	{name: "crash of a watchdog", design: "hash-reentrant/notify", fault: "crash,p=0.01", held: cells("recovery@crash exclusion")},
	{name: "lost reply, sound", fault: "lost-reply,p=0.02", held: cells("recovery@lost-reply exclusion")},
	{name: "lost reply between two commands", design: "setnx-getset/naive", fault: "lost-reply,p=0.05",
		broken: cells("recovery@lost-reply"), change: wedges},
	{name: "cut, sound", fault: "cut,p=0.02", held: cells("recovery@lost-reply exclusion")},
	{name: "cancel, sound", fault: "cancel,p=0.1", held: cells("recovery@cancel exclusion")},
	{name: "skew, by the server's clock", fault: "skew,by=5s", held: cells("exclusion@skew")},
	{name: "skew, by the clients' clocks", design: "setnx-getset/timestamp", fault: "skew,by=5s", broken: cells("exclusion@skew")},
	{name: "script flush, sound", fault: "script-flush,every=100ms", held: cells("answers@script-flush exclusion")},
	{name: "pause, owner checked", fault: "pause,p=0.2",
		held: cells("owner-release@outlived+pause loss-reported@outlived+pause exclusion"), change: shortLease},
	{name: "pause, plain delete", design: "setnx-getset/naive", fault: "pause,p=0.2",
		broken: cells("owner-release@outlived+pause loss-reported@outlived+pause exclusion@outlived+pause"), change: shortLease},
	{name: "pause, fenced store", design: "lua-token/fenced", fault: "pause,p=0.2",
		held: cells("effects fencing loss-reported@outlived+pause"), change: guarded},
}

// faultedServers are runs in real time that need a server of their own: the fault affects the
// server or its connections, or the design uses another client library.
var faultedServers = []faulted{
	{name: "server pause, sound", fault: "server-pause,at=500ms,every=2s,for=1s", held: cells("exclusion lease")},
	{name: "restart, empty", fault: "restart,at=500ms,every=1s", held: cells("exclusion"), broken: cells("exclusion@state-loss"), change: longHolds},
	{name: "restart, from its log", fault: "restart-aof,at=500ms,every=1s", held: cells("exclusion answers@script-flush"), change: longHolds},
	{name: "failover", fault: "failover,at=300ms,every=600ms",
		held: cells("exclusion answers@script-flush"), broken: cells("exclusion@failover"), change: longThinks},
	{name: "evicted", fault: "evict,at=300ms,every=600ms", held: cells("exclusion"), broken: cells("exclusion@state-loss"), change: longHolds},
	{name: "clock stepped ahead", fault: "clock-step,at=300ms,every=300ms",
		held: cells("exclusion@skew"), broken: cells("exclusion@skew+state-loss"), change: longHolds},
	{name: "clock stepped back, to its start", fault: "clock-step,at=300ms,every=0s,by=-3s", held: cells("exclusion@skew"), after: lockbench.StateLoss, change: longHolds},
	{name: "clock stepped ahead, by the clients' clocks", design: "rueidislock/noloop", fault: "clock-step,at=300ms,every=300ms",
		broken: cells("exclusion@skew+state-loss exclusion@skew"), change: longHolds},
	{name: "lost reply, of another client library", design: "rueidislock/noloop", fault: "lost-reply,p=0.05", held: cells("recovery@lost-reply")},
	{name: "cut, of another client library", design: "rueidislock/noloop", fault: "cut,p=0.05", held: cells("recovery@lost-reply")},
	{name: "cancel, of another client library", design: "rueidislock/noloop", fault: "cancel,p=0.2", held: cells("recovery@cancel exclusion")},
	{name: "lost reply, of a client that batches", design: "lua-token/batched", fault: "lost-reply,p=0.05",
		held: cells("recovery@lost-reply exclusion")},
	{name: "cut, of a client that batches", design: "lua-token/batched", fault: "client-kill,at=300ms,every=300ms", held: cells("exclusion")},
	{name: "slow", fault: "slow,every=500ms,for=200ms", held: cells("exclusion")},
	{name: "throttled", fault: "throttle,every=500ms,for=200ms", held: cells("exclusion")},
	{name: "black hole", fault: "black-hole,at=100ms,every=100ms,for=200ms", held: cells("exclusion recovery@lost-reply"), change: wedges},
	{name: "client kill, sound", fault: "client-kill,at=50ms,every=10ms", held: cells("exclusion recovery@lost-reply")},
}

// TestEveryFaultIsRun: each live fault has a run here, except for the ones in TestServersDown, those of
// sessions, which runs of the designs on PostgreSQL and MariaDB have, and those of members, which the
// tests of adapters have.
func TestEveryFaultIsRun(t *testing.T) {
	for _, kind := range fault.Kinds() {
		is := func(c faulted) bool { f, err := fault.Parse(c.fault); return err == nil && f.Kind == kind }
		live := fault.Of(kind).Live
		elsewhere := live.Several || live.Needs.Has(fault.Sessions) || live.Needs.Has(fault.Elects)
		if !elsewhere && !slices.ContainsFunc(slices.Concat(faultedClients, faultedServers), is) {
			t.Errorf("no run has %s; hint: a row of faultedClients or faultedServers", kind)
		}
	}
}

// cells reads cells, separated by spaces.
func cells(text string) (all []lockbench.Cell) {
	for name := range strings.FieldsSeq(text) {
		cell, err := lockbench.ParseCell(name)
		if err != nil {
			panic(err)
		}
		all = append(all, cell)
	}
	return all
}

// longHolds makes every lock held for most of the time, and lets others try for it often, so that
// faults of the server meet lasting holds, and forgotten locks are soon taken.
func longHolds(o *workloads.Options) {
	o.Hold, o.Wait = workloads.Always(300*time.Millisecond), 20*time.Millisecond
}

// shortLease makes one key always held, by leases that a pause soon outlives: a paused client comes
// back while another holds it.
func shortLease(o *workloads.Options) {
	o.TTL, o.Duration = 200*time.Millisecond, 20*time.Second
	o.Keys, o.Hold = 1, workloads.Always(20*time.Millisecond)
}

// longThinks makes locks held for long, and free for as long: a replica would keep the older grant
// of a lock that was held before.
func longThinks(o *workloads.Options) {
	longHolds(o)
	o.Clients, o.Keys, o.Duration = 8, 4, 3*time.Second
	o.Think = workloads.Always(600 * time.Millisecond)
}

// guarded makes the store refuse writes with a fence lower than one it has seen.
func guarded(o *workloads.Options) {
	shortLease(o)
	o.Guard = lockbench.FenceGuard
}

// wedges gives the run the time to see that a key stays locked past every lease.
func wedges(o *workloads.Options) { o.Duration = 7 * time.Second }

// TestFaults checks, for each fault, the cells that break under it and the cells that hold.
func TestFaults(t *testing.T) {
	for _, c := range faultedClients {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.run(t, Config{Design: slowly(catalogued(t, cmp.Or(c.design, "lua-token/strategy"))), Services: backend.Group{embedded(t)}, Records: embedded(t), Options: options(c.options)}, 0)
			})
		})
	}
	for _, c := range faultedServers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(c.fault, string(fault.ClockStep)) {
				servertest.Need(t, servers.FindClock())
			}
			o := options(c.options)
			least := longtest.Times(0, int(o.Duration))
			o.Duration = time.Minute // more than it takes on any machine
			c.run(t, Config{Design: catalogued(t, cmp.Or(c.design, "lua-token/strategy")), Services: backend.Group{servertest.Start(t)}, Records: servertest.Start(t), Options: o}, time.Duration(least))
		})
	}
}

// run makes a run that ends when its history shows the expected cells, after the least time.
func (c *faulted) run(t *testing.T, config Config, least time.Duration) {
	f, err := fault.Parse(c.fault)
	if err != nil {
		t.Fatal(err)
	}
	var record bytes.Buffer
	file := c.follow(&record, least)
	config.Workload, config.Faults = workloads.Must("oversell"), []fault.Fault{f}
	config.History, config.Broken = file, file.seen
	s, err := Run(t.Context(), config)
	if err := errors.Join(err, file.close()); err != nil {
		t.Fatal(err)
	}
	header, result, end := judge(t, record.Bytes())
	if s.Ended != EndedBroken && s.Ended != EndedDuration { // some of it shows at the end alone
		t.Errorf("ended %q; want it to end because all is seen, or its time over", s.Ended)
	}
	if n := keysLeft(t, config.Services.First()) + keysLeft(t, config.Records); n != 0 {
		t.Errorf("%d keys left on the servers", n)
	}
	c.judge(t, result)
	once := strings.Contains(c.fault, "every=0s") // a slow machine may have granted no lock by then
	if got := end.Trailer.Faults; len(got) != 1 || got[0].Occurrences == 0 || !once && got[0].MetHeld+got[0].MetAcquire == 0 {
		t.Errorf("exposures %+v; want %s to have affected a lock", got, c.fault)
	}
	if len(header.Faults) != 1 || len(result.Defects) > 0 {
		t.Errorf("faults %v, defects %v; want one and none", header.Faults, result.Defects)
	}
}

// A followed history is judged while it is written.
type followed struct {
	io.Writer
	end  *io.PipeWriter
	seen chan struct{} // closed when it shows the expected cells
	read chan error
}

// follow copies writes to record, and judges them from the beginning. A run lasts at least for the
// least time.
func (c *faulted) follow(record io.Writer, least time.Duration) *followed {
	r, w := io.Pipe()
	f := &followed{io.MultiWriter(record, w), w, make(chan struct{}), make(chan error, 1)}
	begun := time.Now()
	go func() {
		f.read <- c.watch(r, func() bool { return time.Since(begun) >= least }, f.seen)
	}()
	return f
}

func (f *followed) close() error {
	_ = f.end.Close() // it returns no error
	return <-f.read
}

// watch reads a history to its end, and closes seen when it shows, in due time, that a fault
// occurred and the expected cells.
func (c *faulted) watch(r io.Reader, due func() bool, seen chan<- struct{}) error {
	src, err := history.NewSource(r)
	if err != nil {
		return err
	}
	judge, occurred, n := checker.New(src.Header()), false, 0
	for ev, err := range src.Events() {
		if err != nil {
			return err
		}
		judge.Add(ev)
		occurred = occurred || ev.Op.Kind == history.Fault && fault.EventOf(ev.Op.Note).Act != fault.StandsStill || ev.Op.Kind == history.Pause || ev.Op.Kind == history.Death
		if n++; n%50 == 0 && seen != nil && occurred && due() && c.shown(judge.SoFar()) {
			close(seen)
			seen = nil
		}
	}
	return nil
}

// shown reports whether r has all expected cells.
func (c *faulted) shown(r checker.Result) bool {
	lacks := func(want checker.Verdict) func(lockbench.Cell) bool {
		return func(cell lockbench.Cell) bool { return c.found(r, cell).Verdict != want }
	}
	return !slices.ContainsFunc(c.held, lacks(checker.Held)) && !slices.ContainsFunc(c.broken, lacks(checker.Broken))
}

// found is the finding of r for a cell: for exactly this cell if it must be broken.
func (c *faulted) found(r checker.Result, cell lockbench.Cell) (worst checker.CellFinding) {
	if slices.Contains(c.broken, cell) {
		return r.Find(cell)
	}
	excused := lockbench.Outlived | c.after
	for _, b := range c.broken {
		excused |= b.Under
	}
	for _, f := range r.Findings {
		if f.Cell.Guarantee == cell.Guarantee && f.Cell.Under.Has(cell.Under) && f.Cell.Under&excused&^cell.Under == 0 && f.Verdict.Graver(worst.Verdict) {
			worst = f
		}
	}
	return worst
}

func (c *faulted) options(o *workloads.Options) {
	o.Clients, o.Keys, o.Wait, o.Duration = 6, 2, 200*time.Millisecond, 2*time.Second
	if c.change != nil {
		c.change(o)
	}
}

func (c *faulted) judge(t *testing.T, r checker.Result) {
	t.Helper()
	for _, cell := range c.held {
		if f := c.found(r, cell); f.Verdict != checker.Held {
			t.Errorf("%s: %s is %v with %d occasions (%s); want held; %+v", cell, f.Cell, f.Verdict, f.Exposure, f.Note, f.Counterexample)
		}
	}
	for _, cell := range c.broken {
		if f := c.found(r, cell); f.Verdict != checker.Broken {
			t.Errorf("%s: %v with %d occasions (%s); want broken", cell, f.Verdict, f.Exposure, f.Note)
		}
	}
	if t.Failed() {
		for _, f := range r.Findings {
			t.Logf("%s: %v, %d of %d", f.Cell, f.Verdict, f.Violations, f.Exposure)
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
		down  int
		goes  bool
	}{
		{"down,at=100ms,n=2", 2, true},
		{"down,at=100ms,n=3", 3, false},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			f, err := fault.Parse(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			var all backend.Group
			for range 5 {
				all = append(all, servertest.Start(t))
			}
			var record bytes.Buffer
			progress, over := &Progress{}, make(chan struct{})
			want := &faulted{held: []lockbench.Cell{lockbench.Exclusion.At(0)}}
			file := want.follow(&record, 0)
			go func() {
				defer close(over)
				goesOn(t, all[5-c.down:], progress, c.goes)
				if c.goes { // a few grants need not meet a client that waits for the lock
					select {
					case <-file.seen:
					case <-t.Context().Done():
					}
				}
			}()
			_, err = Run(t.Context(), Config{
				Design: catalogued(t, "redsync/quorum"), Services: all, Workload: workloads.Must("mutex"), History: file,
				Faults: []fault.Fault{f}, Options: options(func(o *workloads.Options) { o.Duration = time.Hour }),
				Progress: progress, Broken: over,
			})
			if err := errors.Join(err, file.close()); err != nil {
				t.Fatal(err)
			}
			_, result, _ := judge(t, record.Bytes())
			// Without a majority all grants come before the servers are down: on a slow machine none.
			v := result.Find(lockbench.Exclusion.At(0)).Verdict
			if ok := v == checker.Held || v == checker.Untested && !c.goes; !ok || len(result.Defects) > 0 {
				t.Errorf("exclusion %v, defects %v; want held and none", v, result.Defects)
			}
		})
	}
}

// goesOn waits until the servers are down, and then for the clients of a run to be granted
// more, or refused without any grant.
func goesOn(t *testing.T, down backend.Group, p *Progress, goes bool) {
	for _, s := range down {
		for answers(t, s) {
			time.Sleep(time.Millisecond)
		}
	}
	// All earlier calls are over when there have been more answers than clients.
	const soon = 10
	await := func(n func() int64) {
		for begun := n(); n() < begun+soon && t.Context().Err() == nil; {
			time.Sleep(time.Millisecond)
		}
	}
	vain := func() int64 { return p.Refused.Load() + p.Failed.Load() }
	if goes {
		await(p.Grants.Load)
		return
	}
	await(vain)
	before := p.Grants.Load()
	await(vain)
	if n := p.Grants.Load() - before; n > 0 {
		t.Errorf("%d grants while three of five servers were down", n)
	}
}

func answers(t *testing.T, s design.Service) bool { return s.Ping(t.Context()) == nil }
