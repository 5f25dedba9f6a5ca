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

// A Client records the operations of one owner. The owner's goroutine calls its methods; only
// Attempt, Renewals and the functions that it and Renewing return may be called concurrently. A
// [Recorder] or a [Tape] makes it.
type Client struct {
	base time.Time
	// track takes the operations, notes the text of their errors.
	track track
	notes *notes
	// grants returns the lease that is granted when asked for this one; nil is as asked.
	grants func(asked time.Duration) time.Duration // returns the lease granted for a requested one; nil means the same
	// timeout is the time, in ns, after which the design itself stops waiting for a reply.
	timeout int64
	// owners gets the client back when its hold is over; nil outside of a service.
	owners *owners

	// mu is contended only by the recorder's sweep and by background renewals.
	mu      sync.Mutex
	sealed  bool  // crashed, or the recording is over: later operations are dropped
	dying   bool  // the death itself may cause loss notices
	pending []*Op // operations under way
	// reported are the holds that a program renews by itself, and whose renewals it reports.
	reported []*renewals
	holds    holds

	// intended is the stamp at which the next acquire was due; only the owner's goroutine uses it.
	intended int64

	// leases are unused ones, made in advance; only the owner's goroutine uses them.
	leases []lease

	// holdBackFrom is the earliest stamp of the events that HoldBack holds back, while holdingBack
	// is set.
	holdBackFrom int64
	holdingBack  bool
	unsure       bool // the outcome of an operation is unknown

	watchers sync.WaitGroup
	quit     chan struct{} // closed to end the watchers; nil if there were none
}

// A track stores the operations of one client: in its stream of a Recorder, or its part of a Tape.
// It is used under the client's mutex.
type track interface {
	// open returns an operation to fill in, with only its owner set.
	open() *Op
	// called stamps the call of an operation.
	called(op *Op)
	// calledAt stamps the call of an event at an earlier stamp.
	calledAt(op *Op, at int64)
	// ended stores an operation that returned or never will, or an event. The track may use the
	// memory of the operation again.
	ended(op *Op)
}

// Grants sets the function that returns the lease that the lock grants when it is asked for one.
// The record of an acquire without an answer has its result, since the server may have granted that
// lease. If it returns zero, the lock has no lease, and the recorded request is zero, too. Call it
// before the client begins.
func (c *Client) Grants(lease func(asked time.Duration) time.Duration) { c.grants = lease }

// GivesUp sets the time after which the design itself stops waiting for a reply; the default is 20
// ms. A refusal that wraps [context.DeadlineExceeded] counts as such an end only if it took that
// long. Call it before the client begins.
func (c *Client) GivesUp(after time.Duration) { c.timeout = int64(after) }

// usualTimeout is the default of GivesUp, in ns.
const usualTimeout = int64(20 * time.Millisecond)

// gaveUp reports whether an acquire without a wait ended before its reply: its context had ended,
// or its error is a time-out and it took as long as the design waits for a reply.
func (c *Client) gaveUp(ctx context.Context, op *Op, at int64, err error) bool {
	if op.Wait != 0 || !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return ctx.Err() != nil || at-op.Call >= cmp.Or(c.timeout, usualTimeout)
}

// Intended sets the instant at which the client's next acquire is due by the timetable of an open
// loop: its latency counts from there. Call it before that acquire and not before the instant
// itself. An acquire that is called before its instant counts from its call.
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

// called records the call of an operation and unlocks the client. The stamp is read under the mutex
// that makes the operation visible to the recorder's sweep: the sweep either sees the operation as
// pending, or took its own stamp before.
func (c *Client) called(op *Op) {
	if !c.sealed {
		c.holds.begin(op)
		c.pending = append(c.pending, op)
		c.track.called(op)
		op.Intended = min(op.Intended, op.Call)
	}
	c.mu.Unlock()
}

// returned fills in the end of an operation, which the caller then completes and settles, unless
// the record was over before. c.mu is held.
func (c *Client) returned(op *Op, at int64, v verdict) bool {
	if c.sealed {
		return false
	}
	op.Return = min(op.Return, at) // unless it ran within other times
	op.Outcome, op.Late, op.Note = v.outcome, v.late, v.note
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
	for _, r := range c.reported {
		r.record(Op{Return: Never, Outcome: Unknown})
	}
	for _, op := range c.pending {
		op.Return = Never
		anchorAttempt(op)
		c.track.ended(op)
	}
	c.pending = c.pending[:0]
	if c.quit != nil {
		close(c.quit)
	}
}

// Attempt records the start of an attempt to acquire key, within the client's Acquire that is under
// way, and returns its instant. If the attempt succeeds, validity starts there. It is safe for
// concurrent use.
func (c *Client) Attempt(key string) time.Time {
	c.mu.Lock()
	at := c.now()
	for _, op := range c.pending {
		if op.Kind == Acquire && op.Key == key {
			op.Attempt, op.Return = at, Never // Ran is about the attempt before
			op.Attempts++
			break
		}
	}
	c.mu.Unlock()
	return c.base.Add(time.Duration(at))
}

// Ran records when the request of the client's operation under way ran, by a clock that is better than
// the client's own: of several attempts the first one's start is the call of the operation, and the last
// one's end its return. Times outside of the operation do not count. A Tape ignores the ends.
func (c *Client) Ran(from, to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range c.pending {
		if op.Kind == Renew {
			continue
		}
		start := max(op.Call, int64(from.Sub(c.base)))
		if op.Attempts <= 1 {
			op.Call = start
		}
		if op.Attempts > 0 {
			op.Attempt = start
		}
		op.Return = max(start, min(c.now(), int64(to.Sub(c.base))))
	}
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

// Event records an event of the client at this instant, such as a pause or a fault. The key may be
// empty. note names the event, in a few words that recur.
func (c *Client) Event(kind Kind, key, note string) {
	c.event(Op{Kind: kind, Key: key, Note: note})
}

// Fault records that a fault happens, or begins to happen, to the client at this instant. note
// names it, in a few words that recur. value is its size if it has one, such as the offset of a
// clock in ns.
func (c *Client) Fault(note string, value int64) {
	c.event(Op{Kind: Fault, Note: note, Value: value})
}

// Probe records that the raw clock of the machine showed sent, then the clock that all machines know showed answer,
// and then the raw clock showed sent+took. All are in ns, and sent is not negative. It is safe for concurrent use.
func (c *Client) Probe(sent, answer, took int64) {
	c.event(Op{Kind: Probe, Base: uint64(sent), Value: answer, Delay: took})
}

// Clock records that the raw clock of the machine was ahead of the stamps by least ns at least, and by largest ns at
// most, from one stamp until another. Stamps are not negative. It is safe for concurrent use.
func (c *Client) Clock(from, until, least, largest int64) {
	c.event(Op{Kind: Clock, Base: uint64(until), Delay: until - from, Value: least, Wait: largest - least})
}

// HoldBack delays readers of the growing history: they see no event from this instant on, until a
// later HoldBack or the end of the record. Meanwhile [Client.FaultSince] can record a fault that is
// only noticed afterwards. The instant never moves back. A Tape needs no HoldBack, since it is read
// when complete. HoldBack is safe for concurrent use.
func (c *Client) HoldBack(from time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holdBackFrom, c.holdingBack = max(c.holdBackFrom, int64(from.Sub(c.base))), true
}

// FaultSince records a fault, as Fault does, that began at a past instant. HoldBack must have held
// events back from that instant on. A fault from before the record begins with the record. It is
// safe for concurrent use.
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

// TakenAway records that at this instant a command of client by removed this client's hold of key
// on the server. Neither client need ever notice it.
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

// Dying announces the death of the client, which may itself cause loss notices: from now on these
// are not recorded. Other operations are, until [Client.Die]. It is safe for concurrent use.
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

// Retire drops the state for the leases of a client that has died. The owner's goroutine calls it
// after all other methods of the client.
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
	op.Base, op.Delay, op.Wait = what.Base, what.Delay, what.Wait
	c.holds.begin(op)
	c.track.called(op)
	op.Return = op.Call
	c.holds.end(op)
	c.track.ended(op)
}
