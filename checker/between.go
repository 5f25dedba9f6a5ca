package checker

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/clocks"
)

// A Joint is the judgement of keys that several machines use. It covers all pairs of owners, on one machine or two:
// effects and owners on one machine at all times, else at times at which the clocks of their machines are known.
// docs/design/machines.md has the proofs.
type Joint struct {
	// Cells has the findings: on exclusion and, if a past owner's call may explain an overlap, on
	// owner-release; on effects and fencing, if a machine wrote a guarded record or was given fences. A hold that an
	// acquire of another machine certainly met is an occasion, and so is a write that is based on one of another machine,
	// and a fence after one of another machine.
	Cells Cells
	// Pairs has each pair of machines.
	Pairs []MachinePair
	// Unknown counts the holds at times for which the clock of their machine is not known, of Holds.
	Unknown, Holds int64
}

// A MachinePair has the counts of two machines. A machine has the number of its share, or its place among the
// arguments of [Between], both from 1.
type MachinePair struct {
	A, B int
	// Met counts the holds of one machine that an acquire of the other one certainly met, before it was granted.
	Met int64
	// Broken counts the pairs of holds that overlap under all clocks that the probes permit, and Undecided
	// those that overlap under some.
	Broken, Undecided int64
	// Lost counts the updates of one machine that were lost to a write of the other one.
	Lost int64
	// Width and Widest are the median and the largest width of the bounds on the order of two holds: a longer
	// overlap is always found. Both are zero if no two holds were near each other.
	Width, Widest time.Duration

	widths count.Durations
}

// Between judges the holds of machines that use the same keys. All machines have finished.
func Between(machines ...*Machine) Joint {
	j := judgeOfMachines{machines: machines, cells: Cells{}, pairs: map[[2]int]*MachinePair{}, complete: math.MaxInt64}
	keys := map[string]bool{}
	for i, m := range machines {
		j.clocks = append(j.clocks, m.clock())
		for k := range m.holds {
			keys[k] = true
		}
		for _, o := range m.brought {
			at, _ := j.bounds(i, o.at)
			j.faults = append(j.faults, occurrence{at, o.under})
		}
		j.faulty = j.faulty || len(m.header.Faults) > 0 || m.faults.Occurred|m.late != 0
		j.pauses |= m.faults.happened() & lockbench.Pause
		for b := range i {
			j.pairs[[2]int{b, i}] = &MachinePair{A: j.number(b), B: j.number(i)}
		}
		if m.end.Partial {
			ends, _ := j.bounds(i, min(m.last.T, m.cut))
			j.complete, j.partial = min(j.complete, ends), true
		}
	}
	if machines[0].header.Share.Of > len(machines) {
		j.complete, j.partial = math.MinInt64, true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		j.key(k)
	}
	return j.joint()
}

// A judgeOfMachines is the state of one judgement by Between.
type judgeOfMachines struct {
	machines []*Machine
	clocks   []*clocks.Clock
	faults   []occurrence         // of all machines, on the coordinator's clock, at the earliest
	faulty   bool                 // there were faults, or may have been
	pauses   lockbench.Conditions // Pause if anything stood still
	partial  bool                 // a part of the record is missing
	complete int64                // the time from which on it may be missing
	name     string               // of the key being judged
	cells    Cells
	pairs    map[[2]int]*MachinePair
	unknown  int64
	holds    int64
}

// An ownedHold is a hold of a machine, with its cluster.
type ownedHold struct {
	machine int
	hold    *machineHold
	cluster *cluster
}

// sameOwner reports whether two holds are of one client.
func (h ownedHold) sameOwner(other ownedHold) bool {
	return h.machine == other.machine && h.hold.client == other.hold.client
}

// A piece is a piece of a hold on the coordinator's clock.
type piece struct {
	clocks.Span
	ownedHold
	stamps clocks.Hold
	called int64 // the acquire, at the latest
	// unclocked: the clock of its machine is not known, and its times are by that clock.
	unclocked bool
}

// A cluster is a time of a key in which each hold may have been granted before another one was over. Beyond it,
// no call under its holds acts on the key. If one overlap in it has a reason, such as a past owner's call, each later
// one may have the same: an owner that shares the key without knowing frees it for the next one.
type cluster struct {
	brought []occurrence // the earliest times of what brings more conditions: holds, past owners' calls, faults
	ever    lockbench.Conditions
}

// A life is the time of a hold, or of another span of its key, on the coordinator's clock, at its widest.
type life struct {
	from, until int64
	hold        *machineHold // nil for a span
	under       lockbench.Conditions
}

// bounds returns the bounds of a stamp of a machine on the coordinator's clock.
func (j *judgeOfMachines) bounds(machine int, stamp int64) (least, most int64) {
	if j.clocks[machine] == nil {
		return math.MinInt64, math.MaxInt64
	}
	return j.clocks[machine].Bounds(stamp)
}

// key judges the holds of one key.
func (j *judgeOfMachines) key(name string) {
	j.name = name
	var lives []life
	for i, m := range j.machines {
		for _, h := range m.holds[name] {
			from, _ := j.bounds(i, h.attempt)
			_, until := j.bounds(i, h.over)
			lives = append(lives, life{from, until, h, h.under})
		}
		for _, s := range m.times[name] {
			from, _ := j.bounds(i, s.from)
			_, until := j.bounds(i, s.until)
			lives = append(lives, life{from, until, nil, s.under})
		}
	}
	in := clusters(lives)
	var pieces []piece
	var holds []ownedHold
	lacking := map[int]bool{} // machines whose clock is not known at some pieces
	for i, m := range j.machines {
		for _, h := range m.holds[name] {
			its := ownedHold{i, h, in[h]}
			holds = append(holds, its)
			on, known := j.onClock(its)
			if !known {
				j.unknown++
				lacking[i] = true
			}
			pieces = append(pieces, on...)
		}
	}
	j.holds += int64(len(holds))
	j.writes(holds)
	j.fences(holds)
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.StartLeast, b.StartLeast) })
	judged := map[[2]*machineHold]clocks.Order{}
	j.pieces(pieces, judged)
	for i := range j.machines {
		if lacking[i] {
			j.unclocked(i, holds, judged)
		}
	}
	for i, m := range j.machines {
		for _, r := range m.refused[name] {
			_, called := j.bounds(i, r.called)
			returned, _ := j.bounds(i, r.returned)
			j.meet(before(pieces, returned), meeting{machine: i, called: called, before: returned})
		}
	}
}

// before returns the last pieces that may have begun before a time.
func before(pieces []piece, at int64) []piece {
	n, _ := slices.BinarySearchFunc(pieces, at, func(p piece, at int64) int { return cmp.Compare(p.StartLeast, at) })
	return pieces[max(0, n-recentPieces):n]
}

// clusters returns the cluster of each hold.
func clusters(lives []life) map[*machineHold]*cluster {
	slices.SortFunc(lives, func(a, b life) int { return cmp.Compare(a.from, b.from) })
	in := make(map[*machineHold]*cluster)
	var newest *cluster
	until := int64(math.MinInt64)
	for _, l := range lives {
		if newest == nil || l.from > until {
			newest = &cluster{}
		}
		until = max(until, l.until)
		if l.hold != nil {
			in[l.hold] = newest
		}
		if l.under&^newest.ever != 0 {
			newest.brought = append(newest.brought, occurrence{l.from, l.under})
			newest.ever |= l.under
		}
	}
	return in
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

// pieces judges the pieces of a key, in the order of their starts.
func (j *judgeOfMachines) pieces(all []piece, judged map[[2]*machineHold]clocks.Order) {
	var open []*piece
	for i := range all {
		b := &all[i]
		open = slices.DeleteFunc(open, func(a *piece) bool { return a.EndMost <= b.StartLeast })
		for _, a := range open {
			if a.sameOwner(b.ownedHold) {
				continue
			}
			is, pair := j.order(a, b), pairOf(a, b)
			if was, done := judged[pair]; is == clocks.Apart || done && was >= is {
				continue
			} else if done && a.machine != b.machine { // undecided so far
				j.pair(a.machine, b.machine).Undecided--
			}
			judged[pair] = is
			j.overlap(a, b, is)
		}
		if b.stamps.Start == b.hold.pieces[0].Start {
			j.near(all[max(0, i-recentPieces):i], b)
			j.meet(all[max(0, i-recentPieces):i], meeting{machine: b.machine, called: b.called, before: b.StartLeast, granted: b})
		}
		open = append(open, b)
		if len(judged) > 1<<12 {
			clear(judged) // of holds that are long over; one that is not counts twice
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
	var open []*piece
	for i := range all {
		b := &all[i]
		open = slices.DeleteFunc(open, func(a *piece) bool { return a.EndMost <= b.StartLeast })
		for _, a := range open {
			if pair := pairOf(a, b); !a.sameOwner(b.ownedHold) && (a.unclocked || b.unclocked) && judged[pair] != clocks.Overlap {
				judged[pair] = clocks.Overlap
				j.overlap(a, b, clocks.Overlap)
			}
		}
		open = append(open, b)
	}
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

func (j *judgeOfMachines) pair(a, b int) *MachinePair { return j.pairs[[2]int{min(a, b), max(a, b)}] }

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

// violate counts a violation of one of the guarantees in a cell, which became certain at the given time or earlier.
func (j *judgeOfMachines) violate(cell lockbench.Cell, at int64, guarantees []lockbench.Guarantee, show func() *Counterexample) {
	under := cell.Under
	f := j.cells[cell]
	f.Violations++
	covered := func(g lockbench.Guarantee) bool {
		touched := under
		if g == lockbench.Exclusion {
			touched &^= lockbench.Outlived
		}
		return j.claims().Covers(g, touched, under|j.pauses|happened(j.faults, at))
	}
	// What is not on record may explain it.
	known := !j.partial || !j.faulty && at < j.complete
	if known && !slices.ContainsFunc(guarantees, func(g lockbench.Guarantee) bool { return !covered(g) }) {
		f.Against++
	}
	if f.Counterexample == nil {
		f.Counterexample = show()
	}
	j.cells[cell] = f
}

// expose counts an occasion in a cell.
func (j *judgeOfMachines) expose(cell lockbench.Cell) {
	f := j.cells[cell]
	f.Exposure++
	j.cells[cell] = f
}

// cellOf returns the cell of an overlap that these conditions touch. Both owners are within their validity, so with
// Outlived a past owner's call may have freed the key.
func cellOf(under lockbench.Conditions) lockbench.Cell {
	if under.Has(lockbench.Outlived) {
		return lockbench.OwnerRelease.At(under)
	}
	return lockbench.Exclusion.At(under)
}

func (j *judgeOfMachines) number(machine int) int {
	if s := j.machines[machine].header.Share; !s.Whole() {
		return s.Index + 1
	}
	return machine + 1
}

func (j *judgeOfMachines) claims() *lockbench.Claims { return &j.machines[0].header.Claims }

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

// joint returns the judgement.
func (j *judgeOfMachines) joint() Joint {
	out := Joint{Cells: j.cells, Unknown: j.unknown, Holds: j.holds}
	for _, p := range j.pairs {
		width := p.widths.Figures("")
		p.Width, p.Widest, p.widths = time.Duration(width["_p50_ns"]), time.Duration(width["_max_ns"]), count.Durations{}
		out.Pairs = append(out.Pairs, *p)
	}
	slices.SortFunc(out.Pairs, func(a, b MachinePair) int { return cmp.Or(a.A-b.A, a.B-b.B) })
	judged := map[lockbench.Guarantee]string{lockbench.Exclusion: "no acquire certainly met a hold of another machine"}
	if j.able(hasStore) {
		judged[lockbench.Effects] = "no client wrote after one of another machine"
	}
	if j.able(hasFence) {
		judged[lockbench.Fencing] = "no two fences of different machines were certainly in order"
	}
	for g := range judged {
		j.cells[g.At(0)] = j.cells[g.At(0)]
	}
	for _, cell := range j.machines[0].header.Exercises {
		if _, is := judged[cell.Guarantee]; is && (cell.Guarantee != lockbench.Exclusion || !cell.Under.Has(lockbench.Outlived)) {
			j.cells[cell] = j.cells[cell]
		}
	}
	for cell, f := range j.cells {
		f.Claimed, f.Exercised, f.Exposure = j.claims().Claims(cell), true, max(f.Exposure, f.Violations)
		if n, struck := j.strikes(cell.Under); struck && f.Violations == 0 {
			f.Exposure = min(f.Exposure, n)
		}
		switch {
		case f.Violations > 0:
			f.Verdict = Broken
		case f.Exposure > 0:
			f.Verdict = Held
		default:
			f.Verdict, f.Note = Untested, judged[cell.Guarantee]
		}
		j.cells[cell] = f
	}
	return out
}

// able reports whether the history of a machine shows an ability.
func (j *judgeOfMachines) able(a ability) bool {
	return slices.ContainsFunc(j.machines, func(m *Machine) bool { return m.ability&a != 0 })
}

// strikes returns the number of faults that can have brought all striking conditions of under, on the machine that saw
// the most, and false if under has none.
func (j *judgeOfMachines) strikes(under lockbench.Conditions) (most int64, struck bool) {
	for _, m := range j.machines {
		n, is := m.faults.Strikes(under)
		most, struck = max(most, n), struck || is
	}
	return most, struck
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

// lasting are the conditions of faults that touch all that comes later, on every key.
const lasting = pending.Striking | lockbench.Skew

// touching returns the conditions that touched holds: their own, those of their clusters by a time, and the lasting
// conditions of faults by then.
func (j *judgeOfMachines) touching(by int64, holds ...ownedHold) (under lockbench.Conditions) {
	under = happened(j.faults, by) & lasting
	for _, h := range holds {
		under |= h.hold.under | happened(h.cluster.brought, by)
	}
	return under
}

// happened returns the conditions that may have occurred by a time.
func happened(all []occurrence, by int64) (under lockbench.Conditions) {
	for _, o := range all {
		if o.at <= by {
			under |= o.under
		}
	}
	return under
}
