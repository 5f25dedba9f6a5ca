package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/clockwatch"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/drive/occupancy"
	"github.com/lockbench/lockbench/internal/drive/serverwatch"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/workloads"
)

// Run runs the configuration until its duration or operations are over, ctx ends, the server
// is lost or the history cannot be written. It returns when every client has stopped, the
// run's keys are removed and the history is complete but for being closed.
//
// Its error is about the set-up, or says why the record is unreliable: then it wraps the error
// of writing the history, and the Summary holds the counts so far. A lost server is no error;
// Summary.Ended and Notes report it.
func Run(ctx context.Context, c Config) (Summary, error) {
	o, err := c.options()
	if err != nil {
		return Summary{}, err
	}
	r := &run{cfg: c, options: o, prefix: c.Prefix}
	if r.prefix == "" {
		r.prefix = servers.NewPrefix()
	}
	if err := r.open(ctx); err != nil {
		r.closeProcesses()
		r.end()
		r.sweep(ctx, r.awaitOthers(ctx))
		return r.summary, fmt.Errorf("run %s: %w", c.Design.Name, err)
	}
	r.drive(ctx)
	if err := r.close(ctx); err != nil {
		return r.summary, fmt.Errorf("run %s: %w", c.Design.Name, err)
	}
	return r.summary, nil
}

// run is the state of one run. Its fields are in the order in which they are set: by Run, by open,
// by drive, and at the end.
type run struct {
	cfg     Config
	options workloads.Options
	prefix  string

	store       design.Records
	guarded     lockbench.Store // store behind its guard
	processes   processes
	recorder    *history.Recorder // nil when nothing is recorded
	injector    *inject.Injector  // nil if there is nothing to inject or to record
	monitor     *occupancy.Monitor
	measured    *group
	stalled     *group // nil if nobody stalls
	clients     []*client
	totals      totals
	arrivals    *dispatcher          // nil in a closed loop
	standstills *standstillWatch     // nil when nothing is recorded
	serverWatch *serverwatch.Watcher // nil if there is nothing to watch, or nothing is recorded
	clockWatch  *clockwatch.Watcher  // nil if there is no common clock, or nothing is recorded

	stopped  chan struct{} // closed when all clients have stopped
	running  atomic.Int64  // number of clients that have not stopped
	problems []error
	summary  Summary
}

// open makes the clients and everything that they need.
func (r *run) open(ctx context.Context) error {
	r.summary = Summary{Options: r.options, Prefix: r.prefix}
	if err := r.cfg.services().Check(ctx, r.cfg.Design.Commands); err != nil {
		return err
	}
	if err := r.plan(ctx); err != nil {
		return err
	}
	if err := r.openStore(); err != nil {
		return err
	}
	r.openGroups()
	for _, g := range r.groups() {
		r.processes.byPlace = append(r.processes.byPlace, make([]*process, g.options.Processes)...)
	}
	for _, g := range r.groups() {
		if err := g.shared.Prepare(ctx, r.store, r.cfg.Workload); err != nil {
			return fmt.Errorf("prepare the store: %w", err)
		}
		for place := range g.options.Processes {
			if !g.here(place) {
				continue
			}
			if _, err := r.openProcess(g.places + place); err != nil {
				return err
			}
		}
	}
	for _, p := range r.processes.all(0, len(r.processes.byPlace)) {
		if err := p.ready(ctx); err != nil {
			return err
		}
	}
	if r.cfg.Barrier != nil {
		if err := r.cfg.Barrier(ctx); err != nil {
			return err
		}
	}
	if err := r.record(); err != nil {
		return err
	}
	r.openClients()
	return nil
}

func (r *run) openStore() (err error) {
	r.store = backend.RecordsOf(r.cfg.records(), r.prefix)
	if _, can := r.store.(workloads.AtomicStore); r.cfg.Design.Control == design.OneRequest && !can {
		return fmt.Errorf("design %s: the store does no step in one request; hint: records on a Redis server", r.cfg.Design.Name)
	}
	r.guarded, err = r.store.Guarded(r.options.Guard)
	return err
}

// plan prepares the faults. A run without faults on a server of the user's has an injector, too: it
// records broken connections, which others can cause.
func (r *run) plan(ctx context.Context) (err error) {
	c := &r.cfg
	switch mine := c.Services.First().Kind() != design.External; {
	case len(c.Faults) == 0 && (mine || c.History == nil || c.unwatched):
		return nil
	case c.History == nil:
		return errors.New("faults without a history show nothing; hint: record one")
	}
	if r.injector, err = c.injector(r.options, nil); err != nil {
		return err
	}
	return r.injector.Open(ctx)
}

// injector returns the injector of a run, whose clients are those of this machine if others is nil.
func (c *Config) injector(o workloads.Options, others inject.Clients) (*inject.Injector, error) {
	return inject.New(inject.Config{
		Faults: c.Faults, Services: c.services(), Seed: o.Seed,
		Lease: c.Design.Lease(o.TTL), Tolerance: c.Design.Tolerance, Duration: o.Duration,
		Clients: others, Remote: c.Host != nil,
	})
}

// ServerFaults returns the injector of the faults of servers for a run that is made by clients on other
// machines. Each of these has this one as its Host.
func ServerFaults(c Config, clients inject.Clients) (*inject.Injector, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	return c.injector(o, clients)
}

func (r *run) record() error {
	if r.cfg.History == nil {
		return nil
	}
	h, err := header(r.cfg, r.options)
	if err == nil {
		r.recorder, err = history.NewRecorder(r.cfg.History, h)
	}
	return err
}

func (r *run) openClients() {
	var keys []string
	for _, g := range r.groups() {
		keys = append(keys, g.shared.Keys...)
	}
	r.monitor = occupancy.New(keys, r.cfg.Design.Reacquire == design.Nested)
	for _, g := range r.groups() {
		for i := range g.options.Clients {
			if !g.here(i) {
				continue
			}
			c := &client{number: g.first + i, group: g}
			r.newOwner(c, c.number, r.processes.byPlace[g.place(c.number)])
			r.clients = append(r.clients, c)
		}
	}
}

// drive lets the clients run until something ends the run, and then winds down.
func (r *run) drive(ctx context.Context) {
	// The end of ctx ends the run, not the operations under way.
	operations, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	waiting, stopWaiting := context.WithCancel(operations)
	defer stopWaiting()
	r.stopped = make(chan struct{})
	now := time.Now()
	for _, g := range r.groups() {
		g.shared.Waiting, g.shared.Start = waiting, now
	}
	r.begin(operations)
	r.watchStandstills()
	r.watchServers(ctx)
	r.watchClocks()
	r.start(operations)

	w := &watch{run: r}
	r.summary.Ended = w.until(ctx)
	if err := r.diedAlone(); err != nil {
		r.summary.Ended = EndedProgramLost
		r.problem(err)
	}
	close(r.measured.over)
	ended := time.Now()
	r.summary.EndNS = r.stamp(ended)
	r.summary.ServerCPUNS = processorTime(w.used, r.usage(ctx))
	r.end()
	if r.stalled != nil {
		w.untilStalled(ctx)
		close(r.stalled.over)
	}
	r.awaitClients(stopWaiting, abandon)
	if r.arrivals != nil {
		r.summary.Arrivals = r.arrivals.finish(ended)
	}
	w.report()
}

// begin starts the faults.
func (r *run) begin(ctx context.Context) {
	if r.injector == nil {
		return
	}
	if err := r.injector.Prepare(ctx, r.recorder); err != nil {
		r.problem(err)
	} else {
		r.injector.Start()
	}
	if r.cfg.Host != nil {
		r.cfg.Host.Meets(r.injector)
	}
}

// end stops the faults.
func (r *run) end() {
	if r.cfg.Host != nil {
		r.cfg.Host.Ends()
	}
	if r.injector != nil {
		r.problem(r.injector.Stop())
		r.summary.Faults = r.injector.Exposures()
	}
}

func (r *run) problem(err error) {
	if err != nil {
		r.problems = append(r.problems, err)
	}
}

// base is the instant of stamp zero.
func (r *run) base() time.Time {
	if r.recorder == nil {
		return r.measured.shared.Start
	}
	return r.recorder.Base()
}

func (r *run) stamp(at time.Time) int64 { return int64(at.Sub(r.base())) }

func (r *run) start(ctx context.Context) {
	var all, measured sync.WaitGroup
	if r.options.OpenLoop() {
		r.arrivals = newDispatcher(r.options, r.cfg.Share, r.measured.over, r.cfg.arrivalClock())
		r.arrivals.begin(r.base().Add(r.options.Warmup))
	}
	r.running.Store(int64(len(r.clients)))
	measured.Add(r.measured.clients())
	for _, c := range r.clients {
		share := r.share(c)
		all.Go(func() {
			defer r.running.Add(-1)
			r.makeLoad(ctx, c, share)
			if c.group == r.measured {
				measured.Done()
			}
		})
	}
	go func() {
		measured.Wait()
		close(r.measured.stopped)
		all.Wait()
		close(r.stopped)
	}()
}

// share returns the number of iterations of a client, negative for no limit. Fixed shares, instead
// of one counter for all clients, make runs with equal seeds equal, and keep clients from sharing
// memory.
func (r *run) share(c *client) int64 {
	total, n := c.group.options.Operations, int64(c.group.options.Clients)
	if total == 0 || c.group == r.measured && r.arrivals != nil { // arrivals come to any idle client
		return -1
	}
	share := total / n
	if int64(c.number-c.group.first) < total%n {
		share++
	}
	return share
}

// Time that operations may still take after the end of a run.
const (
	// waitGrace is for acquires that wait, in addition to their own wait, up to longestWait. They
	// may end by themselves, so that the end of the run does not decide the verdict on a lock that
	// handles interrupted waits badly. Locks are released at once, so waiting clients soon get
	// them.
	waitGrace   = time.Second
	longestWait = 10 * time.Second
	// operationGrace is for everything that has no answer yet, as long as the
	// servers' own read time-out; after it the context is cancelled.
	operationGrace = 5 * time.Second
	// closeGrace is the time after that until the design's connections are closed, and again
	// until a client that is still stuck is given up.
	closeGrace = 3 * time.Second
)

// awaitClients waits for the clients. It interrupts first their waits, then all their operations,
// then their connections.
func (r *run) awaitClients(stopWaiting, abandon func()) {
	steps := []struct {
		patience time.Duration
		then     func()
	}{
		{waitGrace + min(r.options.Wait, longestWait), stopWaiting},
		{operationGrace - waitGrace, abandon},
		{closeGrace, r.closeProcesses},
		{closeGrace, r.abandon},
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for _, step := range steps {
		timer.Reset(step.patience)
		select {
		case <-r.stopped:
			return
		case <-timer.C:
			step.then()
		}
	}
}

// abandon leaves goroutines behind that neither contexts nor closed connections end: the lock under
// test does not return from a call.
func (r *run) abandon() {
	r.problems = append(r.problems, fmt.Errorf(
		"%d clients are still inside a call %v after the run; hint: the lock must return when its context ends",
		r.running.Load(), operationGrace+2*closeGrace))
}
