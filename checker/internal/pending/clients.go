package pending

import (
	"maps"
	"math"
	"slices"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// cacheSize is for how many clients no map is asked, a power of two.
const cacheSize = 256

// A Client is the state of one owner besides its holds.
type Client struct {
	known    bool // false: memory to be used again
	id       int32
	Process  int32
	UnderWay []*history.Op // under way, in the order of calls, the newest maxUnderWay
	Last     *history.Op   // the last of its calls that returned
	// Acquiring is its newest acquire, and Beside the shortest lease that something
	// on an earlier hold, under way at the same time, may set after it.
	Acquiring *history.Op
	LeaseCap  int64
	Dead      bool
	LastPause interval.Stamp // the last time that it was
	Paused    bool           // it is now
}

// Clients are the clients of a history, by their ids.
type Clients struct {
	all   map[int32]*Client
	cache *[cacheSize]*Client // some of them, by the end of their ids
	dead  []int32             // those that died, the newest last
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

// Get returns the client with this id, made when there is none yet.
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

// Find returns the client with this id, nil when there is none, or it is forgotten.
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

// maxUnderWay bounds how many operations a client has under way: those that never
// return would gather.
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
	if newest := len(cl.UnderWay) - 1; newest >= 0 && cl.UnderWay[newest] == op { // as nearly always
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

// LivesOn reports whether the process of a client, which died, has others that did not.
func (t *Clients) LivesOn(id int32) bool {
	died := t.all[id]
	for other, cl := range t.all {
		if died != nil && cl.known && other != id && !cl.Dead && cl.Process == died.Process {
			return true
		}
	}
	return false
}

// HoldEnded reports whether a client died; one that is not known has done nothing, or is forgotten.
func (t *Clients) Gone(id int32) bool {
	cl := t.Find(id)
	return cl == nil || cl.Dead
}

// maxDead bounds how many clients that died are known one by one: what was affected when
// they died may still run late.
const maxDead = 1 << 10

// Retire notes that a client died, and forgets the oldest that did when they are too many. Of
// the calls that are kept copies are made.
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

// Affected are those of the operations that cl has under way that what befalls its connection affects: the
// newest call, or else its renewals. The store is not the lock: what is read and written is not affected.
func (cl *Client) Affected() []*history.Op {
	for i, op := range slices.Backward(cl.UnderWay) {
		if op.Kind != history.Renew && op.Kind != history.Read && op.Kind != history.Write {
			return cl.UnderWay[i : i+1]
		}
	}
	return cl.Renewals()
}

// Renewals are those that cl has under way.
func (cl *Client) Renewals() (all []*history.Op) {
	for _, op := range cl.UnderWay {
		if op.Kind == history.Renew {
			all = append(all, op)
		}
	}
	return all
}

// PausedDuring reports whether cl stood still by itself for some of the time of op, which goes on or just ended.
func (cl *Client) PausedDuring(op *history.Op) bool {
	return cl.Paused || !cl.LastPause.Before(interval.Call(op))
}

// Copy is op apart from the chunk that it came in, which is not to be kept for as long.
func Copy(op *history.Op) *history.Op {
	if op == nil {
		return nil
	}
	kept := *op
	return &kept
}
