package synthetic

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/lockbench/lockbench/history"
)

// A Violation is a grant within another owner's validity, planted in a history.
type Violation struct {
	Key string
	// At is when both begin to hold the key, in ns: the second grant's return.
	At int64
	// First had the key, Second was granted it, too.
	First, Second int32
}

// Begin starts a history on out, as [history.NewWriter] and [history.NewJSONLWriter] do.
type Begin func(out io.Writer, h history.Header) (*history.Writer, error)

// Save writes the history that c describes to the file at path, as [Write] does.
func Save(path string, c Config, begin Begin) ([]Violation, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	planted, err := Write(f, c, begin)
	return planted, errors.Join(err, f.Close())
}

// Write writes the history that c describes to out, from its header to its end, and returns
// its violations in the order of time.
func Write(out io.Writer, c Config, begin Begin) ([]Violation, error) {
	w, err := begin(out, c.Header())
	if err != nil {
		return nil, err
	}
	planted, end, err := Generate(c, w)
	if err != nil {
		return nil, err
	}
	return planted, w.Close(end)
}

// Generate generates the history that c describes and writes it to w, which it leaves open
// for [history.Writer.Close] with the End returned. It returns the violations in the order
// of time. Its memory does not grow with c.Ops.
func Generate(c Config, w *history.Writer) ([]Violation, history.End, error) {
	if err := c.Validate(); err != nil {
		return nil, history.End{}, fmt.Errorf("synthetic: %w", err)
	}
	g := newWorld(c)
	for g.done < c.Ops {
		op := g.step()
		if err := w.Write(op); err != nil {
			return nil, history.End{}, err
		}
		g.done++
		if g.done%epochOps == 0 {
			if err := w.Epoch(g.now - longestTrip); err != nil {
				return nil, history.End{}, err
			}
		}
	}
	if n := int64(len(g.planted)); n < c.Violations {
		return nil, history.End{}, fmt.Errorf("synthetic: no lock was held long enough for %d of %d violations; hint: ask for fewer, or for less unknown", c.Violations-n, c.Violations)
	}
	return g.planted, history.End{Trailer: history.Trailer{EndNS: g.latest, Ops: c.Ops, Ended: "operations"}}, nil
}

const (
	// epochOps is the number of operations between two epochs: as many as a recorder writes
	// in a tenth of a second.
	epochOps = 1 << 14
	// Bounds of the time that a request or a reply takes, in ns.
	shortestTrip, longestTrip = 10_000, 60_000
	// shortestUse is the least mean time of use of a lock, in ns.
	shortestUse = 50_000
	// timeout is how long a client waits for an answer, in ns.
	timeout = 1_000_000
	// think is the mean pause of a client after a release, in ns.
	think = 100_000
)

// world is a lock server and its clients, in a time of their own. Clients' requests take
// effect in the order of client.at, each at one instant between its call and its return, so
// the server is right by construction, except for planted violations.
type world struct {
	Config
	*rand.Rand
	op       history.Op // the operation being made; reused
	clients  []client
	queue    queue
	locks    []lock
	now      int64 // the present instant, in ns
	latest   int64 // the latest stamp so far
	done     int64
	planted  []Violation
	ttl, use int64 // the lease, and the mean time of use, in ns
}

// A lock is the server's state of one key.
type lock struct {
	name    string
	holder  int32 // -1 for none
	hold    int64
	expires int64
}

// heldAt reports whether the lock is held at t.
func (l *lock) heldAt(t int64) bool { return l.holder >= 0 && t < l.expires }

// A client is one owner, which holds one lock at most.
type client struct {
	id    int32
	at    int64 // the time at which its next request takes effect
	trip  int64 // how long before that it is sent, in ns
	does  history.Kind
	lock  int32
	hold  int64
	holds int64
	// granted is the time at which it learned of its hold, until the end of its validity.
	granted, until int64
	// sure means that its next request will be answered.
	sure bool
}

func newWorld(c Config) *world {
	g := &world{
		Config: c, Rand: rand.New(rand.NewPCG(c.Seed, 7)),
		clients: make([]client, c.Clients), locks: make([]lock, c.Keys),
		ttl: int64(c.TTL), use: max(int64(c.TTL)/500, shortestUse),
	}
	g.queue = make(queue, c.Clients)
	for i := range g.locks {
		g.locks[i] = lock{name: fmt.Sprint("job-", i+1), holder: -1}
	}
	for i := range g.clients {
		c := &g.clients[i]
		c.id, g.queue[i] = int32(i), c
		g.rest(c, longestTrip+g.Int64N(think))
	}
	g.queue.order()
	return g
}

// step lets the next request take effect and returns its record, which is valid until the
// next step.
func (g *world) step() *history.Op {
	c := g.queue[0]
	g.now = c.at
	g.op = history.Op{
		Kind: c.does, Key: g.locks[c.lock].name, Client: c.id, Process: c.id / 16, Stream: c.id, Hold: c.hold,
		Call: c.at - c.trip, Return: c.at + g.trip(), Attempt: history.NoStamp,
	}
	lost := !c.sure && g.Float64() < g.Unknown
	if lost {
		g.op.Return = g.op.Call + timeout
	}
	c.sure = false
	switch c.does {
	case history.Acquire:
		g.acquire(c, lost)
	case history.Extend:
		g.extend(c, lost)
	default:
		g.release(c, lost)
	}
	g.latest = max(g.latest, g.op.Return)
	g.queue.down(0)
	return &g.op
}

// trip is the time that a message takes.
func (g *world) trip() int64 { return shortestTrip + g.Int64N(longestTrip-shortestTrip) }

// next makes c send a request some ns after its last one returned.
func (g *world) next(c *client, does history.Kind, pause int64) {
	c.does, c.trip = does, g.trip()
	c.at = g.op.Return + pause + c.trip
}

// rest makes c acquire another lock after a pause. A quarter of the acquires go to a few
// popular locks.
func (g *world) rest(c *client, pause int64) {
	g.next(c, history.Acquire, pause)
	among := len(g.locks)
	if g.Uint64()%4 == 0 {
		among = max(1, among/16)
	}
	c.lock, c.hold = int32(g.IntN(among)), 0
}

// draw is a duration from an exponential distribution around mean.
func (g *world) draw(mean int64) int64 { return int64(g.ExpFloat64() * float64(mean)) }
