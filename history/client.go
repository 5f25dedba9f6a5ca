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

// A Client records the operations of one owner. One goroutine, the owner's, calls
// its methods; Attempt and the functions that Renewing returns may be called
// beside it. A [Recorder] or a [Tape] makes it.
type Client struct {
	base time.Time
	// track takes the operations, notes the text of their errors.
	track track
	notes *notes
	// grants returns the lease that is granted when asked for this one; nil is as asked.
	grants func(asked time.Duration) time.Duration
	// timeout is the time after which the design itself gives up a try, in ns.
	timeout int64
	// owners takes the client back when its hold is over; nil outside a service.
	owners *owners

	// mu is contended only by the recorder's sweep and by background renewals.
	mu      sync.Mutex
	sealed  bool  // crashed, or the recording is over: later operations are dropped
	dying   bool  // the death itself may cause loss notices
	pending []*Op // operations under way
	holds   holds

	// intended is the stamp at which the next acquire was to begin; only the owner's goroutine uses it.
	intended int64

	// leases are made, but not given out yet; only the owner's goroutine uses them.
	leases []lease

	// holdBackFrom is the stamp from which HoldBack holds events back, while held is set.
	holdBackFrom int64
	holdingBack  bool
	unsure       bool // the outcome of an operation is unknown

	watchers sync.WaitGroup
	quit     chan struct{} // closed when watchers are to end; nil while there was none
}

// A track stores one client's operations: its stream of a Recorder, or its part of
// a Tape. It is used under the client's mutex.
type track interface {
	// open returns an operation to fill in, which has its owner only.
	open() *Op
	// called stamps the call of an operation.
	called(op *Op)
	// calledAt stamps the call of an event at an earlier stamp.
	calledAt(op *Op, at int64)
	// ended stores an operation that returned, never will, or is an event. The track may reuse
	// the operation.
	ended(op *Op)
}

// Grants sets the function from the lease asked for to the lease granted. An
// acquire without an answer is recorded with its result, since that lease may
// stand on the server. Zero is no lease: then none counts as asked for. Call it
// before the client begins.
func (c *Client) Grants(lease func(asked time.Duration) time.Duration) { c.grants = lease }

// GivesUp sets the time after which the design itself gives up a try; the default is 20 ms. A refusal
// that wraps [context.DeadlineExceeded] counts as the end of such a wait only if it took that long.
// Call it before the client begins.
func (c *Client) GivesUp(after time.Duration) { c.timeout = int64(after) }

// usualTimeout is the shortest time after which a silent server counts as such, in ns.
const usualTimeout = int64(20 * time.Millisecond)

// gaveUp reports whether a try without a wait ended before its answer: its context was over, or it
// took as long as the design waits for an answer and its error is a time-out.
func (c *Client) gaveUp(ctx context.Context, op *Op, at int64, err error) bool {
	if op.Wait != 0 || !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return ctx.Err() != nil || at-op.Call >= cmp.Or(c.timeout, usualTimeout)
}

// Intended sets the instant at which the client's next acquire was to begin, by the
// timetable of an open loop: its latency counts from there. Call it before that
// acquire and not before the instant itself; an acquire that comes too early was
// to begin at its call.
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

// open returns an empty operation, which is dropped if the record is over.
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
// that never returned, and later ones are dropped. c.mu is held.
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

// Event records an event of the client at this instant: a pause, a fault. Key may be
// empty; note names the event, in a few words that recur.
func (c *Client) Event(kind Kind, key, note string) {
	c.event(Op{Kind: kind, Key: key, Note: note})
}

// Fault records that a fault happens to the client at this instant, or began to. The
// note names it, in a few words that recur; value is its size, if it has one,
// such as the offset of a clock in ns.
func (c *Client) Fault(note string, value int64) {
	c.event(Op{Kind: Fault, Note: note, Value: value})
}

// HoldBack makes a reader of the growing history wait: it sees nothing from this instant on until a
// later HoldBack, or the end. So the client can still record, by [Client.FaultSince], a fault that is
// known only afterwards. The instant only moves forward. A Tape needs no HoldBack, since it is read
// when it is complete. HoldBack is safe for concurrent use.
func (c *Client) HoldBack(from time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holdBackFrom, c.holdingBack = max(c.holdBackFrom, int64(from.Sub(c.base))), true
}

// FaultSince records a fault, as Fault does, that began at a past instant which HoldBack has held
// back since. A fault from before the record begins with the record. It is safe for concurrent use.
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

// TakenAway records that, at this instant, a command of the client by took this
// client's hold of key away on the server: neither client may ever notice.
func (c *Client) TakenAway(key string, by int32) {
	c.event(Op{Kind: Fault, Key: key, Note: fault.TakenAway, Value: int64(by)})
}

// Die records the client's death. Nothing of the client is recorded afterwards:
// operations under way stay unknown ones that never returned.
func (c *Client) Die(note string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sealed {
		c.recordEvent(Op{Kind: Death, Note: note})
		c.seal()
	}
}

// Dying announces the end of the client: from now on loss notices, which the end itself may cause,
// are not recorded. Everything else is, until [Client.Die]. It is safe for concurrent use.
func (c *Client) Dying() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dying = true
}

// GivingUp records a release of unknown outcome for each hold, for locks that release their holds when
// they are closed. The owner's goroutine calls it.
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

// Retire drops the state for the leases of a client that has died. The owner's goroutine calls it, as
// the last of the client's methods.
func (c *Client) Retire() { c.leases = nil }

func (c *Client) event(what Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sealed && !(c.dying && what.Kind == Lost) {
		c.recordEvent(what)
	}
}

// recordEvent records an event. c.mu is held.
func (c *Client) recordEvent(what Op) {
	op := c.track.open()
	op.Kind, op.Outcome = what.Kind, OK
	op.Key, op.Hold, op.Value, op.Note = what.Key, what.Hold, what.Value, what.Note
	c.holds.begin(op)
	c.track.called(op)
	op.Return = op.Call
	c.holds.end(op)
	c.track.ended(op)
}
