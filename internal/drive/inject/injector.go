package inject

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/relay"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// A Config has the faults of an [Injector] and the run that they are for.
type Config struct {
	Faults []fault.Fault
	// Services are the services of the locks, at least one. Faults that affect one server affect
	// them in turn; only the first has a replica.
	Services []design.Service
	// Seed decides every random choice.
	Seed uint64
	// Lease is the lease that the design grants, Tolerance how much longer it may keep a key.
	// Effects that outlast the lease outlast both.
	Lease, Tolerance time.Duration
	// Duration is the length of the run, zero if unknown.
	Duration time.Duration
	// Clients are the clients that faults of servers affect, if they are on other machines. The Injector
	// then injects the faults of servers alone.
	Clients Clients
	// Remote is set if an Injector on another machine injects the faults of servers, and this one is of
	// its Clients.
	Remote bool
}

// injects reports whether the Injector injects a fault itself.
func (c *Config) injects(f fault.Fault) bool {
	if fault.Of(f.Kind).Target == fault.Server {
		return !c.Remote
	}
	return c.Clients == nil
}

// An Injector injects the faults of one run. They occur between [Injector.Start] and
// [Injector.Stop]; afterwards crashed processes stay so. Its methods are safe for concurrent use.
type Injector struct {
	config Config
	plans  []*plan      // of the configuration's faults, in their order
	held   atomic.Int64 // number of locks that clients hold
	active atomic.Bool
	// recording is set once broken connections can be recorded. It stays set after the faults.
	recording atomic.Bool
	closed    atomic.Bool // no process opens a relay any more
	// granted signals each grant, once its client has it.
	granted signal

	start    time.Time
	recorder *history.Recorder
	lasting  context.Context // from Prepare to Stop
	stop     context.CancelFunc
	work     sync.WaitGroup
	serverState

	chance    *actor // draws the process to affect
	mu        sync.Mutex
	processes []*Process
	errs      []error
}

// serverState is the state of server faults between occurrences.
type serverState struct {
	// injecting serialises the faults of servers.
	injecting    sync.Mutex
	serverRecord *history.Client // record of the servers' events; nil if the clients are on other machines
	outages      atomic.Int64    // odd while a server is stopped or starting

	// redis are the services that are Redis servers; none if they are something else.
	redis []*servers.Server
	// replica copies the server through link; nil unless the server is to fail over.
	replica design.Replica
	link    *relay.Relay
	ledger  replicaLocks

	// tcpAddresses has the TCP address of each server, to which relays connect, by the address
	// that designs use.
	tcpAddresses map[string]string
	// nextServer counts the faults of single servers, which affect the servers in turn.
	nextServer int
	// ahead is how far the stepped clocks are ahead.
	ahead time.Duration
	// killed are the servers that a fault has killed.
	killed []*servers.Server
}

// A plan is a fault with its implementation and its counts.
type plan struct {
	fault.Fault
	row *fault.Row
	how injection
	due atomic.Int64 // the next occurrence by the clock, in ns since the start
	// interval is the time after which the fault occurs on the next occasion of a holder even
	// without chance; zero leaves it to chance alone.
	interval time.Duration

	occurrences, occurredHeld, occurredAcquiring atomic.Int64
}

// New prepares the faults of a run. It fails if they cannot be injected into the configuration's
// services.
func New(c Config) (*Injector, error) {
	own := slices.DeleteFunc(slices.Clone(c.Faults), func(f fault.Fault) bool { return !c.injects(f) })
	if err := Check(own, c.Services); err != nil {
		return nil, err
	}
	in := &Injector{config: c, serverState: serverState{redis: servers.All(c.Services), ledger: replicaLocks{held: map[string]int{}}}}
	in.chance = newActor(in, math.MinInt64)
	for _, f := range c.Faults {
		row := fault.Of(f.Kind)
		f = f.Filled(c.pastLease(), c.Tolerance)
		if f.Until == 0 && row.LeavesLocked() {
			f.Until = c.lastFaultTime()
		}
		p := &plan{Fault: f, row: row, how: injections[f.Kind]}
		p.due.Store(int64(f.At))
		if f.P > 0 && f.P == row.Live.Usual.P {
			p.interval = clientFaultInterval
			p.due.Store(int64(f.At + clientFaultInterval))
		}
		in.plans = append(in.plans, p)
	}
	return in, nil
}

// clientFaultInterval is the interval of client faults with their default probability, so that a
// short run meets them.
const clientFaultInterval = 500 * time.Millisecond

// pastLease is the length of a pause that outlasts the lease and the design's tolerance.
func (c *Config) pastLease() time.Duration { return c.Lease + c.Lease/4 + c.Tolerance }

// releaseSlack is longer than the slack that the checker adds to a lease before a key must be free.
const releaseSlack = 2500 * time.Millisecond

// lastFaultTime returns the time at which faults that may leave a key locked end. The rest of the
// run is long enough for the checker to see whether the key becomes free; at least half of the run
// has faults.
func (c *Config) lastFaultTime() time.Duration {
	return max(c.Duration/2, c.Duration-c.Lease-c.Tolerance-releaseSlack)
}

// over reports whether the time of p is over.
func (p *plan) over(now int64) bool { return p.Until > 0 && now > int64(p.Until) }

// Open prepares the connections to the servers, before processes are made. Stop and Close undo it.
func (in *Injector) Open(ctx context.Context) error {
	for _, p := range in.own() {
		if p.how.open == nil {
			continue
		}
		if err := p.how.open(in, ctx, p); err != nil {
			return fmt.Errorf("fault %s: %w", p.Kind, err)
		}
	}
	return in.openTCP(ctx)
}

// openTCP opens TCP to the servers if a fault of the network needs it.
func (in *Injector) openTCP(ctx context.Context) error {
	own := in.own()
	i := slices.IndexFunc(own, func(p *plan) bool { return p.row.Target == fault.Network })
	if i < 0 {
		return nil
	}
	in.tcpAddresses = map[string]string{}
	for _, s := range in.redis {
		addr, err := s.ListenTCP(ctx)
		if err != nil {
			return fmt.Errorf("fault %s: %w", own[i].Kind, err)
		}
		in.tcpAddresses[s.Options().Addr] = addr
	}
	for _, s := range in.config.Services {
		if networked, is := s.(design.Networked); is {
			in.tcpAddresses[networked.Endpoint()] = networked.Endpoint()
		}
	}
	return nil
}

// own returns the plans of the faults that the Injector injects itself.
func (in *Injector) own() []*plan {
	return slices.DeleteFunc(slices.Clone(in.plans), func(p *plan) bool { return !in.config.injects(p.Fault) })
}

// Prepare prepares the faults, before clients begin. They are recorded with recorder, which is nil if the
// clients are on other machines. [Injector.Stop] undoes it.
func (in *Injector) Prepare(ctx context.Context, recorder *history.Recorder) error {
	ctx, in.stop = context.WithCancel(context.WithoutCancel(ctx))
	in.lasting, in.recorder = ctx, recorder
	if recorder != nil {
		in.serverRecord = recorder.Client(-1, -1)
	}
	for _, p := range in.own() {
		if p.how.prepare == nil {
			continue
		}
		if err := p.how.prepare(in, ctx, p); err != nil {
			in.stop()
			return fmt.Errorf("fault %s: %w", p.Kind, err)
		}
	}
	in.recording.Store(recorder != nil)
	return nil
}

// Start starts the faults, which were prepared.
func (in *Injector) Start() {
	in.start = time.Now()
	in.active.Store(true)
	for _, p := range in.own() {
		if p.how.occur != nil {
			in.work.Go(func() { in.injectOnSchedule(in.lasting, p) })
		}
	}
}

// Stop stops the faults, ends lasting faults and waits until the servers and the networks of the processes
// are normal again. It returns the errors of the injections.
func (in *Injector) Stop() error {
	in.active.Store(false)
	if in.stop != nil {
		in.stop()
	}
	in.work.Wait()
	for _, end := range endings {
		end(in)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return errors.Join(in.errs...)
}

// forget removes a process that died.
func (in *Injector) forget(p *Process) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.processes = slices.DeleteFunc(in.processes, func(other *Process) bool { return other == p })
}

// Away reports whether a fault keeps the server from answering.
func (in *Injector) Away() bool { return in.Outages()%2 != 0 }

// Outages counts how often a fault took a server away and how often it came back: it is odd while
// one is away.
func (in *Injector) Outages() int64 { return in.outages.Load() }

func (in *Injector) failed(k fault.Kind, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.errs = append(in.errs, fmt.Errorf("fault %s: %w", k, err))
}

func (in *Injector) now() int64 { return int64(time.Since(in.start)) }

// count counts an occurrence. held and acquiring say whether the affected client held a lock or was
// acquiring one; for a fault of the server, held says whether any lock was held.
func (p *plan) count(held, acquiring bool) {
	p.occurrences.Add(1)
	switch {
	case held:
		p.occurredHeld.Add(1)
	case acquiring:
		p.occurredAcquiring.Add(1)
	}
}

// An Exposure counts the occurrences of a fault, and its effects.
type Exposure = runinfo.FaultExposure

// Exposures returns the counts of each fault, in the order of the configuration.
func (in *Injector) Exposures() []Exposure {
	var all []Exposure
	for i, p := range in.plans {
		all = append(all, Exposure{
			Fault: in.config.Faults[i].String(), Kind: string(p.Kind),
			Occurrences: p.occurrences.Load(), MetHeld: p.occurredHeld.Load(), MetAcquire: p.occurredAcquiring.Load(),
		})
	}
	return all
}
