package checker

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// A fleet simulates clients on several machines that use one server. True time is the coordinator's clock.
type fleet struct {
	*rand.Rand
	fleetOptions
	agenda   agenda
	machines []*simMachine
	lease    int64
	holders  map[string]holder // by key
	records  map[string]guarded
	holds    int64
	versions uint64
}

// A guarded is a guarded record: its version, and the highest fence that wrote it.
type guarded struct{ version, fence uint64 }

type fleetOptions struct {
	machines, clients, keys int
	early                   int64 // the server forgets a lease so much too early
	blind                   bool  // a release frees the key, whoever has it
	extends, slow           bool  // owners extend their leases, or hold on for longer than them
	unprobed                bool
	stores                  bool    // owners read a record after the grant, and write it before the release
	fences                  bool    // grants have fences
	checks                  bool    // the store checks them
	forgetful               bool    // the fences of each machine are numbers of its own
	careless                bool    // the store says that it checks them, and does not
	rest                    float64 // the mean time between two acquires of a client, in ms, 1 if zero
	faults, late            bool    // some operations lose their reply, or are cancelled, and may run late then
}

type holder struct{ hold, until int64 }

// A simMachine stamps with a clock of its own.
type simMachine struct {
	rate   float64
	offset int64
	ops    []*history.Op
	fences uint64
}

func (m *simMachine) stamp(at int64) int64 { return int64(float64(at)*m.rate) + m.offset }

// An agenda is a heap of things to do at a time.
type agenda []todo

type todo struct {
	at int64
	do func(at int64)
}

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at < a[j].at }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(todo)) }
func (a *agenda) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}

func (f *fleet) at(at int64, do func(at int64)) { heap.Push(&f.agenda, todo{at, do}) }

const (
	milli    = int64(1e6)
	fleetRun = 2000 * milli
)

func newFleet(seed uint64, o fleetOptions) *fleet {
	f := &fleet{Rand: rand.New(rand.NewPCG(seed, 7)), fleetOptions: o, lease: 40 * milli, holders: map[string]holder{}, records: map[string]guarded{}}
	for i := range o.machines {
		m := &simMachine{rate: 1 + 90e-6*(2*f.Float64()-1), offset: int64(i)*1e12 + f.Int64N(1e9)}
		f.machines = append(f.machines, m)
		for c := range o.clients {
			f.client(m, int32(i*o.clients+c+1))
		}
		if !o.unprobed {
			f.clocks(m)
		}
	}
	for f.agenda.Len() > 0 {
		next := heap.Pop(&f.agenda).(todo)
		next.do(next.at)
	}
	return f
}

// delay returns the time that a message takes.
func (f *fleet) delay() int64 {
	if f.IntN(100) == 0 {
		return 5 * milli
	}
	return int64(0.1 * float64(milli) * f.ExpFloat64())
}

// clocks records what a machine knows of the clocks: its stamps are its raw clock.
func (f *fleet) clocks(m *simMachine) {
	for at := int64(0); at < fleetRun+200*milli; at += 20 * milli {
		there, back := f.delay(), f.delay()
		sent, received := m.stamp(at), m.stamp(at+there+back)+1
		m.ops = append(m.ops, &history.Op{Kind: history.Probe, Outcome: history.OK, Client: -3, Call: received, Return: received,
			Base: uint64(sent), Value: at + there, Delay: received - sent})
	}
	for at := int64(0); at < fleetRun+200*milli; at += 100 * milli {
		from, until := m.stamp(at), m.stamp(at+100*milli)
		m.ops = append(m.ops, &history.Op{Kind: history.Clock, Outcome: history.OK, Client: -3, Call: until, Return: until,
			Base: uint64(until), Delay: until - from, Value: -20, Wait: 40})
	}
}

// client lets a client acquire keys from now on.
func (f *fleet) client(m *simMachine, id int32) {
	var try func(at int64)
	again := func(at int64) { f.at(at+int64(float64(milli)*max(f.rest, 1)*f.ExpFloat64()), try) }
	try = func(at int64) {
		if at > fleetRun {
			return
		}
		key := fmt.Sprint("k", f.IntN(f.keys))
		op := &history.Op{Kind: history.Acquire, Client: id, Process: id, Key: key, Call: m.stamp(at), Attempt: m.stamp(at), Asked: f.lease, Attempts: 1}
		m.ops = append(m.ops, op)
		f.holds++
		hold := f.holds
		f.send(m, op, at, func(at int64) history.Outcome {
			if f.holders[key].until > at {
				return history.Refused
			}
			f.holders[key] = holder{hold, at + f.lease - f.early}
			if f.fences {
				op.Fence = f.fence(m)
			}
			return history.OK
		}, func(at int64) {
			switch op.Outcome {
			case history.OK:
				op.Hold, op.Granted = hold, f.lease
				if !f.stores {
					f.own(m, op, at, 0, again)
					return
				}
				f.access(history.Read, m, op, 0, at+milli/1000, func(at int64, version uint64) { f.own(m, op, at, version, again) })
			case history.Unknown:
				op.Hold = hold
				fallthrough
			default:
				op.Attempt, op.Fence = history.NoStamp, 0
				again(at)
			}
		})
	}
	again(0)
}

// send sends an operation to the server, which may run it late, or twice, and notes its answer.
func (f *fleet) send(m *simMachine, op *history.Op, at int64, serve func(at int64) history.Outcome, answered func(at int64)) {
	event := func(note string, at int64) {
		m.ops = append(m.ops, &history.Op{Kind: history.Fault, Outcome: history.OK, Client: op.Client, Process: op.Process,
			Call: m.stamp(at), Return: m.stamp(at), Attempt: history.NoStamp, Note: note})
	}
	answer := func(at int64, outcome history.Outcome) {
		op.Outcome, op.Return = outcome, m.stamp(at)+1
		answered(at)
	}
	misfortune := 0
	if f.faults {
		misfortune = f.IntN(100)
	}
	if misfortune == 3 && !f.late {
		misfortune = 4
	}
	switch there := at + f.delay(); misfortune {
	case 1: // the reply is lost, and the client asks again
		f.at(there, func(at int64) {
			serve(at)
			f.at(at+f.delay(), func(at int64) {
				event(string(fault.LostReply), at)
				f.at(at+2*milli, func(at int64) {
					outcome := serve(at)
					f.at(at+f.delay(), func(at int64) { answer(at, outcome) })
				})
			})
		})
	case 2: // the reply is lost, and the client gives up
		f.at(there, func(at int64) {
			serve(at)
			f.at(at+f.delay(), func(at int64) {
				event(string(fault.LostReply), at)
				f.at(at+milli/1000, func(at int64) { answer(at, history.Unknown) })
			})
		})
	case 4: // the call is cancelled
		f.at(at+milli/100, func(at int64) {
			serve(at)
			event(string(fault.Cancel), at)
			f.at(at+milli/1000, func(at int64) { answer(at, history.Unknown) })
		})
	case 3: // it also runs late
		f.at(at+milli/100, func(at int64) {
			event(string(fault.Cancel), at)
			f.at(at+milli/1000, func(at int64) { answer(at, history.Unknown) })
		})
		f.at(there+int64(float64(3*milli)*f.ExpFloat64()), func(at int64) {
			serve(at)
			f.at(at+milli/1000, func(at int64) { event(fault.RunsLate, at) })
		})
	default:
		f.at(there, func(at int64) {
			outcome := serve(at)
			f.at(at+f.delay(), func(at int64) { answer(at, outcome) })
		})
	}
}

// fence returns the fence of the newest hold.
func (f *fleet) fence(m *simMachine) uint64 {
	if f.forgetful {
		m.fences++
		return m.fences
	}
	return uint64(f.holds)
}

// access lets an owner read or write the record, with the version that it has read.
func (f *fleet) access(kind history.Kind, m *simMachine, acquired *history.Op, base uint64, at int64, then func(at int64, version uint64)) {
	op := &history.Op{Kind: kind, Client: acquired.Client, Process: acquired.Process, Key: acquired.Key, Hold: acquired.Hold, Call: m.stamp(at), Attempt: history.NoStamp, Base: base}
	m.ops = append(m.ops, op)
	f.at(at+f.delay(), func(at int64) {
		r := f.records[acquired.Key]
		if f.checks {
			op.Fence = acquired.Fence
		}
		switch {
		case f.checks && !f.careless && op.Fence < r.fence:
			op.Outcome = history.Failed
		case kind == history.Write:
			f.versions++
			op.Outcome, r.version = history.OK, f.versions
			fallthrough
		default:
			op.Outcome, op.Version, r.fence = history.OK, r.version, max(r.fence, op.Fence)
			f.records[acquired.Key] = r
		}
		f.at(at+f.delay(), func(at int64) {
			op.Return = m.stamp(at) + 1
			then(at, op.Version)
		})
	})
}

// own lets the owner work and then release.
func (f *fleet) own(m *simMachine, acquired *history.Op, at int64, base uint64, then func(at int64)) {
	work := milli/1000 + int64(float64(2*milli)*f.ExpFloat64())
	if f.slow && f.IntN(5) == 0 {
		work = f.lease + int64(float64(5*milli)*f.ExpFloat64())
	}
	ask := func(kind history.Kind, at int64, serve func(h *holder, at int64), answered func(at int64, ok bool)) {
		op := &history.Op{Kind: kind, Client: acquired.Client, Process: acquired.Process, Key: acquired.Key, Hold: acquired.Hold, Call: m.stamp(at), Attempt: history.NoStamp}
		m.ops = append(m.ops, op)
		f.send(m, op, at, func(at int64) history.Outcome {
			h := f.holders[acquired.Key]
			if own := h.hold == acquired.Hold && h.until > at || f.blind && kind == history.Release; !own {
				return history.LossReported
			}
			serve(&h, at)
			f.holders[acquired.Key] = h
			return history.OK
		}, func(at int64) {
			ok := op.Outcome == history.OK
			if kind == history.Extend && ok {
				op.Asked, op.Granted = f.lease, f.lease
			}
			answered(at, ok)
		})
	}
	free := func(at int64) {
		ask(history.Release, at, func(h *holder, at int64) { h.until = at }, func(at int64, _ bool) { then(at) })
	}
	release := free
	if f.stores {
		release = func(at int64) {
			f.access(history.Write, m, acquired, base, at, func(at int64, _ uint64) { free(at + milli/1000) })
		}
	}
	if f.extends && f.IntN(2) == 0 {
		f.at(at+f.lease/2, func(at int64) {
			ask(history.Extend, at, func(h *holder, at int64) { h.until = at + f.lease - f.early }, func(at int64, ok bool) {
				if !ok {
					then(at)
					return
				}
				f.at(at+work, release)
			})
		})
		return
	}
	f.at(at+work, release)
}

var fleets = []fleetOptions{
	{machines: 2, clients: 3, keys: 2},
	{machines: 3, clients: 2, keys: 1},
	{machines: 4, clients: 2, keys: 3, slow: true},
	{machines: 2, clients: 4, keys: 2, extends: true, slow: true},
}

// judge returns the judgement of the fleet's histories.
func (f *fleet) judge(claims lockbench.Claims) Joint {
	var all []*Machine
	for _, m := range f.machines {
		all = append(all, judgeOps(history.Header{Claims: claims, Others: true, Reacquire: "refused"}, m.ops))
	}
	return Between(all...)
}

// judgeOps returns the judgement of a machine's operations, in any order.
func judgeOps(h history.Header, ops []*history.Op) *Machine {
	var events []history.Event
	for _, op := range ops {
		events = append(events, history.Event{Phase: history.Call, Op: op})
		if op.Kind < history.Lost && op.Return != history.Never {
			events = append(events, history.Event{Phase: history.Return, Op: op})
		}
	}
	stamp := func(ev history.Event) int64 {
		if ev.Phase == history.Return {
			return ev.Op.Return
		}
		return ev.Op.Call
	}
	slices.SortStableFunc(events, func(a, b history.Event) int {
		return cmp.Or(cmp.Compare(stamp(a), stamp(b)), cmp.Compare(a.Phase, b.Phase))
	})
	m := NewMachine(h)
	for _, ev := range events {
		m.Add(ev)
	}
	m.Finish(history.End{})
	return m
}

// A hand writes the history of a machine whose clock is the coordinator's.
type hand struct{ ops []*history.Op }

func newHand() *hand {
	h := &hand{}
	const end = 300 * milli
	for at := int64(0); at < end; at += milli {
		h.ops = append(h.ops, &history.Op{Kind: history.Probe, Outcome: history.OK, Client: -4, Call: at + 2, Return: at + 2, Base: uint64(at), Value: at + 1, Delay: 2})
	}
	h.ops = append(h.ops, &history.Op{Kind: history.Clock, Outcome: history.OK, Client: -4, Call: end, Return: end, Base: uint64(end), Delay: end})
	return h
}

// op adds an operation that was answered ok, with a lease of 40 ms; the times are in ms.
func (h *hand) op(kind history.Kind, hold int64, call, returned float64) *history.Op {
	at := func(ms float64) int64 { return int64(ms * float64(milli)) }
	op := &history.Op{Kind: kind, Outcome: history.OK, Client: int32(hold), Process: int32(hold), Key: "k", Hold: hold, Call: at(call), Return: at(returned), Attempt: history.NoStamp}
	switch kind {
	case history.Acquire:
		op.Attempt, op.Attempts = op.Call, 1
		fallthrough
	case history.Extend:
		op.Asked, op.Granted = 40*milli, 40*milli
	}
	h.ops = append(h.ops, op)
	return op
}

// own adds a hold that is released in time.
func (h *hand) own(hold int64, from, until float64) {
	h.op(history.Acquire, hold, from, from+1)
	h.op(history.Release, hold, until-1, until)
}

// event adds an event at a time in ms.
func (h *hand) event(kind history.Kind, note string, client int32, at float64) {
	t := int64(at * float64(milli))
	h.ops = append(h.ops, &history.Op{Kind: kind, Outcome: history.OK, Client: client, Process: client, Call: t, Return: t, Attempt: history.NoStamp, Note: note})
}

// update adds an owner that reads one version and writes another one, and the release.
func (h *hand) update(hold int64, base, version uint64, read, written, released float64) {
	h.op(history.Read, hold, read, read+1).Version = base
	w := h.op(history.Write, hold, written-1, written)
	w.Base, w.Version = base, version
	h.op(history.Release, hold, released, released+1)
}
