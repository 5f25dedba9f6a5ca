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
	"github.com/lockbench/lockbench/internal/runinfo"
	"github.com/lockbench/lockbench/internal/servers"
)

// A Config says what an [Injector] does, and to which processes.
type Config struct {
	Faults []fault.Fault
	// Services are what the locks stand on, one at least. Those faults that affect one server
	// affect them by turns; a replica has only the first.
	Services []design.Service
	// Seed decides every choice that is left to chance.
	Seed uint64
	// Lease is what the design grants, Tolerance how much longer than that it may
	// keep a key: what lasts past the lease lasts past both.
	Lease, Tolerance time.Duration
	// Duration is how long the run lasts, zero when that is not known.
	Duration time.Duration
}

// An Injector makes the faults of one run happen. Between [Injector.Start] and
// [Injector.Stop] they occur; before and after that only what has crashed stays so. Its
// methods are safe for concurrent use.
type Injector struct {
	config Config
	plans  []*plan      // of the configuration's faults, in their order
	held   atomic.Int64 // locks that clients have in hand
	active atomic.Bool
	// granted tells of each grant, once it is in its client's hand.
	granted signal

	start    time.Time
	recorder *history.Recorder
	stop     context.CancelFunc
	stopping <-chan struct{} // closed by Stop
	work     sync.WaitGroup
	serverState

	chance    *actor // about which process is affected
	mu        sync.Mutex
	processes []*Process
	errs      []error
}

// serverState is what faults of servers keep from one occurrence to the next.
type serverState struct {
	// injecting serialises what happens to the servers.
	injecting    sync.Mutex
	serverRecord *history.Client // what happens to them
	outages      atomic.Int64    // odd while one is stopped or being started

	// redis are the services as Redis servers; none where they are something else.
	redis []*servers.Server
	// replica copies the server by the way of link; nil unless it is to fail over.
	replica *servers.Replica
	link    *proxy
	ledger  ledger

	// roads lead to the servers when something is to happen on the way: addresses in TCP
	// by those that servers are reached at.
	roads map[string]string
	// turn is how many faults of one server there were, for the next one's turn.
	turn int
	// ahead is how far the clocks that a fault has stepped are ahead.
	ahead time.Duration
	// down are the servers that a fault has killed.
	down []*servers.Server
}

// A plan is a fault with how it is done and what is counted of it.
type plan struct {
	fault.Fault
	row *fault.Row
	how injection
	due atomic.Int64 // by the clock: the next occurrence, in ns since the start
	// atLeast is how often it occurs beside what chance brings, zero for chance alone.
	atLeast time.Duration

	occurrences, metHeld, metAcquire atomic.Int64
}

// New prepares the faults of a run. Its error says why they cannot be done on the
// configuration's server.
func New(c Config) (*Injector, error) {
	if err := Check(c.Faults, c.Services); err != nil {
		return nil, err
	}
	in := &Injector{config: c, serverState: serverState{redis: servers.All(c.Services), ledger: ledger{held: map[string]int{}}}}
	in.chance = newActor(in, math.MinInt64)
	for _, f := range c.Faults {
		row := fault.Of(f.Kind)
		f = f.Filled(c.pastLease(), c.Tolerance)
		if f.Until == 0 && row.LeavesLocked() {
			f.Until = c.quiet()
		}
		p := &plan{Fault: f, row: row, how: injections[f.Kind]}
		p.due.Store(int64(f.At))
		if f.P > 0 && f.P == row.Live.Usual.P {
			p.atLeast = atLeast
			p.due.Store(int64(f.At + atLeast))
		}
		in.plans = append(in.plans, p)
	}
	return in, nil
}

// atLeast is how often a fault of clients occurs that has its usual chance, so that a short
// run meets it.
const atLeast = 500 * time.Millisecond

// pastLease is how long to stand still for the lease to be over, whatever the
// design tolerates.
func (c *Config) pastLease() time.Duration { return c.Lease + c.Lease/4 + c.Tolerance }

// slack is more than what is allowed a key to become free again after its lease.
const slack = 2500 * time.Millisecond

// quiet is when faults that may leave a key locked are to end: long enough before the
// run does for it to be seen, and not before half of it is over.
func (c *Config) quiet() time.Duration {
	return max(c.Duration/2, c.Duration-c.Lease-c.Tolerance-slack)
}

// over reports whether it is too late for p to occur.
func (p *plan) over(now int64) bool { return p.Until > 0 && now > int64(p.Until) }

// Open readies the way to the servers, before processes are made. Stop undoes it.
func (in *Injector) Open(ctx context.Context) error {
	for _, p := range in.plans {
		if p.how.open == nil {
			continue
		}
		if err := p.how.open(in, ctx, p); err != nil {
			return fmt.Errorf("fault %s: %w", p.Kind, err)
		}
	}
	return in.openRoads(ctx)
}

// openRoads has the servers be reached by TCP where something is to happen on the way.
func (in *Injector) openRoads(ctx context.Context) error {
	i := slices.IndexFunc(in.plans, func(p *plan) bool { return p.row.Target == fault.Network })
	if i < 0 {
		return nil
	}
	in.roads = map[string]string{}
	for _, s := range in.redis {
		addr, err := s.ListenTCP(ctx)
		if err != nil {
			return fmt.Errorf("fault %s: %w", in.plans[i].Kind, err)
		}
		in.roads[s.Options().Addr] = addr
	}
	return nil
}

// Start has faults occur from now on, and takes them down by recorder.
func (in *Injector) Start(ctx context.Context, recorder *history.Recorder) error {
	ctx, in.stop = context.WithCancel(context.WithoutCancel(ctx))
	in.stopping, in.start, in.recorder = ctx.Done(), time.Now(), recorder
	in.serverRecord = recorder.Client(-1, -1)
	for _, p := range in.plans {
		if p.how.prepare == nil {
			continue
		}
		if err := p.how.prepare(in, ctx, p); err != nil {
			in.stop()
			return fmt.Errorf("fault %s: %w", p.Kind, err)
		}
	}
	in.start = time.Now()
	in.active.Store(true)
	for _, p := range in.plans {
		if p.how.occur != nil {
			in.work.Go(func() { in.keep(ctx, p) })
		}
	}
	return nil
}

// Stop ends what lasts, has no fault occur any more and waits for the server to be
// as it should. The error says what went wrong for the faults themselves.
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

// forget lets go of a process that died.
func (in *Injector) forget(p *Process) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.processes = slices.DeleteFunc(in.processes, func(other *Process) bool { return other == p })
}

// Away reports whether the server answers nobody because of a fault.
func (in *Injector) Away() bool { return in.Outages()%2 != 0 }

// Outages counts how often a server went away because of a fault, and how often it was back: it is odd
// while one is away.
func (in *Injector) Outages() int64 { return in.outages.Load() }

func (in *Injector) failed(k fault.Kind, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.errs = append(in.errs, fmt.Errorf("fault %s: %w", k, err))
}

func (in *Injector) now() int64 { return int64(time.Since(in.start)) }

// count counts an occurrence: on a client that holds a lock or is acquiring one, or
// on the server while a lock is held.
func (p *plan) count(held, acquiring bool) {
	p.occurrences.Add(1)
	switch {
	case held:
		p.metHeld.Add(1)
	case acquiring:
		p.metAcquire.Add(1)
	}
}

// An Exposure is how often a fault occurred, and what it met.
type Exposure = runinfo.FaultExposure

// Exposures returns of each fault how often it occurred, in the order of the
// configuration.
func (in *Injector) Exposures() []Exposure {
	var all []Exposure
	for i, p := range in.plans {
		all = append(all, Exposure{
			Fault: in.config.Faults[i].String(), Kind: string(p.Kind),
			Occurrences: p.occurrences.Load(), MetHeld: p.metHeld.Load(), MetAcquire: p.metAcquire.Load(),
		})
	}
	return all
}
