package faults

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
	"github.com/lockbench/lockbench/internal/servers"
)

// A Config says what an [Injector] does, and to whom.
type Config struct {
	Faults []Fault
	// Servers are where the locks run, one at least. Those faults that affect one server
	// affect them by turns; a replica has only the first.
	Servers []*servers.Server
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
	plans  []*plan
	held   atomic.Int64 // locks that clients have in hand
	active atomic.Bool

	start        time.Time
	recorder     *history.Recorder
	serverRecord *history.Client // what happens to the server
	stop         context.CancelFunc
	stopping     <-chan struct{} // closed by Stop
	work         sync.WaitGroup

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

	processes []*Process // under mu
	chance    *actor     // about which process is affected

	// injecting serialises what happens to the server.
	injecting sync.Mutex
	away      atomic.Bool // the server is stopped or being started
	mu        sync.Mutex
	errs      []error
}

// A plan is a fault with what is counted of it.
type plan struct {
	Fault
	trait *trait
	due   atomic.Int64 // by the clock: the next occurrence, in ns since the start

	occurrences, metHeld, metAcquire atomic.Int64
}

// New prepares the faults of a run. Its error says why they cannot be done on the
// configuration's server.
func New(c Config) (*Injector, error) {
	if err := Check(c.Faults, c.Servers); err != nil {
		return nil, err
	}
	in := &Injector{config: c, ledger: ledger{held: map[string]int{}}}
	in.chance = newActor(in, math.MinInt64)
	for _, f := range c.Faults {
		f = f.filled(&c)
		p := &plan{Fault: f, trait: f.Kind.trait()}
		p.due.Store(int64(f.At))
		in.plans = append(in.plans, p)
	}
	return in, nil
}

// filled returns f with what follows from the configuration.
func (f Fault) filled(c *Config) Fault {
	if f.For == 0 && f.Kind != Down {
		f.For = c.pastLease()
	}
	if f.Kind == ServerPause || f.Kind == BlackHole {
		f.For = min(f.For, longestSilence)
	}
	if f.By == 0 && f.Kind == ClockStep {
		f.By = c.pastLease()
	}
	if f.By == 0 {
		f.By = c.Tolerance + time.Second
	}
	if f.Until == 0 && f.leavesLocked() {
		f.Until = c.quiet()
	}
	return f
}

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

// leavesLocked reports whether what f affects may stay locked.
func (f Fault) leavesLocked() bool {
	switch f.Kind {
	case Crash, LostReply, Cut, Cancel, ClientKill, BlackHole:
		return true
	}
	return false
}

// over reports whether it is too late for p to occur.
func (p *plan) over(now int64) bool { return p.Until > 0 && now > int64(p.Until) }

// Open readies the way to the servers, before processes are made. Stop undoes it.
func (in *Injector) Open(ctx context.Context) error {
	if err := in.ownClocks(ctx); err != nil {
		return err
	}
	for _, p := range in.plans {
		if p.trait.target != ofNetwork || in.roads != nil {
			continue
		}
		in.roads = map[string]string{}
		for _, s := range in.config.Servers {
			addr, err := s.ListenTCP(ctx)
			if err != nil {
				return fmt.Errorf("fault %s: %w", p.Kind, err)
			}
			in.roads[s.Options().Addr] = addr
		}
	}
	return nil
}

// Start has faults occur from now on, and takes them down by recorder.
func (in *Injector) Start(ctx context.Context, recorder *history.Recorder) error {
	ctx, in.stop = context.WithCancel(context.WithoutCancel(ctx))
	in.stopping, in.start, in.recorder = ctx.Done(), time.Now(), recorder
	in.serverRecord = recorder.Client(-1, -1)
	if err := in.prepare(ctx); err != nil {
		in.stop()
		return err
	}
	in.start = time.Now()
	in.active.Store(true)
	for _, p := range in.plans {
		if p.trait.target == ofServer || p.trait.target == ofNetwork {
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
	in.endReplica()
	in.bringUp()
	in.rightClocks()
	in.closeProxies()
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
func (in *Injector) Away() bool { return in.away.Load() }

func (in *Injector) failed(k Kind, err error) {
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
type Exposure = history.FaultExposure

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
