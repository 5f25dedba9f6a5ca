package locktest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/workloads"
)

// A testCase puts one cell to the test in real time. Its owners only do things that a sound lock
// survives; the checker decides from the record whether it did, on any machine, no matter how slow.
type testCase struct {
	name string
	cell lockbench.Cell
	// owners is the number of owners that compete for one key, sides the number of keys that are
	// tested the same way at the same time.
	owners, sides int
	faults        []string // the faults that the record names
	lapses        bool     // an owner loses the lock while it lives, to the end of its lease
	extends       bool     // leases have to be extended
	numbered      bool     // the first owner's number is a prefix of its rivals', see number
	// run directs the owners; nil if the program is all.
	run func(*fixture)
	// program names the program of package workloads that the owners then run in turns, with work
	// under the lock in each round; empty if run is all. A table of try_test.go says why.
	program string
	work    time.Duration
}

// testCases are the tests that need no faults of the server.
var testCases = []testCase{
	{name: "contend", cell: lockbench.Exclusion.At(0), owners: 6, sides: 1, run: contend, program: "contend"},
	{name: "late-release", cell: lockbench.OwnerRelease.At(lockbench.Outlived), owners: 3, sides: 3, lapses: true, numbered: true, run: releaseLate},
	{name: "lease", cell: lockbench.LeaseKept.At(0), owners: 2, sides: 4, run: outwait},
	{name: "extend", cell: lockbench.LeaseKept.At(0), owners: 2, sides: 2, extends: true, run: extendAndHold},
	{name: "crash", cell: lockbench.Recovery.At(lockbench.Crash), owners: 3, sides: 3, faults: fault.Names([]fault.Kind{fault.Crash}), run: abandon},
	{name: "cancel", cell: lockbench.Recovery.At(lockbench.Cancel), owners: 3, sides: 6, faults: fault.Names([]fault.Kind{fault.Cancel}), run: giveUp},
	{name: "loss", cell: lockbench.LossReported.At(lockbench.Outlived), owners: 2, sides: 3, lapses: true, run: loseAndAsk},
	{name: "nested", cell: lockbench.Reentrancy.At(0), owners: 2, sides: 2, program: "reentrant", work: 4 * time.Millisecond},
	{name: "fences", cell: lockbench.Fencing.At(0), owners: 3, sides: 2, program: "contend"},
	{name: "update", cell: lockbench.Effects.At(0), owners: 4, sides: 1, program: "update", work: time.Millisecond}, // without work all would be over before another owner looks
	{name: "hand-over", cell: lockbench.NoSpuriousRefusal.At(0), owners: 2, sides: 2, run: handOver, program: "contend"},
	{name: "odd-keys", cell: lockbench.NoSpuriousRefusal.At(0), owners: 2, sides: 1, program: "odd-keys"},
	{name: "renewed", cell: outlasting, owners: 3, sides: 4, run: holdRenewed},
	{name: "wait", cell: awakened, owners: 3, sides: 2, run: awaitRelease},
	{name: "delay", cell: lockbench.ReleaseDelay.At(0), owners: 3, sides: 2, run: releaseWithDelay},
	{name: "over", cell: givenUp, owners: 3, sides: 3, faults: fault.Names([]fault.Kind{fault.Cancel}), run: callWhenOver},
}

// rounds returns n, or a quarter of it in a short test.
func (s *fixture) rounds(n int) int {
	if s.short {
		return max(1, n/4)
	}
	return n
}

// contend lets all owners ask at once, round after round; the client that is granted the key keeps
// it until all were answered. The first lease is too long for milliseconds in 32 bits.
func contend(s *fixture) {
	long := s.owners[0].acquire(1<<31*time.Millisecond, 0)
	s.owners[1].release(s.owners[1].acquire(4*s.ttl, 0))
	s.owners[0].release(long)
	begun := time.Now()
	for range s.rounds(100) {
		if s.ctx.Err() != nil || time.Since(begun) > 2*s.ttl {
			break
		}
		granted := make(chan func(), len(s.owners))
		s.together(func(o *owner) {
			if lease := o.acquire(4*s.ttl, 0); lease != nil {
				granted <- func() { o.release(lease) }
			}
		})
		close(granted)
		for release := range granted {
			release()
		}
	}
}

// pause is the time between two turns of an owner, which leaves the others theirs.
const pause = time.Millisecond / 2

// keys returns the number of keys of one side of the case.
func (p testCase) keys() int {
	if p.program == "" {
		return 1
	}
	return max(1, workloads.Must(p.program).Keys)
}

// oddKeys reports whether the keys of the case may have names of any kind.
func (p testCase) oddKeys() bool {
	return p.program != "" && slices.Contains(workloads.Must(p.program).Needs, workloads.AnyKey)
}

// takeTurns lets the owners run the case's program for the time of half a lease, or some hundred
// turns.
func (s *fixture) takeTurns(c testCase) {
	p := workloads.Must(c.program)
	s.run.Options.Hold, s.run.Options.Think = workloads.Always(c.work), workloads.Always(pause)
	over := time.Now().Add(max(s.ttl/2, 200*time.Millisecond))
	s.together(func(o *owner) {
		for s.ctx.Err() == nil && time.Now().Before(over) {
			if p.Part != nil {
				o.client.Perform(s.ctx, p, 2)
				s.sleep(pause)
				continue
			}
			s.notes.trouble(o.client.Iterate(s.ctx, p))
		}
	})
}

// number returns the number, in the trial, of owner i of a side in a numbered case. The lock under
// test may make tokens of the numbers of its owners, and count them from 1+c on. The token of the
// first owner, k+c, must be a prefix of the token of a rival, n+c, in decimal: it is if n lies
// between 10k+9c and 10k+9c+9. The second owner has n = 10k, for a c of -1 or 0, and the third n =
// 10k+18, for a c of 1 or 2.
func number(side, i int) int {
	k := 3 + side // 1 and 2 are the owners of the first look
	return []int{k, 10 * k, 10*k + 18}[i]
}

// lapse lets the first owner be granted the key and do nothing until next is granted it, too, for a
// long lease. ok is false unless both were granted.
func (s *fixture) lapse(next *owner) (old, fresh lockbench.Lease, ok bool) {
	old = s.owners[0].acquire(s.lease(), 0)
	if old == nil {
		return nil, nil, false
	}
	fresh = next.acquire(8*s.ttl, s.lease()+s.slack())
	return old, fresh, fresh != nil
}

// releaseLate lets an owner that lost the key act on it, while the next one holds it and a third
// one tries it.
func releaseLate(s *fixture) {
	for round := range s.rounds(2) {
		next, third := s.owners[1+round%2], s.owners[2-round%2]
		old, fresh, ok := s.lapse(next)
		if !ok {
			return
		}
		wait := s.ttl / 4
		switch late := s.copy % 3; {
		case late == 1 && s.can.extend:
			s.owners[0].extend(old, s.ttl) // which may shorten the next owner's lease
			wait = s.ttl + s.ttl/4
		case late == 2 && s.can.delay:
			s.owners[0].releaseAfter(old, s.ttl/8)
		default:
			s.owners[0].release(old)
		}
		third.release(third.acquire(s.ttl, wait))
		next.release(fresh)
	}
}

// outwait lets two owners wait for the ends of each other's leases: leases of whole and fractional
// seconds, some not of whole milliseconds, and some with a shorter lease nested in them.
func outwait(s *fixture) {
	ttl := s.lease()
	odd := s.copy == 3 && s.unit == 0 && !s.can.lasts()
	if odd {
		ttl = s.ttl + 900*time.Microsecond
	}
	nested := s.copy == 2 && s.can.reacquire == design.Nested
	if nested {
		ttl = 2 * s.ttl
	}
	limit := ttl
	if !s.can.renews {
		limit += s.slack()
	}
	held := s.owners[0].acquire(ttl, 0)
	for round := range s.rounds(2) + 1 {
		holder, next := s.owners[round%2], s.owners[1-round%2]
		if held == nil {
			return
		}
		if nested {
			defer holder.release(holder.acquire(s.ttl, 0))
		}
		ask := next.acquire
		switch {
		case s.copy == 1 && round%2 == 0: // a lease that was waited for counts from its grant
			ask = next.wait
		case odd:
			ask = next.snatch
		}
		fresh := ask(ttl, limit)
		holder.release(held)
		held = fresh
	}
	s.owners[(s.rounds(2)+1)%2].release(held)
}

// snatch acquires a key that was granted for ttl just now. Near the end of the lease it tries
// without a pause: a lock that cuts less than a millisecond off its leases keeps the key for nearly
// as long.
func (o *owner) snatch(ttl, wait time.Duration) lockbench.Lease {
	const early, late = 3 * time.Millisecond, 2 * time.Millisecond
	begun := time.Now()
	o.fixture.sleep(ttl - early)
	for time.Since(begun) < ttl+late && o.fixture.ctx.Err() == nil {
		if lease := o.ask(lockbench.Options{TTL: ttl}); lease != nil {
			return lease
		}
	}
	return o.acquire(ttl, wait-time.Since(begun))
}

// abandon lets an owner die with the key, and a second owner ask for it. The second owner and a
// third were granted the key before.
func abandon(s *fixture) {
	if s.can.lasts() && s.owners[0].guard.Immortal() {
		return // a watchdog that cannot be stopped keeps the key, as it should
	}
	ttl := s.lease()
	for _, heir := range s.owners[1:] {
		if !heir.release(heir.acquire(ttl, 0)) {
			return
		}
	}
	switch how := s.copy % 3; {
	case how == 1 && s.can.extend:
		s.owners[0].extended(ttl)
	case how == 2 && s.can.reacquire == design.Nested:
		s.owners[0].acquire(ttl, 0)
		s.owners[0].acquire(ttl, 0)
	default:
		s.owners[0].acquire(ttl, 0)
	}
	if !s.owners[0].die() {
		return
	}
	if s.can.session {
		defer s.takeSessions(s.owners[2])()
	}
	fresh := s.owners[1].acquire(ttl, ttl+2*s.slack())
	if fresh == nil {
		s.reportStuck("an owner died", s.owners[1], s.owners[2])
	}
	s.owners[1].release(fresh)
}

// takeSessions lets an owner acquire other keys, until the returned function is called. If the close
// of a dead owner returned its session with its lock to a pool, the next hold gets this session, and
// would be granted the dead owner's key once more. Sessions that others returned meanwhile may come
// first, so that it takes several.
func (s *fixture) takeSessions(o *owner) (release func()) {
	var leases []lockbench.Lease
	for n := range 4 {
		if lease, err := o.guard.Acquire(s.ctx, fmt.Sprintf("%s/other-%d", s.key, n), lockbench.Options{TTL: s.ttl}); err == nil {
			leases = append(leases, lease)
		}
	}
	return func() {
		for _, lease := range leases {
			s.notes.trouble(lease.Release(s.ctx))
		}
	}
}

// extended acquires and extends several times in time, which on a busy machine may take several
// tries. A lock that adds extensions to the rest of the lease then keeps the key for longer than
// the slack.
func (o *owner) extended(ttl time.Duration) {
	times := 3 + int(min(2*o.fixture.slack()/ttl, 50))
	for range tries {
		lease, left := o.acquire(ttl, ttl), times
		for lease != nil && left > 0 && o.extend(lease, ttl) {
			left--
		}
		if left == 0 {
			return
		}
	}
}

// loseAndAsk lets an owner that lost the key call again, while the next owner holds it or after
// that. It also lets an owner call that did not lose the key.
func loseAndAsk(s *fixture) {
	for range s.rounds(2) {
		old, fresh, ok := s.lapse(s.owners[1])
		if !ok {
			return
		}
		s.owners[1].extend(fresh, 8*s.ttl)
		if s.copy == 2 {
			s.owners[1].release(fresh)
			fresh = nil
		}
		if s.copy > 0 {
			s.owners[0].extend(old, s.ttl)
		}
		s.owners[0].release(old)
		s.owners[1].release(fresh)
	}
}

// extendAndHold lets the first owner extend its lease while the second tries the key all the time.
// The first holds the key until its lease, extended twice, is over; or it extends it once, and
// releases the key after the end of the lease as it was granted.
func extendAndHold(s *fixture) {
	first, second := s.owners[0], s.owners[1]
	old := first.acquire(s.ttl, 0)
	if old == nil {
		return
	}
	times := 2 - s.copy%2
	granted := make(chan lockbench.Lease)
	go func() {
		defer close(granted)
		defer s.contain()
		granted <- second.acquire(4*s.ttl, s.ttl*time.Duration(times)/2+s.fractional()+s.slack())
	}()
	for range times {
		if !s.sleep(s.ttl / 2) {
			break
		}
		first.extend(old, s.fractional())
	}
	if times == 1 {
		s.sleep(s.ttl)
		first.release(old)
		old = nil
	}
	fresh := <-granted
	first.release(old)
	second.release(fresh)
}

// handOver lets an owner wait for a key that its holder releases meanwhile.
func handOver(s *fixture) {
	first, second := s.owners[0], s.owners[1]
	for range s.rounds(4) {
		lease := first.acquire(4*s.ttl, 0)
		waited := make(chan lockbench.Lease)
		go func() {
			defer close(waited)
			defer s.contain()
			waited <- second.wait(4*s.ttl, s.ttl)
		}()
		s.sleep(s.ttl / 8)
		first.release(lease)
		second.release(<-waited)
	}
}

// giveUp ends the contexts of acquires, of a free key and of a held one, and lets another owner ask
// for the key after that. On the last two of six keys the contexts have deadlines, on the others
// they are cancelled.
func giveUp(s *fixture) {
	s.owners[2].release(s.owners[2].acquire(s.ttl, 0))
	if s.copy%2 == 0 {
		s.giveUpTries()
		return
	}
	for range s.rounds(2) {
		held := s.owners[0].acquire(20*s.ttl, 0)
		lease := s.owners[1].cancelled(s.ttl, 20*s.ttl, s.ttl/8+s.below(s.ttl/4))
		s.owners[2].release(s.owners[2].acquire(s.ttl, 0))
		released := s.owners[1].release(lease)
		released = s.owners[0].release(held) && released
		if !s.recover(released) {
			return
		}
	}
}

// recover lets the third owner ask for the key after the second one's acquire was given up, and
// reports whether it was granted; released means that no other hold is left.
func (s *fixture) recover(released bool) bool {
	fresh := s.owners[2].acquire(s.ttl, s.ttl+2*s.slack())
	if fresh == nil && released {
		s.reportStuck("an acquire was given up", s.owners[2], s.owners[0])
	}
	s.owners[2].release(fresh)
	return fresh != nil
}

// giveUpTries ends the contexts of acquires of a free key at any time within the acquire.
func (s *fixture) giveUpTries() {
	begun := time.Now()
	s.owners[0].release(s.owners[0].acquire(s.ttl, 0))
	took := time.Since(begun) + 1
	for range s.rounds(40) {
		if time.Since(begun) > 3*s.ttl {
			return
		}
		lease := s.owners[1].cancelled(s.ttl, 0, s.below(took))
		if lease != nil {
			s.owners[2].release(s.owners[2].acquire(s.ttl, 0))
		}
		if !s.recover(s.owners[1].release(lease)) {
			return
		}
	}
}

// cancelled acquires in the lock's own way of waiting, with a context that ends after a time.
func (o *owner) cancelled(ttl, wait, after time.Duration) lockbench.Lease {
	opt := lockbench.Options{TTL: o.fixture.roundUp(ttl), Wait: wait}
	if o.fixture.copy >= 4 {
		o.deadline.Store(int64(after) + 1)
		lease, _ := o.client.AcquireWith(o.fixture.ctx, opt) // its failure is expected
		return lease
	}
	ctx, cancel := context.WithCancel(o.fixture.ctx)
	defer cancel()
	ended := make(chan struct{})
	timer := time.AfterFunc(o.fixture.think+after, func() { // the step begins with a think
		defer close(ended)
		o.record.Fault(string(fault.Cancel), 0)
		time.Sleep(o.fixture.think)
		cancel()
	})
	lease, _ := o.client.AcquireWith(ctx, opt)
	if !timer.Stop() {
		<-ended
	}
	return lease
}

// releaseWithDelay lets the holder release with a delay that keeps others out; all owners try, as
// often as they can at first.
func releaseWithDelay(s *fixture) {
	for range s.rounds(8) {
		lease := s.owners[0].acquire(8*s.ttl, 0)
		if lease == nil {
			return
		}
		over := time.Now().Add(s.ttl / 50)
		s.together(func(o *owner) {
			if o == s.owners[0] {
				s.sleep(s.ttl / 100)
				o.releaseAfter(lease, s.ttl/4)
			}
			for s.ctx.Err() == nil && time.Now().Before(over) {
				o.release(o.acquire(8*s.ttl, 0))
			}
			o.release(o.acquire(8*s.ttl, s.ttl/4+s.slack()))
		})
	}
}
