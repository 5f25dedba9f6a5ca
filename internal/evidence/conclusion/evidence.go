package conclusion

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// A Source is a source of findings.
type Source string

// The sources, in the order in which conclusions name them.
const (
	Seen     Source = "seen now"
	Explored Source = "found by exploration"
	Known    Source = "known"
)

// An Evidence holds the findings of one source on a lock, with a guard in the store or without one.
type Evidence struct {
	Source  Source
	Guarded bool
	Cells   checker.Cells
	// After has, for some broken cells, conditions that happened earlier, on any key, and from
	// which the lock does not recover. Without them the cell might have held.
	After map[lockbench.Cell]lockbench.Conditions
	// Lease is the requested lease, zero if it is not known. Programs has the client programs that
	// broke each broken cell. Early has, for some broken cells, how long before the end of an owner's
	// lease the next owner was granted the key.
	Lease    time.Duration
	Programs map[lockbench.Cell][]string
	Early    map[lockbench.Cell]time.Duration
	// Shows returns the command that reproduces the finding on a cell, empty if this run itself
	// shows it. If Shows is nil, this run shows every cell.
	Shows func(lockbench.Cell) string
}

// A breach is a broken cell, with the evidence for it.
type breach struct {
	cell    lockbench.Cell
	finding checker.Finding
	from    *Evidence
	at      int // the index of the evidence
}

// kind returns the kind of a breach: the gravest of its violations, unless an owner was late.
func (b *breach) kind() Breach {
	if checker.Late(b.cell) {
		return LateOwner
	}
	for q, n := range b.finding.Asked(b.cell.Guarantee) {
		if n > 0 {
			return breachOf[q]
		}
	}
	return breachOf[checker.Asks(b.cell.Guarantee)] // its violations were not counted
}

// broken returns the broken cells that match, each with its conditions and the conditions of
// [Evidence.After]. They are sorted by number of conditions, then by the order of guarantees, of
// sources, and of the evidence.
func broken(all []Evidence, guarded bool, match func(lockbench.Cell) bool) (found []breach) {
	for i := range all {
		if all[i].Guarded != guarded {
			continue
		}
		for _, cell := range all[i].Cells.With(checker.Broken) {
			finding := all[i].Cells[cell]
			cell.Under |= all[i].After[cell]
			if match(cell) {
				found = append(found, breach{cell, finding, &all[i], i})
			}
		}
	}
	order := func(b breach) int { return slices.Index(sources, b.from.Source) }
	slices.SortFunc(found, func(a, b breach) int {
		return cmp.Or(cmp.Compare(a.cell.Under.Count(), b.cell.Under.Count()), a.cell.Compare(b.cell), cmp.Compare(order(a), order(b)), cmp.Compare(a.at, b.at))
	})
	return found
}

var sources = []Source{Seen, Explored, Known}

// held counts the independent occasions, without a guard, on which these guarantees held. With
// conditions it counts the occasions that they touched, without conditions the occasions on which
// nothing went wrong.
func held(all []Evidence, of []lockbench.Guarantee, under lockbench.Conditions) (n int64) {
	for i := range all {
		if all[i].Guarded {
			continue
		}
		own := int64(0)
		for _, g := range of {
			own = checker.AddOccasions(under, own, all[i].Cells.Exposure(g.At(under), checker.Held))
		}
		n += own
	}
	return n
}
