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
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/explore/stepserver"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// A world is the environment of schedules, which run in it one after the other: the server with its
// step server, processes and clients, the record and its checker. The root goroutine of the bubble
// calls its methods. The embedded structs are below, by their lifetime; only fields that say so
// keep state from one schedule to the next.
type world struct {
	cfg     Config // with its defaults
	program workloads.Program
	shared  *workloads.Run // state that clients share
	bubble  Bubble
	server  server
	global  *globalRandom
	store   *backend.Memory // emptied for each schedule
	guarded lockbench.Store // store behind its guard

	actorSet
	designTraits
	scratch
	record
	rootTurns
	runErrors
	scheduleState
}

// designTraits are the facts about the design that [world.warmUp] learns before the first schedule,
// and the faults that may occur. They do not change afterwards: the choices at a point must be the
// same in all schedules.
type designTraits struct {
	allowed   strategy.VerbSet // faults that may occur
	skews     bool             // the design reads the clock
	seconds   bool             // the design may look at whole seconds of the clock
	cancels   bool             // contexts of calls can be ended
	clockRead atomic.Bool
}

// A record is the history of the current schedule, and its checker. Tape, checker and the memory of
// events serve all schedules; they keep data until the next one begins.
type record struct {
	tape         *history.Tape
	judge        *checker.Checker
	header       history.Header
	serverRecord *history.Client // events of the server
	trailer      history.End     // zero until the schedule has ended
	events       []history.Event // of the last step
	notes        *notes          // nil while only the verdict matters
	flush        flush           // kept from one schedule to the next
}

// rootTurns lets the root and the goroutines of clients run alternately: the root sleeps until a
// client wakes it, and clients run only while it sleeps.
type rootTurns struct {
	woken chan struct{}
	// count counts the turns of the root. The root increments it before time passes, and goroutines
	// that a timer wakes read it. So the race detector knows the order, which the bubble
	// guarantees.
	count atomic.Int64
}

// wake ends the root's current or next sleep.
func (t *rootTurns) wake() {
	select {
	case t.woken <- struct{}{}:
	default:
	}
}

// runErrors are the errors of all schedules so far.
type runErrors struct {
	mu       sync.Mutex
	defects  []string // each once; guarded by mu
	cutShort bool     // a schedule was ended at maxSteps
	leaks    bool     // a goroutine of a schedule does not end
}

// defect records an error. Any goroutine may call it.
func (t *runErrors) defect(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.defects, text) {
		t.defects = append(t.defects, text)
	}
}

// A scheduleState is the state of the current schedule. [world.open] resets it.
type scheduleState struct {
	start    time.Time // by the bubble's clock
	ctx      context.Context
	cancel   context.CancelFunc
	ended    bool // nothing more will happen
	stopping bool // the schedule has ended, and its actors must end
	skip     timeSkip
	left     budget
	last     strategy.Verb // verb of the last step
	steps    int
	// choices are the choices at the current point, made the choices made so far. These replay the
	// schedule.
	choices, made []strategy.Choice
	effect        strategy.Effect     // of the step under way
	running       *stepserver.Command // the command that runOnServer runs
	faults        []string            // kinds, in the order in which they occurred
}

// begin resets c, and keeps its memory.
func (c *scheduleState) begin() {
	c.stopping, c.ended, c.steps, c.last = false, false, 0, strategy.VerbBegin
	c.skip = timeSkip{paused: c.skip.paused[:0], delayed: c.skip.delayed[:0], unreadReplies: c.skip.unreadReplies[:0]}
	c.made, c.faults = c.made[:0], c.faults[:0]
	c.ctx, c.cancel = context.WithCancel(context.Background())
}

// now returns the time since the start of the schedule.
func (c *scheduleState) now() time.Duration { return time.Since(c.start) }

// A budget is the rest of the budgets of a schedule.
type budget struct {
	faults, moves int
}

// phase is the fraction of a second, in ns, at which every schedule begins: away from a whole
// second.
const phase = 313_000_007

// epoch is the time of day that is displayed for the start of every schedule.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, phase, time.UTC)

func newWorld(cfg Config, program workloads.Program, bubble Bubble, g *globalRandom) (*world, error) {
	server, err := stepserver.New()
	if err != nil {
		return nil, fmt.Errorf("explore: %w", err)
	}
	w := &world{
		cfg: cfg, program: program, bubble: bubble, server: server, global: g,
		store:     backend.NewMemory(),
		rootTurns: rootTurns{woken: make(chan struct{}, 1)},
	}
	if w.guarded, err = w.store.Guarded(cfg.Guard); err != nil {
		return nil, fmt.Errorf("explore: %w", err)
	}
	w.header = header(cfg)
	server.Executed(w.recordTaken)
	w.tape = history.NewTape(w.header)
	w.judge = checker.NewBrief(w.header)
	w.shared = workloads.NewRun(cfg.options(program), nil)
	w.shared.Lease = wholeSecondsOf(cfg.TTL)
	w.shared.Renews = cfg.Design.Renews || cfg.Design.RenewsUnseen
	for i := range w.shared.Keys {
		w.shared.Keys[i] = "job-" + strconv.Itoa(i+1)
	}
	copy(w.shared.Keys, program.KeyNames)
	for p := range (cfg.Clients + cfg.Threads - 1) / cfg.Threads {
		w.processes = append(w.processes, newProcess(w, p))
	}
	for i := range cfg.Clients {
		w.clients = append(w.clients, w.newActor(i, w.processes[i/cfg.Threads]))
	}
	if last := w.clients[cfg.Clients-1]; program.Exploration.Succeeds && cfg.Clients > 1 {
		last.predecessor, last.process.named = w.clients[0], w.clients[0].process.number
	}
	w.actors = slices.Clone(w.clients)
	for i, p := range w.processes {
		background := w.newActor(cfg.Clients+i, p)
		background.client, background.name = false, processName(i)
		w.actors = append(w.actors, background)
	}
	w.prober = w.newActor(cfg.Clients, newProcess(w, len(w.processes)))
	w.prober.name, w.prober.process.shared = "probe", false
	w.allowed = strategy.VerbsOf(cfg.Kinds)
	w.cancels = cfg.Faults > 0 && slices.Contains(cfg.Kinds, fault.Cancel)
	return w, nil
}

func (w *world) newActor(number int, in *process) *actor {
	return &actor{number: number, name: clientName(w.cfg, number), client: true, process: in, world: w, parkState: parkState{resume: make(chan struct{}, 1)}}
}

// close ends the world.
func (w *world) close() {
	for _, p := range append(w.processes, w.prober.process) {
		p.clients.CloseAll()
		if err := p.end(); err != nil {
			w.defect(fmt.Sprintf("end process %d: %v", p.number, err))
		}
	}
	for _, a := range append(w.actors, w.prober) {
		a.dismiss()
	}
	w.tape.Reset() // stops the goroutine that watches for losses
	w.server.Close()
	time.Sleep(time.Second) // time for the client library to give up its dials
	w.bubble.Wait()
}

// open prepares the world for a new schedule.
func (w *world) open() error {
	w.align()
	if w.notes != nil {
		w.notes.printer.Start, w.notes.printer.Shown = w.start, epoch
	}
	w.server.Reset()
	w.tape.Reset()
	w.store.Clear()
	if err := w.shared.Prepare(context.Background(), w.store, w.program); err != nil {
		return err
	}
	w.scheduleState.begin()
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
	w.prober.exited = true // it has no part before the end
	return nil
}

// align sleeps until the fraction of a second at which schedules begin. The server, the processes
// and the bubble share one clock, which only advances: lock code may read it directly, and send
// times of day to the server.
func (w *world) align() {
	now := time.Now()
	to := now.Truncate(time.Second).Add(phase)
	if to.Before(now) {
		to = to.Add(time.Second)
	}
	w.count.Add(1)
	time.Sleep(time.Until(to))
	w.start = time.Now()
}

// assign starts an actor's part of the schedule.
func (w *world) assign(a *actor) {
	a.crashed, a.exited, a.parkedAt, a.held, a.rests = false, false, "", false, 0
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
		inner := a.process.inner.Locker(beliefObserver{a.record, a})
		if w.program.Exploration.Again {
			inner = retryLocker{inner}
		}
		if w.cancels {
			inner = design.Around(inner, a.endIfOverdue)
		}
		c := w.shared.Client(a.number, trackedLocker{a, a.record.Locker(inner)}, a.record.Store(w.storeOf(a)))
		c.Driver = a
		a.start(func() {
			if a.predecessor != nil {
				a.park(begins, false)
			}
			c.Perform(w.ctx, w.program, w.cfg.Rounds)
		})
		w.bubble.Wait()
	}
}

// wholeSecondsOf returns ttl in whole seconds, as the coarsest designs grant it.
func wholeSecondsOf(ttl time.Duration) time.Duration {
	return (ttl + time.Second - 1).Truncate(time.Second)
}
