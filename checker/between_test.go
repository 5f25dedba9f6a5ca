package checker

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

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

// TestBetweenFaults checks that faults of clients accuse no sound lock, although they run operations late and twice, and
// that they touch only what they may have brought about: some occasions are under no condition. A lock whose releases
// free whatever is there breaks under conditions only. One that grants too early breaks under none.
func TestBetweenFaults(t *testing.T) {
	for _, o := range fleets {
		o.faults, o.stores, o.rest = true, true, 10
		var all, clean, seen int64
		for seed := range longtest.Times(20, 200) {
			o.late = seed%2 > 0 // then a command may be of any call before
			got := newFleet(uint64(seed), o).judge(lockbench.LeaseClaims())
			for cell, f := range got.Cells {
				if f.Violations > 0 && (f.Against > 0 || !Late(cell)) {
					t.Fatalf("%+v, seed %d: %s: %+v, %s", o, seed, cell, f, f.Counterexample.Sentence)
				}
				if !o.late {
					all += f.Exposure
				}
			}
			if !o.late {
				clean += got.Cells[lockbench.Exclusion.At(0)].Exposure
			}
			o := o
			o.blind = true
			for cell, f := range newFleet(uint64(seed), o).judge(lockbench.LeaseClaims()).Cells {
				if seen += f.Violations; f.Violations > 0 && cell.Under == 0 {
					t.Fatalf("%+v, seed %d: %s: %+v, %s", o, seed, cell, f, f.Counterexample.Sentence)
				}
			}
		}
		t.Logf("%d of %d occasions are under no condition, %d violations", clean, all, seen)
		if clean < all/6 || seen == 0 {
			t.Errorf("%+v: %d of %d occasions are under no condition, %d violations", o, clean, all, seen)
		}
		o.early, o.late = 35*milli, false
		if f := newFleet(1, o).judge(lockbench.LeaseClaims()).Cells[lockbench.Exclusion.At(0)]; f.Against == 0 {
			t.Errorf("%+v: %+v", o, f)
		}
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

// TestBetweenUnclocked checks that an overlap on one machine is found although its clock is not known, and counts once.
func TestBetweenUnclocked(t *testing.T) {
	for name, probes := range map[string]int{"never known": 0, "known at first": 63, "known": 300} {
		a, b := newHand(), newHand()
		for i, op := range a.ops {
			if i >= probes {
				a.ops = a.ops[:i]
				if probes == 0 {
					break
				}
				last := op.Call
				a.ops = append(a.ops, &history.Op{Kind: history.Clock, Outcome: history.OK, Client: -4, Call: last, Return: last, Base: uint64(last), Delay: last})
				break
			}
		}
		a.op(history.Acquire, 1, 50, 51)
		a.op(history.Extend, 1, 75, 76)
		a.op(history.Release, 1, 94, 95)
		a.own(2, 60, 90)
		b.own(3, 150, 160)
		h := history.Header{Claims: lockbench.LeaseClaims(), Others: true, Reacquire: "refused"}
		got := Between(judgeOps(h, a.ops), judgeOps(h, b.ops))
		if f := got.Cells[lockbench.Exclusion.At(0)]; f.Violations != 1 || f.Against != 1 || f.Counterexample.Margin <= 0 {
			t.Errorf("%s: %+v", name, got.Cells.List())
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

// TestBetweenUnknownClocks checks that nothing is concluded of two machines without probes.
func TestBetweenUnknownClocks(t *testing.T) {
	o := fleets[0]
	o.machines, o.clients, o.early, o.unprobed = 6, 1, 35*milli, true
	got := newFleet(1, o).judge(lockbench.LeaseClaims())
	if f := got.Cells[lockbench.Exclusion.At(0)]; got.Unknown != got.Holds || got.Holds == 0 || f.Verdict != Untested {
		t.Errorf("%d of %d holds are not known, %+v", got.Unknown, got.Holds, f)
	}
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

// TestBetweenConditions checks the conditions that touch the overlap of hold 1 on one machine and hold 2 on the other
// one, from 101 ms on, and lost updates. Hold 9 is of a third client, on the second machine.
func TestBetweenConditions(t *testing.T) {
	const outlived, lost, cancelled = lockbench.Outlived, lockbench.LostReply, lockbench.Cancel
	overlap := func(a, b *hand) {
		a.own(1, 95, 130)
		b.own(2, 100, 120)
	}
	unknown := func(op *history.Op) { op.Outcome, op.Granted = history.Unknown, 0 }
	before := func(a, b *hand) {
		overlap(a, b)
		unknown(b.op(history.Acquire, 9, 8, 9))
		b.event(history.Fault, string(fault.Cancel), 9, 8.5)
	}
	leave := func(b *hand) { // hold 9, by a release that does not return
		b.op(history.Acquire, 9, 10, 11)
		r := b.op(history.Release, 9, 20, 21)
		unknown(r)
		r.Return = history.Never
	}
	updates := func(a, b *hand) {
		b.op(history.Acquire, 2, 85, 86)
		b.update(2, 7, 9, 87, 89, 90)
	}
	tests := map[string]struct {
		happen   func(a, b *hand)
		cell     lockbench.Cell
		against  int64
		excepted bool // all that comes after a cancelled call is excepted
	}{
		"nothing": {overlap, lockbench.Exclusion.At(0), 1, false},
		"a cancelled acquire in the overlap": {func(a, b *hand) {
			overlap(a, b)
			unknown(b.op(history.Acquire, 9, 98, 99))
			b.event(history.Fault, string(fault.Cancel), 9, 98.5)
		}, lockbench.Exclusion.At(cancelled), 1, false},
		"a cancelled acquire long before":                         {before, lockbench.Exclusion.At(0), 1, false},
		"a cancelled acquire, which excepts all that comes later": {before, lockbench.Exclusion.At(0), 0, true},
		"a cancelled acquire that ran late": {func(a, b *hand) {
			overlap(a, b)
			unknown(b.op(history.Acquire, 9, 8, 9))
			b.event(history.Fault, string(fault.Cancel), 9, 8.5)
			b.event(history.Fault, fault.RunsLate, 9, 97)
		}, lockbench.OwnerRelease.At(outlived | cancelled), 1, false},
		"a release that lost its reply, and ran again past the lease": {func(a, b *hand) {
			overlap(a, b)
			b.op(history.Acquire, 9, 58, 59)
			b.op(history.Release, 9, 94, 99).Outcome = history.LossReported
			b.event(history.Fault, string(fault.LostReply), 9, 95)
		}, lockbench.OwnerRelease.At(outlived | lost), 1, false},
		"a release of which nothing is known": {func(a, b *hand) {
			overlap(a, b)
			b.op(history.Acquire, 9, 10, 11)
			unknown(b.op(history.Release, 9, 20, 21))
		}, lockbench.OwnerRelease.At(outlived), 1, false},
		"a release whose owner died": {func(a, b *hand) {
			overlap(a, b)
			leave(b)
			b.event(history.Death, "", 9, 25)
		}, lockbench.Exclusion.At(0), 1, false},
		"a release that does not return, and loses a reply": {func(a, b *hand) {
			overlap(a, b)
			leave(b)
			b.event(history.Fault, string(fault.LostReply), 9, 25)
		}, lockbench.OwnerRelease.At(outlived | lost), 1, false},
		"a release that lost its reply, and whose owner died": {func(a, b *hand) {
			a.own(1, 195, 230)
			a.own(2, 200, 220)
			leave(b)
			b.event(history.Fault, string(fault.LostReply), 9, 22)
			b.event(history.Death, "", 9, 25)
		}, lockbench.Exclusion.At(0), 1, false},
		"a command that ran late, which excepts all that comes later": {func(a, b *hand) {
			overlap(a, b)
			unknown(b.op(history.Acquire, 9, 8, 9))
			b.event(history.Fault, fault.RunsLate, 9, 12)
		}, lockbench.Exclusion.At(0), 0, true},
		"an owner who died later than it was granted the key": {func(a, b *hand) {
			overlap(a, b)
			b.op(history.Acquire, 9, 40, 70)
			b.event(history.Death, "", 9, 72)
		}, lockbench.Exclusion.At(lockbench.Crash), 1, false},
		"an owner whose process dies later": {func(a, b *hand) {
			overlap(a, b)
			b.op(history.Acquire, 9, 90, 91)
			b.event(history.Death, "", 9, 93)
			b.op(history.Release, 8, 200, 201).Outcome = history.LossReported
			b.event(history.Death, "", 8, 250)
			for _, op := range b.ops {
				if op.Client == 8 {
					op.Process = 9
				}
			}
		}, lockbench.Exclusion.At(lockbench.Crash | lockbench.ThreadDeath), 1, false},
		"a renewal that is answered after the release": {func(a, b *hand) {
			overlap(a, b)
			b.op(history.Acquire, 9, 80, 81)
			b.op(history.Renew, 9, 93, 99)
			b.op(history.Release, 9, 93.5, 95)
		}, lockbench.OwnerRelease.At(outlived), 1, false},
		"an owner that renewed for long": {func(a, b *hand) {
			a.op(history.Acquire, 1, 3, 4)
			for at := 5.0; at < 280; at += 5 {
				r := a.op(history.Extend, 1, at, at+1)
				r.Asked, r.Granted = 10*milli, 10*milli
			}
			a.op(history.Release, 1, 285, 286)
			b.own(2, 270, 280)
		}, lockbench.Exclusion.At(0), 1, false},
		"an owner who lost a reply may have shared the key": {func(a, b *hand) {
			b.op(history.Acquire, 9, 91, 94)
			b.event(history.Fault, string(fault.LostReply), 9, 92)
			b.op(history.Release, 9, 95.5, 97)
			overlap(a, b)
		}, lockbench.Exclusion.At(lost), 1, false},
		"an owner who stood still may have shared the key": {func(a, b *hand) {
			b.op(history.Acquire, 9, 91, 92)
			b.event(history.Pause, "", 9, 93)
			b.event(history.Resume, "", 9, 94)
			b.op(history.Release, 9, 95.5, 97)
			overlap(a, b)
		}, lockbench.Exclusion.At(lockbench.Pause), 1, false},
		"a server that forgot": {func(a, b *hand) {
			overlap(a, b)
			a.event(history.Fault, string(fault.Restart), -2, 10)
		}, lockbench.Exclusion.At(lockbench.StateLoss), 0, false},
		"updates": {func(a, b *hand) {
			a.op(history.Acquire, 1, 60, 61)
			a.update(1, 7, 8, 62, 88, 90)
			updates(a, b)
		}, lockbench.Effects.At(0), 1, false},
		"an update near the end of a lease": {func(a, b *hand) {
			a.op(history.Acquire, 1, 52, 53)
			a.update(1, 7, 8, 62, 91, 92.5)
			a.ops = a.ops[:len(a.ops)-1] // it does not release
			updates(a, b)
		}, lockbench.Effects.At(outlived), 0, false},
		"an update after a release": {func(a, b *hand) {
			a.op(history.Acquire, 1, 60, 61)
			a.update(1, 7, 8, 62, 70, 65)
			updates(a, b)
		}, lockbench.Effects.At(outlived), 0, false},
	}
	for name, c := range tests {
		a, b := newHand(), newHand()
		c.happen(a, b)
		h := history.Header{Claims: lockbench.LeaseClaims(), Others: true, Reacquire: "refused"}
		if c.excepted {
			h.Claims = h.Claims.But(lockbench.Exception{Under: cancelled, Lasts: true})
		}
		got := Between(judgeOps(h, a.ops), judgeOps(h, b.ops))
		f := got.Cells[c.cell]
		if f.Violations != 1 || f.Against != c.against {
			t.Errorf("%s: want %s once, %d times against: %+v", name, c.cell, c.against, got.Cells.List())
		}
	}
}

// TestBetweenCut checks that an overlap after the end of one client's record counts against no lock.
func TestBetweenCut(t *testing.T) {
	for cut, against := range map[int64]int64{60: 0, 250: 1} {
		a, b := newHand(), newHand()
		a.own(1, 95, 130)
		b.op(history.Acquire, 9, 10, 11)
		b.own(2, 100, 120)
		h := history.Header{Claims: lockbench.LeaseClaims().Without(lockbench.OwnerRelease), Others: true, Reacquire: "refused"}
		last := judgeOps(h, b.ops)
		last.Add(history.Event{Phase: history.Cut, Op: &history.Op{Client: 9, Call: cut * milli}})
		last.end.Partial = true
		if f := Between(judgeOps(h, a.ops), last).Cells[lockbench.Exclusion.At(0)]; f.Violations != 1 || f.Against != against {
			t.Errorf("cut at %d ms: %+v", cut, f)
		}
	}
}

// TestBetweenNoLostUpdate checks writes that lost nothing.
func TestBetweenNoLostUpdate(t *testing.T) {
	for name, happen := range map[string]func(a, b *hand){
		"one owner twice": func(a, b *hand) {
			a.op(history.Acquire, 1, 10, 11)
			a.update(1, 7, 8, 12, 14, 15)
			b.op(history.Acquire, 2, 50, 51)
			b.update(2, 8, 9, 52, 54, 55)
			other := len(a.ops)
			a.op(history.Acquire, 1, 70, 71)
			a.update(1, 7, 10, 72, 74, 75)
			for _, op := range a.ops[other:] {
				op.Hold = 3
			}
		},
		"owners that did not read": func(a, b *hand) {
			for i, h := range []*hand{a, b} {
				hold := int64(i + 1)
				h.op(history.Acquire, hold, 10, 11)
				w := h.op(history.Write, hold, 12, 13)
				w.Base, w.Version = 7, uint64(10+i)
				h.op(history.Release, hold, 14, 15)
			}
		},
	} {
		a, b := newHand(), newHand()
		happen(a, b)
		h := history.Header{Claims: lockbench.LeaseClaims(), Others: true, Reacquire: "refused"}
		for cell, f := range Between(judgeOps(h, a.ops), judgeOps(h, b.ops)).Cells {
			if cell.Guarantee == lockbench.Effects && f.Violations > 0 {
				t.Errorf("%s: %s: %+v", name, cell, f)
			}
		}
	}
}

// TestBetweenRising checks that a fence which falls counts once, and that the fences of two owners must differ.
func TestBetweenRising(t *testing.T) {
	for name, c := range map[string]struct {
		fences     []uint64
		violations int64
	}{
		"rise": {[]uint64{1, 2, 5, 6}, 0}, "fall once": {[]uint64{5, 6, 1, 2, 3}, 1}, "fall twice": {[]uint64{5, 6, 1, 2, 1}, 2}, "stay": {[]uint64{5, 5, 6}, 1},
	} {
		of := []*hand{newHand(), newHand()}
		for i, fence := range c.fences {
			h, from := of[i%2], float64(20*i+10)
			h.op(history.Acquire, int64(i+1), from, from+1).Fence = fence
			h.op(history.Release, int64(i+1), from+5, from+6)
		}
		h := history.Header{Claims: lockbench.LeaseClaims(lockbench.Fencing), Others: true, Reacquire: "refused"}
		got := Between(judgeOps(h, of[0].ops), judgeOps(h, of[1].ops)).Cells[lockbench.Fencing.At(0)]
		if got.Violations != c.violations || got.Against != c.violations || got.Exposure != int64(len(c.fences)-1) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
