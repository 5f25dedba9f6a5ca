package explore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/stepserver"
)

// A world is what schedules run in, one after the other: the server behind its
// step server, processes and clients, the record and its judge. Its methods are called by
// the bubble's root.
type world struct {
	cfg      Config // with its defaults
	scenario Scenario
	bubble   Bubble
	server   server
	tape     *history.Tape
	judge    *checker.Checker
	header   history.Header
	global   *global
	skews    bool // the design reads the clock
	seconds  bool // and may look at whole seconds of it
	cancels  bool // contexts of calls can be ended

	processes []*process
	clients   []*actor
	actors    []*actor // the clients, and what each process does in the background
	prober    *actor   // tries what a schedule left
	keys      []string
	store     store
	woken     chan struct{}
	clockRead atomic.Bool // the design looks at its clock

	// turns counts those of the root: it adds one before time passes, and who wakes
	// up by a timer reads it, so that the race detector sees the order that the
	// bubble keeps anyway.
	turns atomic.Int64

	mu       sync.Mutex
	defects  []string
	cutShort bool // some schedule was ended at maxSteps
	leaks    bool // a goroutine of some schedule does not end

	// Of the present schedule:
	start        time.Time     // by the bubble's clock
	ahead        time.Duration // what the clocks of the schedule are ahead of the bubble's
	ctx          context.Context
	cancel       context.CancelFunc
	serverRecord *history.Client // what happens to the server
	over         bool            // actors are to end
	ended        bool            // nothing more will happen in it
	trailer      history.End
	flight       flight
	left         budget
	steps        int
	last         verb
	choices      []choice
	made         []choice
	effect       effect
	carried      *stepserver.Command // the one that is being run by carryOut
	events       []history.Event
	faults       []string
	notes        *notes // what is to be shown of it; nil while only the verdict counts
}

// A budget is what a schedule may still have.
type budget struct {
	faults, moves int
	kinds         map[fault.Kind]bool
}

// epoch is the time of day at which every schedule begins: off a whole second.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, phase, time.UTC)

const phase = 313_000_007

func newWorld(cfg Config, scenario Scenario, bubble Bubble, g *global) (*world, error) {
	server, err := stepserver.New()
	if err != nil {
		return nil, fmt.Errorf("explore: %w", err)
	}
	w := &world{
		cfg: cfg, scenario: scenario, bubble: bubble, server: server, global: g,
		woken: make(chan struct{}, 1),
		store: store{records: map[string]lockbench.Record{}},
	}
	w.header = header(cfg)
	server.Executed(w.executed)
	w.tape = history.NewTape(w.header)
	w.judge = checker.NewBrief(w.header)
	for i := range max(1, scenario.Keys) {
		w.keys = append(w.keys, "job-"+strconv.Itoa(i+1))
	}
	for p := range (cfg.Clients + cfg.Threads - 1) / cfg.Threads {
		w.processes = append(w.processes, newProcess(w, p))
	}
	for i := range cfg.Clients {
		w.clients = append(w.clients, w.newActor(i, w.processes[i/cfg.Threads]))
	}
	w.actors = slices.Clone(w.clients)
	for i, p := range w.processes {
		background := w.newActor(cfg.Clients+i, p)
		background.client, background.name = false, processName(i)
		w.actors = append(w.actors, background)
	}
	w.prober = w.newActor(cfg.Clients, newProcess(w, len(w.processes)))
	w.prober.name, w.prober.process.shared = "probe", false
	w.cancels = cfg.Faults > 0 && slices.Contains(cfg.Kinds, fault.Cancel)
	return w, nil
}

func (w *world) newActor(number int, in *process) *actor {
	return &actor{number: number, name: clientName(w.cfg, number), client: true, process: in, world: w, resume: make(chan struct{}, 1)}
}

// close ends the world.
func (w *world) close() {
	for _, p := range w.processes {
		p.clients.CloseAll()
	}
	w.prober.process.clients.CloseAll()
	for _, a := range append(w.actors, w.prober) {
		a.dismiss()
	}
	w.tape.Reset() // ends what watches for losses
	w.server.Close()
	time.Sleep(time.Second) // the client library gives up what it began to dial
	w.bubble.Wait()
}

// defect notes something that must not happen.
func (w *world) defect(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, known := range w.defects {
		if known == text {
			return
		}
	}
	w.defects = append(w.defects, text)
}

// wake ends the root's sleep, now or next.
func (w *world) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// now is the time since the schedule began.
func (w *world) now() time.Duration { return time.Since(w.start) }

// open makes the world of a new schedule.
func (w *world) open() error {
	w.align()
	w.server.Reset()
	w.server.SetClock(w.ahead)
	w.tape.Reset()
	clear(w.store.records)
	w.over, w.ended, w.steps, w.last = false, false, 0, verbBegin
	w.flight = flight{held: w.flight.held[:0]}
	w.made, w.faults = w.made[:0], w.faults[:0]
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.serverRecord = w.tape.Client(-1, -1)
	for _, p := range w.processes {
		if !p.shared && p.number < len(w.clients) {
			w.server.Attribute(p.number, p.number)
		}
		if err := p.open(); err != nil {
			return err
		}
	}
	w.global.seed(w.cfg.Seed, w.cfg.GlobalRand)
	for _, a := range w.actors {
		w.assign(a)
	}
	w.prober.exited = true // it has no part until the end
	return nil
}

// align sleeps until the time of day has the fraction of a second that schedules
// begin with. All clocks of the schedule then show that of epoch.
func (w *world) align() {
	now := time.Now()
	to := now.Truncate(time.Second).Add(phase)
	if to.Before(now) {
		to = to.Add(time.Second)
	}
	w.turns.Add(1)
	time.Sleep(time.Until(to))
	w.start = time.Now()
	w.ahead = epoch.Sub(w.start)
}

// assign gives an actor its part of the schedule.
func (w *world) assign(a *actor) {
	a.crashed, a.exited, a.parked, a.held = false, false, "", false
	a.pending, a.late, a.beliefs = a.pending[:0], a.late[:0], a.beliefs[:0]
	clear(a.leases)
	a.leases = a.leases[:0]
	a.call, a.record = call{}, nil
	if a.client {
		a.record = w.tape.Client(int32(a.number), int32(a.process.number))
	}
}

// begin starts the clients, one after the other.
func (w *world) begin() {
	for _, a := range w.clients {
		inner := a.process.inner.Locker(observed{a.record, a})
		if w.scenario.Again {
			inner = again{inner}
		}
		part := &Actor{
			ID: a.number, Clients: len(w.clients), Rounds: w.cfg.Rounds, Keys: w.keys,
			Locker:  tracked{a, a.record.Locker(inner)},
			Store:   a.record.Store(accessor{a, &w.store}),
			Options: lockbench.Options{TTL: w.cfg.TTL, Wait: w.cfg.Wait},
			Step:    a.step,
		}
		a.start(func() { w.scenario.Run(w.ctx, part) })
		w.bubble.Wait()
	}
}
