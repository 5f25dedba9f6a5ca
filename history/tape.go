package history

import (
	"slices"
	"sync"
	"time"
)

// A Tape records in memory, at once, for histories that are short and many: the histories of
// package explore. Each stamp gets a number that rises through the whole tape, so that events at
// one instant of virtual time are in order, too. A Tape starts no goroutine, except for leases that
// can tell of their loss.
//
// Its methods and its clients are safe for concurrent use, except that nothing
// else may be under way during Reset. Inside a synctest bubble, Reset or NewTape
// and all that follows belong to one bubble.
type Tape struct {
	header Header

	mu      sync.Mutex
	base    time.Time
	seq     uint64
	ops     [][]Op // chunks of tapeOps, used again after Reset
	used    int    // operations in use
	moments []tapeMoment
	clients []*tapeTrack // used again after Reset
	live    int          // clients in use
}

// tapeOps is how many operations a tape makes at a time: pointers to them stay.
const tapeOps = 64

// A tapeMoment is one end of an operation, in the order in which they came.
type tapeMoment struct {
	op    *Op
	phase Phase
	at    int64
}

// NewTape begins a history with header h, and fills in h.Schema. The clock starts.
func NewTape(h Header) *Tape {
	h.Schema = Schema
	return &Tape{header: h, base: time.Now()}
}

// Reset forgets everything recorded, its clients included, and starts the clock
// anew. What Events passed on and the clients made before must not be used any
// more.
func (t *Tape) Reset() {
	for _, c := range t.clients[:t.live] {
		c.end()
	}
	t.base = time.Now()
	t.seq, t.used, t.live = 0, 0, 0
	clear(t.moments)
	t.moments = t.moments[:0]
}

// Client begins the record of one owner that lives in process. The id must be one
// that no other client of the tape has, since it was made or Reset.
func (t *Tape) Client(id, process int32) *Client {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == len(t.clients) {
		t.clients = append(t.clients, &tapeTrack{tape: t})
	}
	c := t.clients[t.live]
	c.id, c.process, c.number = id, process, int32(t.live)
	t.live++
	c.Client = Client{
		base: t.base, track: c, pending: c.pending[:0], leases: c.leases,
		holds: holds{client: id, reacquire: t.header.Reacquire, open: c.holds.open[:0]},
	}
	return &c.Client
}

// Source returns what was recorded so far as a history that ends as end says;
// operations under way are unknown ones that never return. It may be read any
// number of times, but for operations that are under way while they are read.
// Events are valid until Reset.
func (t *Tape) Source(end End) Source {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.moments {
		if m.phase == Call && m.op.Return == Never {
			anchorAttempt(m.op)
		}
	}
	end.Trailer.Ops = int64(t.used)
	moments := t.moments
	return &sourceBase{header: t.header, end: end, again: true, events: func(yield func(Event, error) bool) {
		for _, m := range moments {
			if !yield(Event{m.phase, m.op}, nil) {
				return
			}
		}
	}}
}

// A tapeTrack is one client's part of a tape.
type tapeTrack struct {
	Client
	tape                *Tape
	id, process, number int32
}

func (c *tapeTrack) open() *Op {
	t := c.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used == len(t.ops)*tapeOps {
		t.ops = append(t.ops, make([]Op, tapeOps))
	}
	op := &t.ops[t.used/tapeOps][t.used%tapeOps]
	t.used++
	*op = Op{Client: c.id, Process: c.process, Stream: c.number, Attempt: NoStamp, Return: Never}
	return op
}

func (c *tapeTrack) called(op *Op) { op.Call, op.CallSeq = c.tape.stamp(op, Call) }

func (c *tapeTrack) ended(op *Op) {
	if op.Return != Never && !op.event() {
		op.Return, op.ReturnSeq = c.tape.stamp(op, Return)
	}
}

// stamp takes down one end of an operation.
func (t *Tape) stamp(op *Op, phase Phase) (at int64, seq uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	at = int64(time.Since(t.base))
	t.moments = append(t.moments, tapeMoment{op, phase, at})
	return at, t.seq
}

// calledAt has the event come before all that was recorded since then; it needs no number for that.
func (c *tapeTrack) calledAt(op *Op, at int64) {
	t := c.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	op.Call = at
	place := len(t.moments)
	for place > 0 && t.moments[place-1].at >= at {
		place--
	}
	t.moments = slices.Insert(t.moments, place, tapeMoment{op, Call, at})
}

// end is the end of the client's part of the tape.
func (c *tapeTrack) end() {
	c.mu.Lock()
	c.seal()
	c.mu.Unlock()
	c.watchers.Wait()
}

// Len returns how many calls, returns and events were recorded since Reset.
func (t *Tape) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.moments)
}

// Tail appends the recorded events from the n-th on to into, as Source would yield them, and
// returns into. The operations of Events are valid until Reset; operations under way still change.
func (t *Tape) Tail(n int, into []Event) []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.moments[n:] {
		into = append(into, Event{m.phase, m.op})
	}
	return into
}
