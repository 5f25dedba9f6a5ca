package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// A process is one process of the design, with its clients.
type process struct {
	number int
	inner  design.Process
	sent   *commands
	faults *inject.Process // nil in a run without faults
	// connections records broken connections in a run without faults. It is nil unless the server is
	// the user's.
	connections *inject.Process
	closing     sync.Once
}

// commands counts the commands of one process, on a cache line of its own.
type commands struct {
	sent    atomic.Int64
	carried traffic
	_       [64]byte
}

// usage counts the commands of processes and the traffic of their connections.
type usage struct {
	commands int64
	traffic  runinfo.Traffic
}

func (d *usage) add(p *process) {
	d.commands += p.sent.sent.Load()
	d.traffic.Sent += p.sent.carried.sent.Load()
	d.traffic.Received += p.sent.carried.received.Load()
}

// processes are the processes of a run, one at each place. Of dead processes only the counts are
// kept.
type processes struct {
	mu        sync.Mutex
	byPlace   []*process // nil at a place that is in another share of the run
	replaced  int        // number of processes that took the place of a dead one
	deadUsage usage      // usage of dead processes, except for stallers
	open      gauge      // open connections of processes, except for stallers
	closed    bool       // no process is opened any more
	errs      []error
}

// all returns the processes from place from up to place to, in order.
func (p *processes) all(from, to int) []*process {
	to = min(to, len(p.byPlace))
	return slices.DeleteFunc(slices.Clone(p.byPlace[min(from, to):to]), func(p *process) bool { return p == nil })
}

// numberAt returns the number of the next process at a place. It is unique among all shares of the run.
func (r *run) numberAt(place int) int {
	ps := &r.processes
	if ps.byPlace[place] == nil {
		return place
	}
	number := len(ps.byPlace) + ps.replaced*max(1, r.cfg.Share.Of) + r.cfg.Share.Index
	ps.replaced++
	return number
}

// openProcess opens the process for a place.
func (r *run) openProcess(place int) (*process, error) {
	p := &process{number: r.numberAt(place), sent: &commands{}}
	env := r.environment(p, place)
	switch {
	case r.injector == nil:
	case len(r.cfg.Faults) > 0:
		p.faults = r.injector.Process(p.number, &env)
	default:
		p.connections = r.injector.Process(p.number, &env)
	}
	p.sent.carried.open = &r.processes.open
	if place >= r.options.Processes { // of stallers
		p.sent.carried.open = &gauge{}
	}
	p.sent.carried.meter(env.Services)
	process, err := r.cfg.Design.Open(env)
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", p.number, err)
	}
	p.inner = process
	if p.faults != nil {
		p.faults.Runs(process)
	}
	r.processes.byPlace[place] = p
	return p, nil
}

// environment returns the environment of a process. Each place is a host: a process that replaces a
// dead one has its host, and another id.
func (r *run) environment(p *process, place int) design.Environment {
	return design.Environment{
		Services: r.cfg.services().Reach(),
		Prefix:   r.prefix,
		Host:     fmt.Sprintf("server-%d", place),
		PID:      1000 + p.number,
		Now:      time.Now,
		Random:   processRandom(r.options.Seed, p.number),
		Commands: &p.sent.sent,
	}
}

// processAt returns the process at a place, and replaces a dead one. It returns nil if no process
// can be opened any more.
func (r *run) processAt(place int) *process {
	r.processes.mu.Lock()
	defer r.processes.mu.Unlock()
	p := r.processes.byPlace[place]
	if !p.crashed() {
		return p
	}
	if r.processes.closed {
		return nil
	}
	fresh, err := r.openProcess(place)
	if err != nil {
		r.processes.errs = append(r.processes.errs, err)
		return nil
	}
	if place < r.options.Processes {
		r.processes.deadUsage.add(p)
	}
	return fresh
}

// readyAt returns the process at a place when it can be used, as processAt does, and nil if it ended by
// itself. One that crashes before is replaced, too.
func (r *run) readyAt(ctx context.Context, place int) *process {
	for {
		p := r.processAt(place)
		if p == nil {
			return nil
		}
		err := p.ready(ctx)
		if err == nil {
			return p
		}
		if !p.crashed() {
			return nil
		}
		_ = p.close()
	}
}

// ready waits until the process can be used, if it is a program of its own.
func (p *process) ready(ctx context.Context) error {
	if program, is := p.inner.(design.Program); is {
		return program.Ready(ctx)
	}
	return nil
}

// diedAlone returns the reason why a process, a program of its own, has ended by itself; nil if none
// has.
func (r *run) diedAlone() error {
	r.processes.mu.Lock()
	defer r.processes.mu.Unlock()
	for _, p := range r.processes.all(0, len(r.processes.byPlace)) {
		program, is := p.inner.(design.Program)
		if !is || p.crashed() {
			continue
		}
		select {
		case <-program.Done():
			if err := program.Err(); err != nil {
				return err
			}
		default:
		}
	}
	return nil
}

func (p *process) crashed() bool { return p.faults != nil && p.faults.Crashed() }

// close ends the background work of the process and its connections, once. A program that has crashed
// is killed first, so that it does nothing at its end.
func (p *process) close() (err error) {
	p.closing.Do(func() {
		if program, is := p.inner.(design.Program); is && p.crashed() {
			<-p.faults.Died()
			err = program.Kill()
		}
		err = errors.Join(err, p.inner.Close())
	})
	return err
}

// closeProcesses closes every process of the run and its network.
func (r *run) closeProcesses() {
	r.processes.mu.Lock()
	defer r.processes.mu.Unlock()
	r.processes.closed = true
	for _, p := range r.processes.all(0, len(r.processes.byPlace)) {
		if err := p.close(); err != nil && !p.crashed() {
			r.summary.note("process %d of the design did not close cleanly: %v", p.number, err)
		}
	}
	for _, err := range r.processes.errs {
		r.summary.note("nothing took the place of a process that died: %v", err)
	}
	r.processes.errs = nil
	if r.injector != nil {
		r.injector.Close()
	}
}

// totalUsage returns the usage of the processes of all clients except stallers.
func (r *run) totalUsage() usage {
	r.processes.mu.Lock()
	defer r.processes.mu.Unlock()
	all := r.processes.deadUsage
	for _, p := range r.processes.all(0, r.options.Processes) {
		all.add(p)
	}
	all.traffic.Connections = r.processes.open.highest.Load()
	return all
}
