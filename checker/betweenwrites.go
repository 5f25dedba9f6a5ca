package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// This file judges the writes of a guarded record, and fences, between machines. Neither needs an order of holds.

// An ownedWrite is a write of the guarded record under a hold of a machine; or the grant of the hold, without a write.
type ownedWrite struct {
	ownedHold
	*machineWrite
}

// writes judges effects on a key. Two accepted writes that two owners based on the same version are a lost update,
// whichever came first. A store that loses a write makes them, too, which is a fault and so a condition.
func (j *judgeOfMachines) writes(holds []ownedHold) {
	var all []ownedWrite
	for _, h := range holds {
		for i := range h.hold.writes {
			all = append(all, ownedWrite{h, &h.hold.writes[i]})
		}
	}
	j.accepted(all)
	by := make(map[uint64]ownedWrite, len(all))
	for _, w := range all {
		if _, twice := by[w.version]; twice { // the machines number their versions alike, so that nothing follows
			return
		}
		by[w.version] = w
	}
	first := make(map[uint64]ownedWrite, len(all))
	for _, w := range all {
		if !w.informed {
			continue
		}
		if before, is := by[w.base]; is && before.machine != w.machine {
			_, under := j.writtenUnder(before, w)
			j.expose(lockbench.Effects.At(under))
		}
		a, is := first[w.base]
		if !is {
			first[w.base] = w
			continue
		}
		if a.sameOwner(w.ownedHold) {
			continue
		}
		at, under := j.writtenUnder(a, w)
		if a.machine != w.machine {
			j.pair(a.machine, w.machine).Lost++
		}
		breaks := []lockbench.Guarantee{lockbench.Effects}
		j.violate(lockbench.Effects.At(under), at, breaks, func() *Counterexample {
			return j.conflict(a, w, under, breaks, "%s and %s changed the same version of the record: one update is lost")
		})
	}
}

// writtenUnder returns the time by which both writes had returned, and the conditions that touch them together.
func (j *judgeOfMachines) writtenUnder(a, b ownedWrite) (at int64, under lockbench.Conditions) {
	_, first := j.bounds(a.machine, a.returned)
	_, second := j.bounds(b.machine, b.returned)
	at = max(first, second)
	return at, j.touching(at, a.ownedHold, b.ownedHold) | a.under | b.under
}

// A fenced is a use of a fence: the earliest and the latest time of it, by the coordinator's clock.
type fenced struct {
	ownedWrite
	fence       uint64
	from, until int64
	under       lockbench.Conditions
}

// fences judges the fences of the grants of a key: of two that are certainly in order, the later one is higher.
func (j *judgeOfMachines) fences(holds []ownedHold) {
	var all []fenced
	for _, h := range holds {
		if h.hold.fence > 0 {
			from, _ := j.bounds(h.machine, h.hold.attempt)
			_, until := j.bounds(h.machine, h.hold.returned)
			all = append(all, fenced{ownedWrite{h, nil}, h.hold.fence, from, until, 0})
		}
	}
	j.rising(all, func(before, f fenced) bool {
		return f.fence > before.fence || f.fence == before.fence && f.sameOwner(before.ownedHold)
	}, "%s was granted the key before %s, whose fence is not higher")
}

// accepted judges the fences that a store accepted: none is lower than one before it.
func (j *judgeOfMachines) accepted(writes []ownedWrite) {
	var all []fenced
	for _, w := range writes {
		if w.fence > 0 {
			from, _ := j.bounds(w.machine, w.called)
			_, until := j.bounds(w.machine, w.returned)
			all = append(all, fenced{w, w.fence, from, until, w.under})
		}
	}
	j.rising(all, func(before, f fenced) bool { return f.fence >= before.fence }, "%s wrote before %s, whose lower fence the store accepted")
}

// rising judges uses of fences: each is compared with the highest fence that was certainly used before it. After a
// violation, the lower fence is the highest one.
func (j *judgeOfMachines) rising(all []fenced, right func(before, f fenced) bool, sentence string) {
	begun, over := all, slices.Clone(all)
	slices.SortFunc(begun, func(a, b fenced) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(over, func(a, b fenced) int { return cmp.Compare(a.until, b.until) })
	var highest *fenced
	for _, f := range begun {
		for len(over) > 0 && over[0].until <= f.from {
			if highest == nil || over[0].fence > highest.fence {
				highest = &over[0]
			}
			over = over[1:]
		}
		if highest == nil || f.until == math.MaxInt64 {
			continue
		}
		before := *highest
		under := j.touching(f.until, before.ownedHold, f.ownedHold) | before.under | f.under
		cell := lockbench.Fencing.At(under)
		if before.machine != f.machine {
			j.expose(cell)
		}
		if !right(before, f) {
			breaks := []lockbench.Guarantee{lockbench.Fencing}
			j.violate(cell, f.until, breaks, func() *Counterexample { return j.conflict(before.ownedWrite, f.ownedWrite, under, breaks, sentence) })
			highest = &f
		}
	}
}

// whole returns a hold as one piece, from the return of its acquire to its end.
func (j *judgeOfMachines) whole(h ownedHold) piece {
	p := piece{ownedHold: h}
	_, p.called = j.bounds(h.machine, h.hold.called)
	p.StartLeast, p.StartMost = j.bounds(h.machine, h.hold.returned)
	end := h.hold.over
	if n := len(h.hold.pieces); n > 0 {
		end = h.hold.pieces[n-1].End
		p.stamps.Lease = h.hold.pieces[0].Lease
	}
	p.EndLeast, p.EndMost = j.bounds(h.machine, end)
	return p
}

// conflict shows two operations that break a guarantee, if their times are known.
func (j *judgeOfMachines) conflict(a, b ownedWrite, under lockbench.Conditions, breaks []lockbench.Guarantee, sentence string) *Counterexample {
	out := &Counterexample{Breaks: breaks, Under: under, Key: j.name}
	var who []any
	for _, w := range []ownedWrite{a, b} {
		who = append(who, fmt.Sprintf("client %d on machine %d", w.hold.client, j.number(w.machine)))
		its := j.whole(w.ownedHold)
		if its.called == math.MaxInt64 || its.StartMost == math.MaxInt64 || its.EndLeast == math.MinInt64 {
			continue // its times and the other one's cannot be compared
		}
		shown := its.shown(j.name)
		out.Holds, out.Ops = append(out.Holds, shown.hold), append(out.Ops, shown.ops...)
		if w.machineWrite == nil {
			continue
		}
		called, _ := j.bounds(w.machine, w.called)
		returned, _ := j.bounds(w.machine, w.returned)
		out.Ops = append(out.Ops, history.Op{
			Kind: history.Write, Outcome: history.OK, Client: w.hold.client, Process: w.hold.process, Key: j.name, Hold: w.hold.id,
			Call: called, Return: returned, Attempt: history.NoStamp, Version: w.version, Base: w.base, Fence: w.fence,
		})
	}
	out.Sentence = fmt.Sprintf(sentence, who...)
	slices.SortStableFunc(out.Ops, func(a, b history.Op) int { return cmp.Compare(a.Call, b.Call) })
	return out
}
