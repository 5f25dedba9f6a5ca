package synthetic_test

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// A Fault is the fault of the lock in a [Stalled] history.
type Fault string

// The faults. A lock without one is correct, however long its machines stand still.
const (
	Sound         Fault = ""
	NeverRenews   Fault = "never renews"
	RenewsLate    Fault = "renews when its lease is over"
	FreesAnybody  Fault = "a release frees whoever holds the key"
	GrantsHeld    Fault = "grants a held key now and then"
	FailsFlushed  Fault = "an acquire fails at once after a flush"
	RefusesFree   Fault = "refuses a free key now and then"
	WedgesRelease Fault = "a release now and then leaves the key, and it never ends"
)

// Faults lists those there are.
func Faults() []Fault {
	return []Fault{NeverRenews, RenewsLate, FreesAnybody, GrantsHeld, FailsFlushed, RefusesFree, WedgesRelease}
}

// A Stalled describes a generated history of a lock that renews its leases, with standstills of the
// clients, the server, or both. Equal ones make equal histories.
type Stalled struct {
	Seed  uint64
	Lease time.Duration
	// Driver and Server have standstills; if both do, at the same time, as in one machine.
	Driver, Server bool
	// Shortest and Longest bound their length, Every is the mean time between them.
	Shortest, Longest, Every time.Duration
	// Lasting is how long the run lasts.
	Lasting time.Duration
	Fault   Fault
	// Bound is the watcher's bound, see package standstill.
	Bound time.Duration
}

// A StalledHistory is a generated history.
type StalledHistory struct {
	Header history.Header
	Ops    []*history.Op // in the order of calls
	// Overlaps counts how often a client began to work while another had not ended, Stood the
	// standstills, and Mattered how often the fault changed an action of the server or a client.
	// Harmed counts the overlaps with a client that was granted a key because of the fault.
	Overlaps, Stood, Mattered, Harmed int
}

// span is a standstill.
type span struct{ from, until int64 }

// machine is a party with standstills. Due timers and arriving messages wait until it goes on.
type machine struct{ still []span }

// awake is the time at which a machine does the work that is due at t.
func (m *machine) awake(t int64) int64 {
	for _, s := range m.still {
		if t >= s.from && t < s.until {
			return s.until
		}
	}
	return t
}

// happening is an action of a machine at an instant.
type happening struct {
	at, order int64
	do        func()
}

type happenings []happening

func (h happenings) Len() int { return len(h) }
func (h happenings) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].at, h[j].at), cmp.Compare(h[i].order, h[j].order)) < 0
}
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)   { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// stalledWorld is a server, its clients in one process, and the watcher of that.
type stalledWorld struct {
	Stalled
	*rand.Rand
	now            int64
	queue          happenings
	driver, server machine
	keys           []stalledKey
	ops            []*history.Op
	lease          int64
	tries          int64         // how long a command waits for its reply, zero for any time
	wait           int64         // how long an acquire waits
	flushed        bool          // the server forgot its scripts
	inside         map[int][]int // clients at work, by key
	overlaps       int
	mattered       int
	harmed         int
}

// stalledKey is the server's state of a key, with its record.
type stalledKey struct {
	owner, expires int64 // owner is a hold, zero for none
	version        uint64
	wronged        bool // the fault gave it to the next, or will
}

// Clients and keys of a stalled history.
const (
	stalledClients = 6
	stalledKeys    = 2
)

// Make makes the history.
func (c Stalled) Make() StalledHistory {
	w := &stalledWorld{Stalled: c, Rand: rand.New(rand.NewPCG(c.Seed, 11)), lease: int64(c.Lease), keys: make([]stalledKey, stalledKeys), inside: map[int][]int{}}
	w.wait = w.lease/8 + w.Int64N(w.lease)
	if w.IntN(2) == 0 {
		w.tries = w.lease/4 + int64(10*time.Millisecond)
	}
	w.plan()
	w.watch()
	for id := range stalledClients {
		client := &stalledClient{w: w, id: int32(id)}
		w.at(&w.driver, w.Int64N(int64(20*time.Millisecond)), client.acquire)
	}
	if w.IntN(2) == 0 || c.Fault == FailsFlushed {
		w.at(&w.server, w.Int64N(int64(c.Lasting)/2), w.flush)
	}
	for len(w.queue) > 0 {
		next := heap.Pop(&w.queue).(happening)
		w.now = next.at
		next.do()
	}
	slices.SortStableFunc(w.ops, func(a, b *history.Op) int { return cmp.Compare(a.Call, b.Call) })
	return StalledHistory{Header: w.header(), Ops: w.ops, Overlaps: w.overlaps, Mattered: w.mattered, Harmed: w.harmed, Stood: max(len(w.driver.still), len(w.server.still))}
}

func (w *stalledWorld) header() history.Header {
	return history.Header{
		Design: "synthetic", Reacquire: "refused", Renews: true, Workload: "synthetic", Seed: w.Seed,
		Claims: lockbench.LeaseClaims().Renewing(), Server: runinfo.Server{Kind: "none"}, Started: "2000-01-01T00:00:00Z",
	}
}

// plan draws the standstills.
func (w *stalledWorld) plan() {
	for at := int64(w.Every) / 2; ; {
		at += w.Int64N(int64(w.Every))
		until := at + int64(w.Shortest) + w.Int64N(int64(w.Longest-w.Shortest)+1)
		if until > int64(w.Lasting) {
			return
		}
		if w.Driver {
			w.driver.still = append(w.driver.still, span{at, until})
		}
		if w.Server {
			w.server.still = append(w.server.still, span{at, until})
		}
		at = until
	}
}

// at lets m do something at t, or when it goes on. Delayed actions run in any order.
func (w *stalledWorld) at(m *machine, t int64, do func()) {
	awake, order := m.awake(t), int64(0)
	if awake != t {
		awake, order = awake+w.Int64N(2e6), w.Int64()
	}
	heap.Push(&w.queue, happening{awake, order, do})
}

// hop is how long a message is under way.
func (w *stalledWorld) hop() int64 { return 20_000 + w.Int64N(200_000) }

// ask makes the server run do, and then the driver run then.
func (w *stalledWorld) ask(do, then func()) {
	w.at(&w.server, w.now+w.hop(), func() {
		do()
		w.at(&w.driver, w.now+w.hop(), then)
	})
}

// faulty reports whether fault shows now, which it does once in so many times, and counts it.
func (w *stalledWorld) faulty(fault Fault, once int) bool {
	if w.Fault != fault || w.IntN(once) > 0 {
		return false
	}
	w.mattered++
	return true
}

// over reports whether clients begin nothing any more.
func (w *stalledWorld) over() bool { return w.now >= int64(w.Lasting) }

// event records one at an instant.
func (w *stalledWorld) event(client int32, kind history.Kind, at int64, note string) *history.Op {
	op := &history.Op{Kind: kind, Outcome: history.OK, Client: client, Process: client, Stream: stalledClients - client, Call: at, Return: at, Attempt: history.NoStamp, Note: note}
	w.ops = append(w.ops, op)
	return op
}

func (w *stalledWorld) flush() {
	w.event(-1, history.Fault, w.now, "script-flush")
	w.flushed = true
}

// watch simulates a watcher of package standstill.
func (w *stalledWorld) watch() {
	looked := int64(0)
	look := func() {
		if w.now-looked > int64(w.Bound) {
			w.event(-2, history.Fault, looked, "standstill").Value = w.now - looked
		}
		looked = w.now
	}
	var looks, asks func()
	looks = func() {
		look()
		if !w.over() {
			w.at(&w.driver, w.now+int64(w.Bound)/4, looks)
		}
	}
	asks = func() {
		look()
		asked := w.now
		w.ask(func() {}, func() {
			if w.now-asked > int64(w.Bound) {
				w.event(-2, history.Fault, asked, "server-standstill").Value = w.now - asked
			}
			if !w.over() {
				w.at(&w.driver, w.now+int64(w.Bound), asks)
			}
		})
	}
	looks()
	asks()
}
