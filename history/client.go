package history

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/fault"
)

// A Client records what one owner does. Its methods are called by one goroutine,
// the owner's; Attempt and the functions that Renewing returns may be called
// beside it. A [Recorder] or a [Tape] makes it.
type Client struct {
	base time.Time
	// track is where the operations go, notes what has room for the words of their errors.
	track track
	notes *notes
	// grants is the lease that is given where so much is asked for; nil is as asked.
	grants func(asked time.Duration) time.Duration
	// timeout is after which the design gives a try up by itself, in ns.
	timeout int64
	// owners is what the client goes back to when its hold is over; nil unless a service has it.
	owners *owners

	// mu is contended only by the recorder's sweep and by background renewals.
	mu      sync.Mutex
	sealed  bool  // crashed, or the recording is over: what still happens is dropped
	dying   bool  // what is said of losses is the death's doing
	pending []*Op // operations under way
	holds   holds

	// intended is when the next acquire was to begin; the owner's goroutine's own.
	intended int64

	// leases are made, but not given out yet; the owner's goroutine's own.
	leases []lease

	// heldBack is where HoldBack holds back what follows, while held is set.
	heldBack int64
	held     bool
	unsure   bool // the outcome of an operation is unknown

	watchers sync.WaitGroup
	quit     chan struct{} // closed when watchers are to end; nil while there was none
}

// A track takes down one client's operations: its stream of a Recorder, or its
// part of a Tape. It is used under the client's mutex.
type track interface {
	// open returns an operation to fill in, nothing but its owner known of it.
	open() *Op
	// called stamps the call of an operation.
	called(op *Op)
	// calledAt stamps the call of an event that was at an earlier stamp.
	calledAt(op *Op, at int64)
	// ended takes down an operation that returned, never will, or is an event. The
	// operation is the track's to use again.
	ended(op *Op)
}

// Grants sets which lease the design gives where one is asked for. An
// acquire that nobody answers is recorded with it: that is what may stand on the
// server. Zero is no lease: none counts as asked for, then. Call it before the client begins.
func (c *Client) Grants(lease func(asked time.Duration) time.Duration) { c.grants = lease }

// GivesUp sets after which time the design gives a try up by itself; 20 ms unless it is set. A refusal that wraps
// [context.DeadlineExceeded] counts as the end of such a wait only if it took as long. Call it before the client begins.
func (c *Client) GivesUp(after time.Duration) { c.timeout = int64(after) }

// usualTimeout is the least time in which a server that does not answer shows, in ns.
const usualTimeout = int64(20 * time.Millisecond)

// gaveUp reports whether a try, called without a wait, ended before its answer: its context was over, or it lasted
// for as long as the design waits for one, and its error says so.
func (c *Client) gaveUp(ctx context.Context, op *Op, at int64, err error) bool {
	if op.Wait != 0 || !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return ctx.Err() != nil || at-op.Call >= cmp.Or(c.timeout, usualTimeout)
}

// Intended reports when the client's next acquire was to begin, by the timetable of
// an open loop: its latency counts from there. Call it before that acquire and not
// before the instant itself; an acquire that comes too early was to begin at its call.
func (c *Client) Intended(at time.Time) { c.intended = max(1, int64(at.Sub(c.base))) }

// now returns the time since the start of the run, in ns, on the monotonic clock.
func (c *Client) now() int64 { return int64(time.Since(c.base)) }

// begin locks the client and returns an operation to fill in, for called.
func (c *Client) begin(kind Kind, key string) *Op {
	c.mu.Lock()
	op := c.open()
	op.Kind, op.Key = kind, key
	return op
}

// open returns an empty operation; one that goes nowhere once the record is over.
// c.mu is held.
func (c *Client) open() *Op {
	if c.sealed {
		return new(Op)
	}
	return c.track.open()
}

// called records the call of an operation and unlocks the client. The stamp is
// read under the same mutex that makes the operation visible to the sweep: a
// sweep sees it pending, or took its own stamp before.
func (c *Client) called(op *Op) {
	if !c.sealed {
		c.holds.begin(op)
		c.pending = append(c.pending, op)
		c.track.called(op)
		op.Intended = min(op.Intended, op.Call)
	}
	c.mu.Unlock()
}

// returned fills in the end of an operation, for the caller to complete and
// settle, unless the record was over before. c.mu is held.
func (c *Client) returned(op *Op, at int64, v verdict) bool {
	if c.sealed {
		return false
	}
	op.Return, op.Outcome, op.Late, op.Note = at, v.outcome, v.late, v.note
	return true
}

// settle records an operation that ended. c.mu is held.
func (c *Client) settle(op *Op) {
	c.holds.end(op)
	c.unsure = c.unsure || op.Outcome == Unknown
	for i := range c.pending {
		if c.pending[i] == op {
			last := len(c.pending) - 1
			c.pending[i] = c.pending[last]
			c.pending = c.pending[:last]
			break
		}
	}
	c.track.ended(op)
}

// seal ends the client's record: operations still under way become unknown ones
// that never returned, and whatever comes later is dropped. c.mu is held.
func (c *Client) seal() {
	if c.sealed {
		return
	}
	c.sealed = true
	for _, op := range c.pending {
		anchorAttempt(op)
		c.track.ended(op)
	}
	c.pending = c.pending[:0]
	if c.quit != nil {
		close(c.quit)
	}
}

// Attempt records the start of an attempt to acquire key, inside the client's
// Acquire that is under way, and returns its instant: the start of validity if
// it succeeds. It is safe for concurrent use.
func (c *Client) Attempt(key string) time.Time {
	c.mu.Lock()
	at := c.now()
	for _, op := range c.pending {
		if op.Kind == Acquire && op.Key == key {
			op.Attempt = at
			op.Attempts++
			break
		}
	}
	c.mu.Unlock()
	return c.base.Add(time.Duration(at))
}

// Renewing records the start of a renewal in the background, before it is sent.
// The function it returns records the result: the lease granted, or the error.
// Both are safe for concurrent use.
func (c *Client) Renewing(key string) func(granted time.Duration, err error) {
	op := c.begin(Renew, key)
	c.called(op)
	var once sync.Once
	return func(granted time.Duration, err error) {
		once.Do(func() { c.renewed(op, granted, err) })
	}
}

func (c *Client) renewed(op *Op, granted time.Duration, err error) {
	at, v := c.now(), judge(err, c.notes)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.returned(op, at, v) {
		return
	}
	op.Attempt = op.Call
	if v.outcome == OK {
		op.Granted = int64(granted)
	}
	c.settle(op)
}

// Event records that something happened to the client at this instant: a pause, a
// fault. Key may be empty; note says what it is about, in a few words that recur.
func (c *Client) Event(kind Kind, key, note string) {
	c.event(Op{Kind: kind, Key: key, Note: note})
}

// Fault records that a fault happens to the client at this instant, or began to. The
// note names it, in a few words that recur; value is its size where it has one,
// such as the offset of a clock in ns.
func (c *Client) Fault(note string, value int64) {
	c.event(Op{Kind: Fault, Note: note, Value: value})
}

// HoldBack has a reader of the growing history wait: it is shown nothing from this instant on
// until a later HoldBack, or the end. So the client can still record, by [Client.FaultSince],
// what is known afterwards only. It moves forward alone. A Tape, which is read when it is
// complete, needs none. It is safe for concurrent use.
func (c *Client) HoldBack(from time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heldBack, c.held = max(c.heldBack, int64(from.Sub(c.base))), true
}

// FaultSince records a fault, as Fault does, that began at an instant which is past, but was held
// back since. What began before the record did begins with it. It is safe for concurrent use.
func (c *Client) FaultSince(from time.Time, note string, value int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sealed {
		return
	}
	op := c.track.open()
	op.Kind, op.Outcome, op.Note, op.Value = Fault, OK, note, value
	c.track.calledAt(op, max(0, int64(from.Sub(c.base))))
	op.Return = op.Call
	c.track.ended(op)
}

// TakenAway records that, at this instant, a command of the client by took from the
// server what this client holds of key: neither client may ever notice.
func (c *Client) TakenAway(key string, by int32) {
	c.event(Op{Kind: Fault, Key: key, Note: fault.TakenAway, Value: int64(by)})
}

// Die records the client's death. Nothing of the client is recorded afterwards:
// operations under way stay unknown ones that never returned.
func (c *Client) Die(note string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sealed {
		c.happened(Op{Kind: Death, Note: note})
		c.seal()
	}
}

// Dying says that the client is being ended: a lease-lost notice from now on is of what its end
// itself takes, and is not recorded. Everything else is, until [Client.Die]. It is safe for
// concurrent use.
func (c *Client) Dying() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dying = true
}

// GivingUp records that what ends the client may release what it holds: a release of each hold, of which
// nobody hears. It is for locks that do so when they are closed. Its owner's goroutine calls it.
func (c *Client) GivingUp() {
	c.mu.Lock()
	open := slices.Clone(c.holds.open)
	c.mu.Unlock()
	for _, h := range open {
		for range h.depth {
			op := c.begin(Release, h.key)
			op.Hold = h.id
			c.called(op)
		}
	}
}

// Retire lets go of what is kept for the leases of a client that has died. Its owner's
// goroutine calls it, as the last of the client's methods.
func (c *Client) Retire() { c.leases = nil }

func (c *Client) event(what Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sealed && !(c.dying && what.Kind == Lost) {
		c.happened(what)
	}
}

// happened records an event. c.mu is held.
func (c *Client) happened(what Op) {
	op := c.track.open()
	op.Kind, op.Outcome = what.Kind, OK
	op.Key, op.Hold, op.Value, op.Note = what.Key, what.Hold, what.Value, what.Note
	c.holds.begin(op)
	c.track.called(op)
	op.Return = op.Call
	c.holds.end(op)
	c.track.ended(op)
}
