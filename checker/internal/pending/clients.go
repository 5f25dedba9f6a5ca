package pending

import (
	"maps"
	"math"
	"slices"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// cacheSize is the number of clients in the cache, a power of two.
const cacheSize = 256

// A Client is the state of one client besides its holds.
type Client struct {
	known    bool // false if this is memory to be used again
	id       int32
	Process  int32
	UnderWay []*history.Op // operations under way, in the order of their calls; the newest maxUnderWay
	Last     *history.Op   // the last of its calls that returned
	// Acquiring is its newest acquire. LeaseCap is the shortest lease, in ns, that an operation on
	// an earlier hold, under way at the same time, may set after it.
	Acquiring *history.Op
	LeaseCap  int64
	Dead      bool
	LastPause interval.Stamp // the newest pause
	Paused    bool           // it is paused now
	Struck    *history.Op    // the newest fault that struck requests of it that may renew; nil for none
	Delayed   int64          // until when requests of it, or their answers, may be late, in ns
}

// Clients are the clients of a history by id.
type Clients struct {
	all   map[int32]*Client
	cache *[cacheSize]*Client // some clients, by the end of their ids
	dead  []int32             // clients that died, the newest last
}

// NewClients returns an empty table.
func NewClients() Clients { return Clients{all: map[int32]*Client{}, cache: new([cacheSize]*Client)} }

// Empty returns an empty table that uses the memory of t.
func (t *Clients) Empty() Clients {
	for _, cl := range t.all {
		cl.known = false
	}
	return Clients{all: t.all, cache: t.cache, dead: t.dead[:0]}
}

// Get returns the client with this id, and makes it if needed.
func (t *Clients) Get(id int32) *Client {
	near := &t.cache[id&(cacheSize-1)]
	if cl := *near; cl != nil && cl.id == id && cl.known {
		return cl
	}
	cl := t.all[id]
	if cl == nil {
		cl = &Client{}
		t.all[id] = cl
	}
	*near = cl
	if !cl.known {
		*cl = Client{known: true, id: id, UnderWay: cl.UnderWay[:0], LastPause: interval.Stamp{T: -1}, LeaseCap: math.MaxInt64}
	}
	return cl
}

// Find returns the client with this id, nil if there is none or it is forgotten.
func (t *Clients) Find(id int32) *Client {
	if cl := t.all[id]; cl != nil && cl.known {
		return cl
	}
	return nil
}

// Each yields the clients in the order of their ids.
func (t *Clients) Each(yield func(*Client) bool) {
	for _, id := range slices.Sorted(maps.Keys(t.all)) {
		if cl := t.all[id]; cl.known && !yield(cl) {
			return
		}
	}
}

// maxUnderWay bounds the operations under way of a client: operations that never return would pile
// up.
const maxUnderWay = 16

// Called notes that cl called op.
func (cl *Client) Called(op *history.Op) {
	cl.Process = op.Process
	if len(cl.UnderWay) == maxUnderWay {
		cl.UnderWay = slices.Delete(cl.UnderWay, 0, 1)
	}
	cl.UnderWay = append(cl.UnderWay, op)
}

// Returned notes that op returned.
func (t *Clients) Returned(op *history.Op) {
	cl := t.Get(op.Client)
	if op.Kind != history.Renew {
		cl.Last = op
	}
	if newest := len(cl.UnderWay) - 1; newest >= 0 && cl.UnderWay[newest] == op { // nearly always
		cl.UnderWay[newest] = nil
		cl.UnderWay = cl.UnderWay[:newest]
		return
	}
	if i := slices.Index(cl.UnderWay, op); i >= 0 {
		cl.UnderWay = slices.Delete(cl.UnderWay, i, i+1)
	}
}

// Busy reports whether any client has an operation under way.
func (t *Clients) Busy() bool {
	for _, cl := range t.all {
		if cl.known && len(cl.UnderWay) > 0 {
			return true
		}
	}
	return false
}

// LivesOn reports whether the process of the client, which died, has other clients that live.
func (t *Clients) LivesOn(id int32) bool {
	died := t.all[id]
	for other, cl := range t.all {
		if died != nil && cl.known && other != id && !cl.Dead && cl.Process == died.Process {
			return true
		}
	}
	return false
}

// Gone reports whether a client died or is unknown: such a client has done nothing, or is
// forgotten.
func (t *Clients) Gone(id int32) bool {
	cl := t.Find(id)
	return cl == nil || cl.Dead
}

// maxDead bounds how many dead clients are remembered one by one. Their affected operations may
// still run late.
const maxDead = 1 << 10

// Retire notes that a client died, and forgets the oldest dead client if there are too many.
// Operations that are kept are copied, see [Copy].
func (t *Clients) Retire(id int32) {
	cl := t.Get(id)
	clear(cl.UnderWay)
	cl.UnderWay = cl.UnderWay[:0]
	cl.Last, cl.Acquiring = Copy(cl.Last), Copy(cl.Acquiring)
	t.dead = append(t.dead, id)
	if len(t.dead) <= maxDead {
		return
	}
	if cl := t.all[t.dead[0]]; cl != nil {
		cl.known = false // in near, too
		delete(t.all, t.dead[0])
	}
	t.dead = append(t.dead[:0], t.dead[1:]...)
}

// ID returns the number of the client.
func (cl *Client) ID() int32 { return cl.id }

// Affected returns the operations that a fault of the connection of cl affects: its newest call
// under way or, if there is none, its renewals. Reads and writes do not use the lock and are never
// affected.
func (cl *Client) Affected() []*history.Op {
	for i, op := range slices.Backward(cl.UnderWay) {
		if op.Kind != history.Renew && op.Kind != history.Read && op.Kind != history.Write {
			return cl.UnderWay[i : i+1]
		}
	}
	return cl.Renewals()
}

// Renewals returns the renewals that cl has under way.
func (cl *Client) Renewals() (all []*history.Op) {
	for _, op := range cl.UnderWay {
		if op.Kind == history.Renew {
			all = append(all, op)
		}
	}
	return all
}

// PausedDuring reports whether cl was paused for some of the time of op, which is under way or ends
// now.
func (cl *Client) PausedDuring(op *history.Op) bool {
	return cl.Paused || !cl.LastPause.Before(interval.Call(op))
}

// Copy returns a copy of op, nil for nil. Keeping op itself would keep the whole chunk of memory in
// which the reader made it.
func Copy(op *history.Op) *history.Op {
	if op == nil {
		return nil
	}
	kept := *op
	return &kept
}
