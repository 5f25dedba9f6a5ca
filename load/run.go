package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/servers"
	"github.com/lockbench/lockbench/workloads"
)

// Run runs the configuration until its duration or operations are over, ctx ends,
// the server is lost or the history cannot be written. It returns when every
// client has stopped, the run's keys are removed and the history is complete but
// for being closed.
//
// The error is of the set-up, or says why the record is not to be relied on: it
// wraps the error of writing the history then, and the Summary holds what was
// counted. A server that is lost is no error; Summary.Ended and Notes tell.
func Run(ctx context.Context, c Config) (Summary, error) {
	o, err := c.options()
	if err != nil {
		return Summary{}, err
	}
	r := &run{cfg: c, options: o, prefix: servers.NewPrefix()}
	if err := r.open(ctx); err != nil {
		r.closeProcesses()
		r.sweep(ctx)
		return r.summary, fmt.Errorf("run %s: %w", c.Design.Name, err)
	}
	r.drive(ctx)
	if err := r.close(ctx); err != nil {
		return r.summary, fmt.Errorf("run %s: %w", c.Design.Name, err)
	}
	return r.summary, nil
}

// run is one run under way.
type run struct {
	cfg     Config
	options workloads.Options
	prefix  string

	store     *servers.Store
	processes []design.Process
	recorder  *history.Recorder // nil when nothing is recorded
	witness   *Witness
	shared    *workloads.Run
	clients   []*workloads.Client
	commands  []commands // by process

	over     chan struct{} // closed when no client is to begin another iteration
	stopped  chan struct{} // closed when all clients have stopped
	running  atomic.Int64  // clients that have not
	closing  sync.Once
	problems []error
	summary  Summary
}

// open makes everything that clients need, and the clients.
func (r *run) open(ctx context.Context) error {
	r.summary = Summary{Options: r.options, Prefix: r.prefix}
	if err := r.cfg.Server.Check(ctx, r.cfg.Design.Commands); err != nil {
		return err
	}
	r.store = r.cfg.Server.Store(r.prefix)
	r.commands = make([]commands, r.options.Processes)
	if prepare := r.cfg.Workload.Prepare; prepare != nil {
		if err := prepare(ctx, r.store, r.options); err != nil {
			return fmt.Errorf("prepare the store: %w", err)
		}
	}
	for i := range r.options.Processes {
		p, err := r.cfg.Design.Open(r.environment(i))
		if err != nil {
			return fmt.Errorf("open process %d: %w", i, err)
		}
		r.processes = append(r.processes, p)
	}
	if err := r.record(); err != nil {
		return err
	}
	r.openClients()
	return nil
}

func (r *run) environment(process int) design.Environment {
	return design.Environment{
		Redis:    r.cfg.Server.Options(),
		Prefix:   r.prefix,
		Host:     fmt.Sprintf("server-%d", process),
		PID:      1000 + process,
		Now:      time.Now,
		Random:   processRandom(r.options.Seed, process),
		Commands: &r.commands[process].sent,
	}
}

// commands counts what one process sent, away from what others count.
type commands struct {
	sent atomic.Int64
	_    [64]byte
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
	r.over = make(chan struct{})
	r.shared = workloads.NewRun(r.options, r.over)
	r.shared.Tolerance = r.cfg.Design.Tolerance
	r.witness = NewWitness(r.shared.Keys(), r.cfg.Design.Reacquire == design.Nested)
	for id := range r.options.Clients {
		locker, store := r.lockerOf(id)
		r.clients = append(r.clients, r.shared.Client(id, r.witness.Locker(locker), store))
	}
}

// lockerOf makes the owner that client id is, recorded.
func (r *run) lockerOf(id int) (lockbench.Locker, lockbench.Store) {
	process := id % len(r.processes)
	if r.recorder == nil {
		return r.processes[process].Locker(design.Blind), r.store
	}
	client := r.recorder.Client(int32(id), int32(process))
	return client.Locker(r.processes[process].Locker(client)), client.Store(r.store)
}

// drive lets the clients run until something ends the run, and then winds down.
func (r *run) drive(ctx context.Context) {
	// The end of ctx ends the run, not the operations under way.
	operations, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	waiting, stopWaiting := context.WithCancel(operations)
	defer stopWaiting()
	r.shared.Waiting = waiting
	r.stopped = make(chan struct{})
	r.shared.Start = time.Now()
	r.start(operations)

	w := &watch{run: r}
	r.summary.Ended = w.until(ctx)
	close(r.over)
	r.summary.EndNS = r.now()
	r.windDown(stopWaiting, abandon)
	w.report()
}

func (r *run) now() int64 {
	if r.recorder == nil {
		return int64(time.Since(r.shared.Start))
	}
	return r.recorder.Now()
}

func (r *run) start(ctx context.Context) {
	var all sync.WaitGroup
	r.running.Store(int64(len(r.clients)))
	for i, c := range r.clients {
		share := r.share(i)
		all.Go(func() {
			defer r.running.Add(-1)
			r.work(ctx, c, share)
		})
	}
	go func() {
		all.Wait()
		close(r.stopped)
	}()
}

// share is how many iterations client i makes, negative for no limit. Fixed
// shares, rather than one counter for all, keep equal seeds equal and clients off
// each other's memory.
func (r *run) share(i int) int64 {
	total, n := r.options.Operations, int64(len(r.clients))
	if total == 0 {
		return -1
	}
	share := total / n
	if int64(i) < total%n {
		share++
	}
	return share
}

func (r *run) work(ctx context.Context, c *workloads.Client, share int64) {
	for ; share != 0; share-- {
		select {
		case <-r.over:
			return
		default:
			_ = c.Iterate(ctx, r.cfg.Workload) // counted, and in the history
		}
	}
}

// How long after the end of a run its operations may still take.
const (
	// waitGrace is for acquires that wait, on top of what they were told to wait,
	// up to longestWait. They are let come to their own end: a lock that treats an
	// interrupted wait badly is not to be judged by the way the run stops. What is
	// held is given up at once, so their turn comes soon.
	waitGrace   = time.Second
	longestWait = 10 * time.Second
	// operationGrace is for everything that has no answer yet, as long as the
	// servers' own read time-out; after it the context is cancelled.
	operationGrace = 5 * time.Second
	// closeGrace, after that, is until the design's connections are closed, and
	// once more until a client that is still stuck is given up.
	closeGrace = 3 * time.Second
)

// windDown waits for the clients, ever less patiently.
func (r *run) windDown(stopWaiting, abandon func()) {
	steps := []struct {
		patience time.Duration
		then     func()
	}{
		{waitGrace + min(r.options.Wait, longestWait), stopWaiting},
		{operationGrace - waitGrace, abandon},
		{closeGrace, r.closeProcesses},
		{closeGrace, r.giveUp},
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

// giveUp leaves goroutines behind that no context and no closed connection ends:
// the lock under test does not come back from a call.
func (r *run) giveUp() {
	r.problems = append(r.problems, fmt.Errorf(
		"%d clients are still inside a call %v after the run; hint: the lock must return when its context ends",
		r.running.Load(), operationGrace+2*closeGrace))
}
