package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/clocks"
)

// A piece is a piece of a hold on the coordinator's clock.
type piece struct {
	clocks.Span
	ownedHold
	stamps clocks.Hold
	called int64 // the acquire, at the latest
	// unclocked: the clock of its machine is not known, and its times are by that clock.
	unclocked bool
}

// before returns the last pieces that may have begun before a time.
func before(pieces []piece, at int64) []piece {
	n, _ := slices.BinarySearchFunc(pieces, at, func(p piece, at int64) int { return cmp.Compare(p.StartLeast, at) })
	return pieces[max(0, n-recentPieces):n]
}

// onClock returns the pieces of a hold, and false if its clock is not known at all of them.
func (j *judgeOfMachines) onClock(h ownedHold) (pieces []piece, known bool) {
	_, called := j.bounds(h.machine, h.hold.called)
	known = true
	for _, p := range h.hold.pieces {
		s, is := j.span(h.machine, p)
		if is {
			pieces = append(pieces, piece{Span: s, ownedHold: h, stamps: p, called: called})
		}
		known = known && is
	}
	return pieces, known
}

// span returns the bounds of a piece of a machine, and false if its clock is not known then.
func (j *judgeOfMachines) span(machine int, p clocks.Hold) (clocks.Span, bool) {
	if j.clocks[machine] == nil {
		return clocks.Span{}, false
	}
	return j.clocks[machine].Span(p)
}

// recentPieces is how many pieces before one are looked at for the holds that its acquire met.
const recentPieces = 16

// sweep calls f for each two pieces of different owners that may overlap. All is in the order of starts, and b begins after
// a.
func sweep(all []piece, f func(a, b *piece)) {
	var open []*piece
	for i := range all {
		b := &all[i]
		open = slices.DeleteFunc(open, func(a *piece) bool { return a.EndMost <= b.StartLeast })
		for _, a := range open {
			if !a.sameOwner(b.ownedHold) {
				f(a, b)
			}
		}
		open = append(open, b)
	}
}

// pieces judges the pieces of a key, in the order of their starts.
func (j *judgeOfMachines) pieces(all []piece, judged map[[2]*machineHold]clocks.Order) {
	sweep(all, func(a, b *piece) {
		is, pair := j.order(a, b), pairOf(a, b)
		was, done := judged[pair]
		if is == clocks.Apart || done && was >= is {
			return
		}
		if done && a.machine != b.machine { // undecided so far
			j.pair(a.machine, b.machine).Undecided--
		}
		if len(judged) > 1<<12 {
			clear(judged) // of holds that are long over; one that is not counts twice
		}
		judged[pair] = is
		j.overlap(a, b, is)
	})
	for i := range all {
		if b := &all[i]; b.stamps.Start == b.hold.pieces[0].Start {
			before := all[max(0, i-recentPieces):i]
			j.near(before, b)
			j.meet(before, meeting{machine: b.machine, called: b.called, before: b.StartLeast, granted: b})
		}
	}
}

// unclocked judges the pieces of one machine at times at which its clock is not known: two holds of one machine by its
// stamps.
func (j *judgeOfMachines) unclocked(machine int, holds []ownedHold, judged map[[2]*machineHold]clocks.Order) {
	var all []piece
	for _, h := range holds {
		if h.machine != machine {
			continue
		}
		for _, p := range h.hold.pieces {
			_, known := j.span(machine, p)
			by := clocks.Span{StartLeast: p.Start, StartMost: p.Start, EndLeast: p.End, EndMost: p.End}
			all = append(all, piece{Span: by, ownedHold: h, stamps: p, called: h.hold.called, unclocked: !known})
		}
	}
	slices.SortFunc(all, func(a, b piece) int { return cmp.Compare(a.StartLeast, b.StartLeast) })
	sweep(all, func(a, b *piece) {
		if pair := pairOf(a, b); (a.unclocked || b.unclocked) && judged[pair] != clocks.Overlap {
			judged[pair] = clocks.Overlap
			j.overlap(a, b, clocks.Overlap)
		}
	})
}

// pairOf returns the holds of two pieces, in an order of their own.
func pairOf(a, b *piece) [2]*machineHold {
	if a.machine > b.machine || a.machine == b.machine && a.hold.id > b.hold.id {
		a, b = b, a
	}
	return [2]*machineHold{a.hold, b.hold}
}

// order returns the order of two pieces: of one machine by its own clock.
func (j *judgeOfMachines) order(a, b *piece) clocks.Order {
	switch {
	case a.machine != b.machine:
		return a.Order(b.Span)
	case a.stamps.Start < b.stamps.End && b.stamps.Start < a.stamps.End:
		return clocks.Overlap
	}
	return clocks.Apart
}

// overlap counts two pieces that overlap, or may.
func (j *judgeOfMachines) overlap(a, b *piece, is clocks.Order) {
	if a.machine != b.machine {
		p := j.pair(a.machine, b.machine)
		if is == clocks.Undecided {
			p.Undecided++
			return
		}
		p.Broken++
	}
	at := max(a.StartMost, b.StartMost)
	if a.unclocked || b.unclocked {
		at = math.MaxInt64
	}
	under := j.touching(at, a.ownedHold, b.ownedHold)
	guarantees := []lockbench.Guarantee{lockbench.Exclusion}
	if under.Has(lockbench.Outlived) {
		guarantees = append(guarantees, lockbench.OwnerRelease)
	}
	j.violate(cellOf(under), at, guarantees, func() *Counterexample { return j.counterexample(a, b, under, guarantees) })
}

// counterexample shows two pieces that overlap.
func (j *judgeOfMachines) counterexample(a, b *piece, under lockbench.Conditions, breaks []lockbench.Guarantee) *Counterexample {
	margin := min(a.EndLeast, b.EndLeast) - max(a.StartMost, b.StartMost)
	if a.machine == b.machine {
		margin = min(a.stamps.End, b.stamps.End) - max(a.stamps.Start, b.stamps.Start)
	}
	slices.Reverse(breaks) // the past owner's call is the likelier one
	first, second := a.shown(j.name), b.shown(j.name)
	if second.hold.Granted < first.hold.Granted {
		first, second = second, first
	}
	return &Counterexample{
		Breaks: breaks, Under: under, Key: j.name, Margin: time.Duration(margin),
		Holds: []CounterexampleHold{first.hold, second.hold}, Ops: append(first.ops, second.ops...),
		Sentence: fmt.Sprintf("client %d on machine %d and client %d on machine %d held the key at the same time, both within their validity", a.hold.client, j.number(a.machine), b.hold.client, j.number(b.machine)),
	}
}

// shown is a piece in a counterexample.
type shown struct {
	hold CounterexampleHold
	ops  []history.Op
}

// shown returns the piece of a hold of a key by the coordinator's clock, from its latest start to its earliest end.
func (p *piece) shown(key string) shown {
	h := p.hold
	acquire := history.Op{Kind: history.Acquire, Outcome: history.OK, Client: h.client, Process: h.process, Key: key, Hold: h.id,
		Call: p.called, Return: p.StartMost, Attempt: history.NoStamp, Granted: int64(p.stamps.Lease), Attempts: 1, Fence: h.fence}
	s := shown{CounterexampleHold{
		Hold: h.id, Client: h.client, Process: h.process, From: p.called, Granted: p.StartMost, Until: history.Never, End: p.EndLeast, EndedBy: h.endedBy.String(),
	}, []history.Op{acquire}}
	if h.endedBy == interval.ByRelease {
		release := acquire
		release.Kind, release.Call, release.Return, release.Granted, release.Attempts = history.Release, p.EndLeast, p.EndLeast, 0, 0
		s.ops = append(s.ops, release)
	}
	return s
}

// near notes the widths of the bounds on the order of a piece and the pieces of other machines before it.
func (j *judgeOfMachines) near(before []piece, b *piece) {
	for i := range before {
		if a := &before[i]; a.machine != b.machine {
			p := j.pair(a.machine, b.machine)
			p.widths.Add(max(a.EndMost-a.EndLeast+b.StartMost-b.StartLeast, b.EndMost-b.EndLeast+a.StartMost-a.StartLeast))
		}
	}
}

// A meeting is an acquire that was called no later than called, and was under way at before.
type meeting struct {
	machine        int
	called, before int64
	granted        *piece // nil if it was refused
}

// meet counts the holds of other machines, among pieces, that an acquire certainly met.
func (j *judgeOfMachines) meet(pieces []piece, of meeting) {
	var met []*machineHold
	for i := range pieces {
		a := &pieces[i]
		if a.machine == of.machine || of.called >= a.EndLeast || of.before <= a.StartMost || slices.Contains(met, a.hold) {
			continue
		}
		met = append(met, a.hold)
		under := j.touching(max(a.StartMost, of.before), a.ownedHold)
		if of.granted != nil {
			under = j.touching(max(a.StartMost, of.granted.StartMost), a.ownedHold, of.granted.ownedHold)
		}
		j.pair(a.machine, of.machine).Met++
		j.expose(cellOf(under))
	}
}
