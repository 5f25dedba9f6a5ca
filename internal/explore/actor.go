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
	"github.com/lockbench/lockbench/internal/stepserver"
)

// An actor is what acts in a schedule: a client at its part of the program, or what
// a process of several clients does in the background. The scheduler and the
// actor's goroutine take turns: what both touch is handed over by synctest.Wait.
type actor struct {
	number  int
	name    string // "c1", "p2.c3"; "p2" for the background of a process
	client  bool
	process *process
	world   *world
	record  *history.Client // nil in the background
	parts   chan func()     // to its goroutine; nil while it has none

	// Of the present schedule:
	crashed bool
	exited  bool // its goroutine has ended
	rests   int  // made so far: they keep timers apart
	// pending are its commands that can be run, late those that it has given up.
	pending, late []*stepserver.Command
	call          call
	parking
	holdings
}

// A parking is where an actor waits by itself, not for the server: at its next step, or an
// access to the store. It waits while parked is not empty, and only then.
type parking struct {
	resume   chan struct{} // sent to when the scheduler picks the actor
	parked   string        // what it waits for
	accesses bool          // it is an access to the store
	held     bool          // not before the time that passes has passed
}

// Holdings are what an actor believes to hold. Renewals in the background come beside the
// owner's calls, so mu guards all of it.
type holdings struct {
	mu      sync.Mutex
	beliefs []belief // one for each key
	// leases are kept until the end: a lock may notice when nobody can reach one.
	leases []lockbench.Lease
}

// A call is what the actor is inside of, of the lock.
type call struct {
	under     bool // way
	cancel    context.CancelFunc
	cancelled bool
	// rests are the times at which it was seen asleep; asleep: it is now.
	rests  int
	asleep bool
}

// A belief is a hold that its owner has not given up, for all that it was told.
type belief struct {
	key   string
	depth int
	until time.Time // end of validity, by the bubble's clock
}

// done reports whether nothing more is to be expected of the client.
func (a *actor) done() bool { return !a.client || a.exited || a.crashed }

// Step implements workloads.Driver: it returns when the scheduler picks the actor. What the
// client calls right after it is stamped as late as that, so a hold lasts as long as it can.
func (a *actor) Step(what string) { a.park(what, false) }

// apart is what keeps the timers of two clients, and those of one client in two
// rounds, from falling due at one instant, where their order would be chance.
const apart = 1_000_003 * time.Nanosecond

// Rest implements workloads.Driver, in virtual time. It ends early with ctx, which is at
// the end of the schedule: what follows then fails at once.
func (a *actor) Rest(ctx context.Context, d time.Duration) bool {
	a.rests++
	return a.Sleep(ctx, d+time.Duration(1+a.number+a.rests*len(a.world.clients))*apart)
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

// park waits until the scheduler picks the actor. At the end of the schedule it
// does not return: the program's part is over, and no code of the lock is below.
func (a *actor) park(what string, access bool) {
	a.world.taken.Load()
	a.parked, a.accesses = what, access
	a.world.wake()
	<-a.resume
	if a.world.over {
		runtime.Goexit()
	}
	a.parked = ""
}

// unpark lets the actor go on from its park.
func (a *actor) unpark() { a.resume <- struct{}{} }

// start has the actor's goroutine do a part, up to its end or that of the schedule.
// The goroutine is kept from one schedule to the next, with the stack that it has
// grown: that would be a fifth of a schedule's cost.
func (a *actor) start(part func()) {
	if a.parts == nil {
		a.parts = make(chan func(), 1)
		go a.work(a.parts)
	}
	a.parts <- part
}

// work is the actor's goroutine. It ends with its channel, and by runtime.Goexit.
func (a *actor) work(parts chan func()) {
	defer func() {
		a.world.taken.Load()
		if a.parts == parts {
			a.parts = nil
		}
	}()
	for part := range parts {
		a.do(part)
	}
}

// do does one part, whatever comes of it.
func (a *actor) do(part func()) {
	defer func() {
		a.world.taken.Load()
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

// dismiss lets the actor's goroutine end, at once or when its part does.
func (a *actor) dismiss() {
	if parts := a.parts; parts != nil {
		a.parts = nil
		close(parts)
	}
}

// items are what the actor may go on with: first what it waits for by itself.
func (a *actor) items() int {
	n := len(a.pending)
	if a.parked != "" {
		n++
	}
	return n
}

// item returns the n-th of items: nil is what the actor waits for by itself.
func (a *actor) item(n int) *stepserver.Command {
	if n >= strategy.LateCommand {
		return a.late[n-strategy.LateCommand]
	}
	if a.parked != "" {
		if n == 0 {
			return nil
		}
		n--
	}
	return a.pending[n]
}

// believe notes a grant of key until then.
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

// belief is the hold of key, nil when there is none. h.mu is held.
func (h *holdings) belief(key string) *belief {
	for i := range h.beliefs {
		if h.beliefs[i].key == key {
			return &h.beliefs[i]
		}
	}
	return nil
}

// prolong notes that the hold of key is extended until then.
func (h *holdings) prolong(key string, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.belief(key); b != nil {
		b.until = until
	}
}

// doubt notes that a level of key, or all of it when it was lost, is given up.
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

// believes reports whether the actor holds key, for all that it was told.
func (h *holdings) believes(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.belief(key) != nil
}
