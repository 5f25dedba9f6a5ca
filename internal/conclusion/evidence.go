package conclusion

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// A Source is where something is known from.
type Source string

// The sources, in the order in which they are said.
const (
	Seen     Source = "seen now"
	Explored Source = "found by exploration"
	Known    Source = "known"
)

// An Evidence is what one source has of a lock. The zero value of a source says nothing.
type Evidence struct {
	Source Source
	// Cells are what was found without a guard, Guarded with one in the store.
	Cells, Guarded map[lockbench.Cell]Found
	// Shows is the command that shows a cell again, empty for this run itself.
	Shows func(lockbench.Cell) string
}

// Found is what was found of one cell.
type Found struct {
	Verdict              checker.Verdict
	Exposure, Violations int64
	// After are conditions that had happened before, on whatever key, and that the lock is
	// known to remember: without them it might not have broken.
	After lockbench.Conditions
}

// A breach is a broken cell, with the source that has it.
type breach struct {
	cell lockbench.Cell
	Found
	from *Evidence
	at   int // of the evidence, among all
}

// broken lists the cells that a source has as broken and that match, with what came before,
// those under the fewest conditions first, and among these by the order of guarantees, of
// sources, and of all.
func broken(all []Evidence, guarded bool, match func(lockbench.Cell) bool) (found []breach) {
	for i := range all {
		cells := all[i].Cells
		if guarded {
			cells = all[i].Guarded
		}
		for cell, f := range cells {
			cell.Under |= f.After
			if f.Verdict == checker.Broken && match(cell) {
				found = append(found, breach{cell, f, &all[i], i})
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

// held adds up the occasions of these guarantees on which nothing was broken and that
// conditions touched, whatever else did.
func held(all []Evidence, guarded bool, of []lockbench.Guarantee, under lockbench.Conditions) (n int64) {
	for i := range all {
		cells := all[i].Cells
		if guarded {
			cells = all[i].Guarded
		}
		for cell, f := range cells {
			touched := cell.Under == under || under != 0 && cell.Under.Has(under)
			if f.Verdict == checker.Held && touched && slices.Contains(of, cell.Guarantee) {
				n += f.Exposure
			}
		}
	}
	return n
}
