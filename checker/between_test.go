package checker

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
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
	stores                  bool // owners read a record after the grant, and write it before the release
	fences                  bool // grants have fences
	checks                  bool // the store checks them
	forgetful               bool // the fences of each machine are numbers of its own
	careless                bool // the store says that it checks them, and does not
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
	again := func(at int64) { f.at(at+int64(float64(milli)*f.ExpFloat64()), try) }
	try = func(at int64) {
		if at > fleetRun {
			return
		}
		key := fmt.Sprint("k", f.IntN(f.keys))
		op := &history.Op{Kind: history.Acquire, Client: id, Process: id, Key: key, Call: m.stamp(at), Attempt: m.stamp(at), Asked: f.lease, Attempts: 1}
		m.ops = append(m.ops, op)
		f.at(at+f.delay(), func(at int64) { // at the server
			free := f.holders[key].until <= at
			if free {
				f.holds++
				op.Hold, op.Outcome, op.Granted = f.holds, history.OK, f.lease
				f.holders[key] = holder{op.Hold, at + f.lease - f.early}
				if f.fences {
					op.Fence = f.fence(m)
				}
			} else {
				op.Outcome, op.Attempt = history.Refused, history.NoStamp
			}
			f.at(at+f.delay(), func(at int64) { // answered
				op.Return = m.stamp(at) + 1
				if !free {
					again(at)
					return
				}
				if !f.stores {
					f.own(m, op, at, 0, again)
					return
				}
				f.access(history.Read, m, op, 0, at+milli/1000, func(at int64, version uint64) { f.own(m, op, at, version, again) })
			})
		})
	}
	again(0)
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
	work := int64(float64(2*milli) * f.ExpFloat64())
	if f.slow && f.IntN(5) == 0 {
		work = f.lease + int64(float64(5*milli)*f.ExpFloat64())
	}
	ask := func(kind history.Kind, at int64, serve func(h *holder, at int64, own bool), answered func(at int64, ok bool)) {
		op := &history.Op{Kind: kind, Client: acquired.Client, Process: acquired.Process, Key: acquired.Key, Hold: acquired.Hold, Call: m.stamp(at), Attempt: history.NoStamp}
		m.ops = append(m.ops, op)
		f.at(at+f.delay(), func(at int64) {
			h := f.holders[acquired.Key]
			own := h.hold == acquired.Hold && h.until > at || f.blind && kind == history.Release
			op.Outcome = history.LossReported
			if own {
				op.Outcome = history.OK
				serve(&h, at, own)
				f.holders[acquired.Key] = h
			}
			if kind == history.Extend && own {
				op.Asked, op.Granted = f.lease, f.lease
			}
			f.at(at+f.delay(), func(at int64) {
				op.Return = m.stamp(at) + 1
				answered(at, own)
			})
		})
	}
	free := func(at int64) {
		ask(history.Release, at, func(h *holder, at int64, _ bool) { h.until = at }, func(at int64, _ bool) { then(at) })
	}
	release := free
	if f.stores {
		release = func(at int64) {
			f.access(history.Write, m, acquired, base, at, func(at int64, _ uint64) { free(at + milli/1000) })
		}
	}
	if f.extends && f.IntN(2) == 0 {
		f.at(at+f.lease/2, func(at int64) {
			ask(history.Extend, at, func(h *holder, at int64, _ bool) { h.until = at + f.lease - f.early }, func(at int64, ok bool) {
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

var fleets = []fleetOptions{
	{machines: 2, clients: 3, keys: 2},
	{machines: 3, clients: 2, keys: 1},
	{machines: 4, clients: 2, keys: 3, slow: true},
	{machines: 2, clients: 4, keys: 2, extends: true, slow: true},
}

// TestBetweenSound checks that no sound lock is accused between machines, and that it is judged.
func TestBetweenSound(t *testing.T) {
	for _, o := range fleets {
		for seed := range longtest.Times(20, 200) {
			got := newFleet(uint64(seed), o).judge(lockbench.LeaseClaims())
			for cell, f := range got.Cells {
				if f.Violations > 0 {
					t.Fatalf("%+v, seed %d: %s: %+v, %s", o, seed, cell, f, f.Counterexample.Sentence)
				}
			}
			first, exposure := got.Cells[lockbench.Exclusion.At(0)], int64(0)
			for _, f := range got.Cells {
				exposure += f.Exposure
			}
			if seed == 0 && (first.Verdict != Held || exposure < 20 || got.Unknown > got.Holds/10) {
				t.Errorf("%+v: %+v, %d occasions, %d of %d holds are not known", o, first, exposure, got.Unknown, got.Holds)
			}
			for _, p := range got.Pairs {
				if seed == 0 && (p.Met == 0 || p.Width == 0 || p.Width > p.Widest || p.Undecided > got.Holds/4) {
					t.Errorf("%+v: %+v", o, p)
				}
			}
		}
	}
}

// TestBetweenBroken checks that a lock that grants too early is caught, between machines and under no condition.
func TestBetweenBroken(t *testing.T) {
	for _, o := range fleets {
		o.early = 35 * milli
		got := newFleet(1, o).judge(lockbench.LeaseClaims())
		if f := got.Cells[lockbench.Exclusion.At(0)]; f.Verdict != Broken || f.Against == 0 || f.Counterexample == nil || f.Counterexample.Margin <= 0 {
			t.Errorf("%+v: %+v", o, f)
		}
		for _, p := range got.Pairs {
			if p.Broken == 0 {
				t.Errorf("%+v: nothing is broken between %d and %d: %+v", o, p.A, p.B, p)
			}
		}
	}
}

// TestBetweenPastOwner checks that an overlap that the release of a past owner on another machine may have brought
// about does not count under no condition, and counts against a lock only if it claims both guarantees. Nor does an
// update that is lost because of it.
func TestBetweenPastOwner(t *testing.T) {
	both := lockbench.LeaseClaims()
	seen := int64(0)
	for seed := range longtest.Times(20, 200) {
		o := fleets[2]
		o.blind, o.stores = true, true
		got := newFleet(uint64(seed), o).judge(both)
		for cell, f := range got.Cells {
			switch {
			case f.Violations == 0, cell == lockbench.Effects.At(lockbench.Outlived) && f.Against == 0:
			case cell == lockbench.OwnerRelease.At(lockbench.Outlived):
				seen += f.Violations
				if f.Against != f.Violations {
					t.Errorf("seed %d: %d of %d count against a lock that claims it", seed, f.Against, f.Violations)
				}
			default:
				t.Errorf("seed %d: %s: %+v, %s", seed, cell, f, f.Counterexample.Sentence)
			}
		}
	}
	if seen == 0 {
		t.Error("no overlap")
	}
}

// stores are fleets whose owners use a guarded record and fences.
func stores() (all []fleetOptions) {
	for _, o := range fleets {
		o.stores, o.fences = true, true
		all = append(all, o)
		o.checks = true
		all = append(all, o)
	}
	return all
}

// TestBetweenStores checks that no sound lock is accused because of the record that it guards, whether the store checks
// fences or not, and that effects and fencing are judged. Updates may be lost past the validity of an owner.
func TestBetweenStores(t *testing.T) {
	lost := int64(0)
	for _, o := range stores() {
		for seed := range longtest.Times(10, 100) {
			claims := lockbench.LeaseClaims(lockbench.Fencing)
			got := newFleet(uint64(seed), o).judge(claims)
			for cell, f := range got.Cells {
				switch {
				case f.Violations > 0 && (f.Against > 0 || cell != lockbench.Effects.At(lockbench.Outlived)):
					t.Fatalf("%+v, seed %d: %s: %+v, %s", o, seed, cell, f, f.Counterexample.Sentence)
				case o.checks:
				default:
					lost += f.Violations
				}
			}
			if seed > 0 {
				continue
			}
			for _, g := range []lockbench.Guarantee{lockbench.Effects, lockbench.Fencing} {
				if f := got.Cells[g.At(0)]; f.Verdict != Held || f.Exposure < 20 {
					t.Errorf("%+v: %s: %+v", o, g, f)
				}
			}
		}
	}
	if lost == 0 {
		t.Error("no update was lost, although owners outlive their leases")
	}
}

// TestBetweenLostUpdates checks that the lost updates of a lock that grants too early are found, under no condition and
// between machines, and without probes, too.
func TestBetweenLostUpdates(t *testing.T) {
	for _, o := range stores() {
		if o.checks {
			continue // such a store hides some
		}
		for _, unprobed := range []bool{false, true} {
			o.early, o.unprobed = 37*milli, unprobed
			got := newFleet(1, o).judge(lockbench.LeaseClaims())
			if f := got.Cells[lockbench.Effects.At(0)]; f.Verdict != Broken || f.Against == 0 || f.Counterexample == nil {
				t.Errorf("%+v: %+v", o, f)
			}
			for _, p := range got.Pairs {
				if p.Lost == 0 {
					t.Errorf("%+v: machines %d and %d lost nothing to each other", o, p.A, p.B)
				}
			}
		}
	}
}

// TestBetweenFences checks that fences which each machine counts by itself are caught, and a store that does not check
// fences although it says so; and that neither is accused if it does not claim fencing.
func TestBetweenFences(t *testing.T) {
	for _, o := range stores() {
		for _, store := range []bool{false, true} {
			o.forgetful, o.checks, o.careless = !store, store, store
			if store {
				o.slow = true // else no owner is late
			}
			got := newFleet(1, o).judge(lockbench.LeaseClaims(lockbench.Fencing))
			violations := int64(0)
			for cell, f := range got.Cells {
				if cell.Guarantee == lockbench.Fencing && f.Against == f.Violations {
					violations += f.Violations
				}
			}
			if violations == 0 {
				t.Errorf("%+v: no fence is wrong", o)
			}
			for cell, f := range newFleet(1, o).judge(lockbench.LeaseClaims()).Cells {
				if f.Against > 0 {
					t.Errorf("%+v: %s: %d count against a lock that claims no fencing", o, cell, f.Against)
				}
			}
		}
	}
}

// TestBetweenEqualVersions checks that nothing is concluded if two machines number their versions alike.
func TestBetweenEqualVersions(t *testing.T) {
	f := newFleet(1, stores()[0])
	for _, m := range f.machines {
		n := uint64(0)
		for _, op := range m.ops {
			if op.Kind == history.Write {
				n++
				op.Base, op.Version = n-1, n
			}
		}
	}
	if got := f.judge(lockbench.LeaseClaims()).Cells[lockbench.Effects.At(0)]; got.Violations > 0 || got.Verdict != Untested {
		t.Errorf("%+v", got)
	}
}

// TestBetweenUnknownClocks checks that nothing is concluded without probes.
func TestBetweenUnknownClocks(t *testing.T) {
	o := fleets[0]
	o.early, o.unprobed = 35*milli, true
	got := newFleet(1, o).judge(lockbench.LeaseClaims())
	if f := got.Cells[lockbench.Exclusion.At(0)]; got.Unknown != got.Holds || got.Holds == 0 || f.Verdict != Untested {
		t.Errorf("%d of %d holds are not known, %+v", got.Unknown, got.Holds, f)
	}
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
func (h *hand) op(kind history.Kind, hold int64, call, returned float64) {
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
}

// TestBetweenCountsPairsOnce checks that two holds that are extended are one violation.
func TestBetweenCountsPairsOnce(t *testing.T) {
	a, b := newHand(), newHand()
	a.op(history.Acquire, 1, 50, 51)
	a.op(history.Extend, 1, 55, 55.5)
	a.op(history.Release, 1, 64, 64.5)
	b.op(history.Acquire, 2, 52, 53)
	b.op(history.Extend, 2, 57, 57.5)
	b.op(history.Release, 2, 62, 62.5)
	h := history.Header{Claims: lockbench.LeaseClaims(), Others: true}
	got := Between(judgeOps(h, a.ops), judgeOps(h, b.ops))
	if f, p := got.Cells[lockbench.Exclusion.At(0)], got.Pairs[0]; f.Violations != 1 || f.Against != 1 || f.Exposure != 1 || p.Broken != 1 || p.Undecided != 0 {
		t.Errorf("%+v, %+v", f, p)
	}
}

// TestBetweenReacquired checks that the release of a past owner counts as the reason of an overlap with a hold that its
// owner acquires again later.
func TestBetweenReacquired(t *testing.T) {
	for _, again := range []bool{false, true} {
		a, b := newHand(), newHand()
		b.op(history.Acquire, 9, 10, 10.5)
		a.op(history.Acquire, 1, 62, 62.5)
		b.op(history.Release, 9, 65, 66) // past its lease, of the key of hold 1
		b.op(history.Acquire, 8, 65.5, 67)
		b.op(history.Release, 8, 69, 70)
		b.op(history.Acquire, 7, 95, 96)
		b.op(history.Release, 7, 98, 99)
		if again {
			a.op(history.Acquire, 1, 110, 111)
			a.op(history.Release, 1, 115, 116)
		} else {
			a.op(history.Release, 1, 100, 101)
		}
		h := history.Header{Claims: lockbench.LeaseClaims(), Others: true, Reacquire: "refreshed"}
		got := Between(judgeOps(h, a.ops), judgeOps(h, b.ops))
		if f := got.Cells[lockbench.OwnerRelease.At(lockbench.Outlived)]; f.Violations != 2 || got.Cells[lockbench.Exclusion.At(0)].Violations != 0 {
			t.Errorf("again %t: %+v", again, got.Cells)
		}
	}
}

// TestBetweenMissing checks that no lock is accused if a part of the record is missing that may explain an overlap.
func TestBetweenMissing(t *testing.T) {
	o := fleets[2]
	o.blind = true
	claims := lockbench.LeaseClaims().Without(lockbench.OwnerRelease)
	accused := func(last func(ops []*history.Op) ([]*history.Op, history.End), machines int) (against, violations int64) {
		for seed := range 5 {
			f := newFleet(uint64(seed), o)
			var all []*Machine
			for i, m := range f.machines[:machines] {
				h, ops, end := history.Header{Claims: claims, Others: true}, m.ops, history.End{}
				h.Share.Index, h.Share.Of = i, o.machines
				if i == machines-1 {
					ops, end = last(ops)
				}
				its := judgeOps(h, ops)
				its.end = end
				all = append(all, its)
			}
			for _, f := range Between(all...).Cells {
				against, violations = against+f.Against, violations+f.Violations
			}
		}
		return against, violations
	}
	whole := func(ops []*history.Op) ([]*history.Op, history.End) { return ops, history.End{} }
	half := func(ops []*history.Op) ([]*history.Op, history.End) {
		first := ops[0].Call
		return slices.DeleteFunc(slices.Clone(ops), func(op *history.Op) bool {
			return op.Kind < history.Lost && op.Return > first+fleetRun/2
		}), history.End{Partial: true}
	}
	for name, c := range map[string]struct {
		last     func([]*history.Op) ([]*history.Op, history.End)
		machines int
	}{"whole": {whole, 4}, "without a machine": {whole, 3}, "a machine ends early": {half, 4}} {
		if against, violations := accused(c.last, c.machines); against > 0 || violations == 0 {
			t.Errorf("%s: %d of %d overlaps count against a lock that does not claim owner-release", name, against, violations)
		}
	}
}
