package checker

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/count"
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
		j.faulty = j.faulty || len(m.header.Faults) > 0 || m.faults.Occurred != 0
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

func (j *judgeOfMachines) pair(a, b int) *MachinePair { return j.pairs[[2]int{min(a, b), max(a, b)}] }

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
		j.enter(g.At(0))
	}
	for _, cell := range j.machines[0].header.Exercises {
		if _, is := judged[cell.Guarantee]; is && (cell.Guarantee != lockbench.Exclusion || !cell.Under.Has(lockbench.Outlived)) {
			j.enter(cell)
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

// enter makes sure that a cell has a finding.
func (j *judgeOfMachines) enter(cell lockbench.Cell) {
	if _, is := j.cells[cell]; !is {
		j.cells[cell] = Finding{}
	}
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
