package explore

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// An actor is a participant of a schedule: a client, which runs its part of the program, or the
// background of a process that has several clients. The scheduler and the actor's goroutine run
// alternately; synctest.Wait synchronizes their shared state.
type actor struct {
	number  int
	name    string // "c1", "p2.c3"; "p2" for the background of a process
	client  bool
	process *process
	world   *world
	// predecessor is the client whose death the actor awaits before it begins; nil for none.
	predecessor *actor
	record      *history.Client // nil for the background
	parts       chan func()     // to its goroutine; nil if there is none

	// Fields of the present schedule:
	crashed bool
	exited  bool          // its goroutine has ended
	rests   int           // number of rests so far: it keeps timers apart
	overdue bool          // the context of its next call is over before the call
	asked   time.Duration // the lease that its last step asked for; 0 is none
	// pending are its commands that can run; late are its commands that may run although their
	// calls have ended.
	pending, late []*stepserver.Command
	call          call
	parkState
	holdings
}

// A parkState says whether an actor is parked: it waits for the scheduler, at its next step or at
// an access to the store, and not for the server. parkedAt is empty if it is not.
type parkState struct {
	resume   chan struct{} // sent to when the scheduler picks the actor
	parkedAt string        // the step or access that it waits for
	accesses bool          // it waits for an access to the store
	held     bool          // it must not go on before a time skip ends
}

// holdings are the locks that an actor believes to hold. Background renewals run concurrently with
// the owner's calls, so mu guards all fields.
type holdings struct {
	mu      sync.Mutex
	beliefs []belief // one per key
	// leases are kept until the end of the schedule, because a lock may notice when a lease is
	// garbage collected.
	leases []lockbench.Lease
}

// A call is the current call of the lock by an actor.
type call struct {
	inCall    bool // whether there is one
	cancel    context.CancelFunc
	cancelled bool
	// rests counts how often it was seen asleep; asleep tells whether it is now.
	rests  int
	asleep bool
}

// A belief is a hold that its owner has neither released nor been told to have lost.
type belief struct {
	key   string
	depth int
	until time.Time // end of validity, by the bubble's clock
}

// done reports whether the client does nothing more.
func (a *actor) done() bool { return !a.client || a.exited || a.crashed }

// Step implements workloads.Driver: it returns when the scheduler picks the actor. The history
// stamps the client's next call only then, so that holds last as long as possible.
func (a *actor) Step(what string) { a.park(what, false) }

// dies and begins are the steps of a client that dies by its program, and of its successor.
const dies, begins = "die", "start under the name of c1"

// Die implements workloads.Driver: the client dies when the scheduler picks it.
func (a *actor) Die() { a.park(dies, false) }

// waits reports whether the actor waits for the death of its predecessor.
func (a *actor) waits() bool {
	return a.predecessor != nil && a.parkedAt == begins && !a.predecessor.done()
}

// timerSpacing keeps apart the timers of different clients, and of one client in different rounds:
// their durations differ by multiples of it. Timers that fire at the same instant would run in
// random order.
const timerSpacing = 1_000_003 * time.Nanosecond

// Rest implements workloads.Driver, in virtual time. It ends early with ctx, at the end of
// the schedule: later calls then fail at once.
func (a *actor) Rest(ctx context.Context, d time.Duration) bool {
	a.rests++
	return a.Sleep(ctx, d+time.Duration(1+a.number+a.rests*len(a.world.clients))*timerSpacing)
}

// Sleep implements workloads.Driver.
func (*actor) Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// park waits until the scheduler picks the actor. At the end of the schedule park does not return
// but ends the goroutine, which then has no code of the lock on its stack.
func (a *actor) park(what string, access bool) {
	a.world.count.Load()
	a.parkedAt, a.accesses, a.asked = what, access, 0
	a.world.wake()
	<-a.resume
	if a.world.stopping {
		runtime.Goexit()
	}
	a.parkedAt = ""
}

// unpark lets the actor go on from its park.
func (a *actor) unpark() { a.resume <- struct{}{} }

// start makes the actor's goroutine run a part, until the end of the part or of the schedule. The
// goroutine, with its grown stack, serves all schedules: a new one would take a fifth of the time
// of a schedule.
func (a *actor) start(part func()) {
	if a.parts == nil {
		a.parts = make(chan func(), 1)
		go a.work(a.parts)
	}
	a.parts <- part
}

// work is the actor's goroutine. It ends when parts is closed, and by runtime.Goexit.
func (a *actor) work(parts chan func()) {
	defer func() {
		a.world.count.Load()
		if a.parts == parts {
			a.parts = nil
		}
	}()
	for part := range parts {
		a.do(part)
	}
}

// do runs one part, and records a panic of the lock.
func (a *actor) do(part func()) {
	defer func() {
		a.world.count.Load()
		if p := recover(); p != nil {
			a.world.defect(fmt.Sprintf("%s: the lock panicked: %v", a.name, p))
		}
		a.exited = true
		a.world.wake()
	}()
	if a.process.shared {
		a.world.server.AttributeGoroutine(a.process.number, a.number)
	}
	part()
}

// dismiss ends the actor's goroutine, after its current part if there is one.
func (a *actor) dismiss() {
	if parts := a.parts; parts != nil {
		a.parts = nil
		close(parts)
	}
}

// items returns the number of items that the actor may continue with: its park, if it is parked,
// and then its commands.
func (a *actor) items() int {
	n := len(a.pending)
	if a.parkedAt != "" {
		n++
	}
	return n
}

// item returns the n-th item, nil for the park.
func (a *actor) item(n int) *stepserver.Command {
	if n >= strategy.LateCommand {
		return a.late[n-strategy.LateCommand]
	}
	if a.parkedAt != "" {
		if n == 0 {
			return nil
		}
		n--
	}
	return a.pending[n]
}

// believe records a grant of key, valid until the given time.
func (h *holdings) believe(key string, lease lockbench.Lease, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leases = append(h.leases, lease)
	if b := h.belief(key); b != nil {
		b.depth++
		b.until = until
		return
	}
	h.beliefs = append(h.beliefs, belief{key, 1, until})
}

// belief returns the belief to hold key, nil if there is none. h.mu is held.
func (h *holdings) belief(key string) *belief {
	for i := range h.beliefs {
		if h.beliefs[i].key == key {
			return &h.beliefs[i]
		}
	}
	return nil
}

// prolong records that the hold of key is valid until the given time.
func (h *holdings) prolong(key string, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.belief(key); b != nil {
		b.until = until
	}
}

// doubt records that a level of key was released or, if lost is set, that the hold was lost.
func (h *holdings) doubt(key string, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.beliefs {
		b := &h.beliefs[i]
		if b.key != key {
			continue
		}
		if b.depth--; b.depth == 0 || lost {
			h.beliefs = append(h.beliefs[:i], h.beliefs[i+1:]...)
		}
		return
	}
}

// believes reports whether the actor believes that it holds key.
func (h *holdings) believes(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.belief(key) != nil
}
