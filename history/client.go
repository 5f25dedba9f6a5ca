package history

import (
	"sync"
	"time"
)

// A Client records what one owner does. Its methods are called by one goroutine,
// the owner's; Attempt and the functions that Renewing returns may be called
// beside it.
type Client struct {
	rec                 *Recorder
	id, process, stream int32

	// mu is contended only by the recorder's sweep and by background renewals.
	mu      sync.Mutex
	sealed  bool   // the recorder was closed: what still happens is dropped
	full    [][]Op // buffers of blockOps operations each
	buf     []Op
	pending []Op // operations under way; a slot with Kind zero is free
	holds   holds

	watchers sync.WaitGroup
	covered  int64 // watermark of the last block written; the writer's own
}

// begin records the call of an operation and returns the slot it waits in. The
// stamp is read under the same mutex that makes the operation visible to the
// sweep: a sweep sees it pending, or took its own stamp before.
func (c *Client) begin(op Op) int {
	op.Client, op.Process, op.Stream = c.id, c.process, c.stream
	op.Attempt, op.Return = NoStamp, Never
	c.mu.Lock()
	slot := c.freeSlot()
	op.Call = c.rec.Now()
	c.holds.begin(&op)
	c.pending[slot] = op
	c.mu.Unlock()
	return slot
}

func (c *Client) freeSlot() int {
	for i := range c.pending {
		if c.pending[i].Kind == 0 {
			return i
		}
	}
	c.pending = append(c.pending, Op{})
	return len(c.pending) - 1
}

// returned fills in the end of the operation in slot, for the caller to complete
// and settle. c.mu is held.
func (c *Client) returned(slot int, at int64, v verdict) *Op {
	op := &c.pending[slot]
	op.Return, op.Outcome, op.Late, op.Note = at, v.outcome, v.late, v.note
	return op
}

// settle records an operation that ended and frees its slot. c.mu is held.
func (c *Client) settle(op *Op) {
	c.holds.end(op)
	c.keep(op)
	op.Kind = 0
}

// keep appends one operation to the client's buffer. c.mu is held.
func (c *Client) keep(op *Op) {
	if c.sealed || c.rec.failed() {
		return
	}
	c.buf = append(c.buf, *op)
	if len(c.buf) == blockOps {
		c.full = append(c.full, c.buf)
		c.buf = c.rec.spare()
		c.rec.wake(c)
	}
}

// take hands over what was recorded, with the stamp below which nothing of this
// client is missing, and goes on with an empty buffer.
func (c *Client) take() (buffers [][]Op, watermark int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	watermark = c.rec.Now()
	for i := range c.pending {
		if c.pending[i].Kind != 0 {
			watermark = min(watermark, c.pending[i].Call)
		}
	}
	return c.handOver(), watermark
}

// handOver empties the buffers. c.mu is held.
func (c *Client) handOver() [][]Op {
	buffers := c.full
	c.full = nil
	if len(c.buf) > 0 {
		buffers = append(buffers, c.buf)
		c.buf = c.rec.spare()
	}
	return buffers
}

// seal ends the client's record: operations still under way become unknown ones
// that never returned, and whatever comes later is dropped.
func (c *Client) seal() [][]Op {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range c.pending {
		if op.Kind != 0 {
			anchorAttempt(&op)
			c.keep(&op)
		}
	}
	c.sealed = true
	return c.handOver()
}

// Attempt records the start of an attempt to acquire key, inside the client's
// Acquire that is under way, and returns its instant: the start of validity if
// it succeeds. It is safe for concurrent use.
func (c *Client) Attempt(key string) time.Time {
	c.mu.Lock()
	at := c.rec.Now()
	for i := range c.pending {
		if op := &c.pending[i]; op.Kind == Acquire && op.Key == key {
			op.Attempt = at
			op.Attempts++
			break
		}
	}
	c.mu.Unlock()
	return c.rec.base.Add(time.Duration(at))
}

// Renewing records the start of a renewal in the background, before it is sent.
// The function it returns records the result: the lease granted, or the error.
// Both are safe for concurrent use.
func (c *Client) Renewing(key string) func(granted time.Duration, err error) {
	slot := c.begin(Op{Kind: Renew, Key: key})
	var once sync.Once
	return func(granted time.Duration, err error) {
		once.Do(func() { c.renewed(slot, granted, err) })
	}
}

func (c *Client) renewed(slot int, granted time.Duration, err error) {
	at, v := c.rec.Now(), judge(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	op := c.returned(slot, at, v)
	op.Attempt = op.Call
	if v.outcome == OK {
		op.Granted = int64(granted)
	}
	c.settle(op)
}

// Event records that something happened to the client at this instant: its death,
// a pause, a fault. Key may be empty; note says what it is about, in a few words
// that recur.
func (c *Client) Event(kind Kind, key, note string) {
	c.event(Op{Kind: kind, Key: key, Note: note})
}

func (c *Client) event(op Op) {
	op.Client, op.Process, op.Stream = c.id, c.process, c.stream
	op.Outcome, op.Attempt = OK, NoStamp
	c.mu.Lock()
	defer c.mu.Unlock()
	op.Call = c.rec.Now()
	op.Return = op.Call
	c.holds.begin(&op)
	c.holds.end(&op)
	c.keep(&op)
}
