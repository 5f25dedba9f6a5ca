package checker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/pending"
)

// Cells are the findings on one design by cell, a guarantee under a set of conditions. There is a
// cell for each guarantee under no condition, for each guarantee under each exact set of conditions
// that it was exposed under, and for each cell that the run was meant to exercise. c[cell] is the
// finding on the occasions that were touched by exactly the conditions of cell. Cells are not safe
// for concurrent use with writes.
//
// Cells are built once, when a judgement is over; a Checker counts in tables, which find a row in a
// tenth of the time.
//
// The finding on a cell can be read together with the findings under more conditions in several
// ways:
//
//	c[cell]    exactly these conditions       a row of JSON
//	Touched    held by more, broken by none   comparisons, gates of claims, locktest
//	Sum        held and broken by more        thresholds, searches of a limit
//	Exposure   occasions alone; under no
//	           condition exactly that         tables and conclusions
//	HeldOn     occasions, none if broken      strength of a claim
type Cells map[lockbench.Cell]Finding

// Sorted lists the cells in the order in which reports show them.
func (c Cells) Sorted() []lockbench.Cell {
	return slices.SortedFunc(maps.Keys(c), lockbench.Cell.Compare)
}

// Names lists the cells that match, in the order of [Cells.Sorted].
func (c Cells) Names(match func(lockbench.Cell, Finding) bool) (names []lockbench.Cell) {
	for _, cell := range c.Sorted() {
		if match(cell, c[cell]) {
			names = append(names, cell)
		}
	}
	return names
}

// List returns the findings in the order of [Cells.Sorted].
func (c Cells) List() []CellFinding {
	all := make([]CellFinding, 0, len(c))
	for _, cell := range c.Sorted() {
		all = append(all, CellFinding{cell, c[cell]})
	}
	return all
}

// Doubt makes held cells untested, for the reason why: every held cell under these conditions,
// alone or with further ones, and so every held cell if under is empty. Their exposure stays, but
// nothing relies on it. Doubt returns whether the design claims one of these cells.
func (c Cells) Doubt(under lockbench.Conditions, why string) (claimed bool) {
	for cell, f := range c {
		if f.Verdict == Held && cell.Under.Has(under) {
			f.Verdict, f.Note = Untested, why
			c[cell] = f
			claimed = claimed || f.Claimed
		}
	}
	return claimed
}

// With lists the cells with this verdict.
func (c Cells) With(v Verdict) []lockbench.Cell {
	return c.Names(func(_ lockbench.Cell, f Finding) bool { return f.Verdict == v })
}

// Touched returns the finding on all occasions that the conditions of cell touched, whatever other
// conditions did: broken if c[cell] is broken, else held if any such occasion held. Every occasion
// counts for a cell under no condition.
func (c Cells) Touched(cell lockbench.Cell) Finding {
	f := c[cell]
	if f.Verdict == Broken {
		return f
	}
	for other, more := range c {
		if other == cell || !covers(other, cell) || more.Verdict != Held {
			continue
		}
		if f.Verdict != Held {
			f.Verdict, f.Note = Held, ""
		}
		f.Exposure = AddOccasions(cell.Under, f.Exposure, more.Exposure)
	}
	return f
}

// AddOccasions adds up n and more, the occasions of two cells under these conditions. If one of the
// conditions strikes all keys at once, both cells may have counted the same strikes, and the sum is
// the larger number.
func AddOccasions(under lockbench.Conditions, n, more int64) int64 {
	if under&pending.Striking != 0 {
		return max(n, more)
	}
	return n + more
}

// Sum adds up the findings on cell and on the same guarantee under more conditions. The sum has the
// gravest verdict of any finding with an occasion, so Sum may be broken when Touched is held.
func (c Cells) Sum(cell lockbench.Cell) Finding {
	sum := c[cell]
	for _, other := range c.Sorted() {
		f := c[other]
		if other != cell && covers(other, cell) && f.Exposure > 0 {
			sum, _ = sum.Join(cell.Guarantee, f, false)
		}
	}
	return sum
}

// Occasions adds up, by [AddOccasions], the exposure of the findings that have one of these
// verdicts and include the conditions of cell.
func (c Cells) Occasions(cell lockbench.Cell, verdicts ...Verdict) (n int64) {
	for other, f := range c {
		if covers(other, cell) && slices.Contains(verdicts, f.Verdict) {
			n = AddOccasions(cell.Under, n, f.Exposure)
		}
	}
	return n
}

// Exposure returns the exposure that counts for cell in a table or a conclusion, of findings with
// this verdict. For a cell under no condition that is the exposure of c[cell], else the sum by
// [Cells.Occasions].
func (c Cells) Exposure(cell lockbench.Cell, v Verdict) int64 {
	if cell.Under != 0 {
		return c.Occasions(cell, v)
	}
	if f := c[cell]; f.Verdict == v {
		return f.Exposure
	}
	return 0
}

// HeldOn returns the exposure on which cell was held, under its conditions and maybe more. It is
// zero for a broken cell.
func (c Cells) HeldOn(cell lockbench.Cell) int64 {
	if c[cell].Verdict == Broken {
		return 0
	}
	return c.Occasions(cell, Held)
}

// covers reports whether other has the guarantee of cell, and all of its conditions.
func covers(other, cell lockbench.Cell) bool {
	return other.Guarantee == cell.Guarantee && other.Under.Has(cell.Under)
}

// Explains reports whether the broken cell by explains that cell is broken, too: it has the same
// guarantee under fewer of the conditions, and counts against the claims if cell does. a is the
// finding on by, b the finding on cell.
func Explains(by, cell lockbench.Cell, a, b *Finding) bool {
	fewer := by != cell && covers(cell, by)
	return fewer && a.Violations > 0 && b.Violations > 0 && (a.Against > 0 || b.Against == 0)
}

// Explained returns the broken cell under the fewest conditions that explains that cell is broken,
// see [Explains]; false if there is none.
func (c Cells) Explained(cell lockbench.Cell) (by lockbench.Cell, found bool) {
	f := c[cell]
	for _, by := range c.With(Broken) {
		if a := c[by]; Explains(by, cell, &a, &f) {
			return by, true
		}
	}
	return by, false
}

// Open reports whether the cell is claimed and was to be exercised, but had no exposure.
func (c Cells) Open(cell lockbench.Cell) bool {
	f := c[cell]
	if !f.Claimed || !f.Exercised {
		return false
	}
	for other, f := range c {
		if covers(other, cell) && f.Verdict.Graver(Untested) {
			return false
		}
	}
	return true
}

// Untested lists the open cells.
func (c Cells) Untested() []lockbench.Cell {
	return c.Names(func(cell lockbench.Cell, _ Finding) bool { return c.Open(cell) })
}

// Against lists the cells that count against the claims.
func (c Cells) Against() []lockbench.Cell {
	return c.Names(func(_ lockbench.Cell, f Finding) bool { return f.Against > 0 })
}

// KeepsClaims reports whether any claimed cell was held.
func (c Cells) KeepsClaims() bool {
	return len(c.Names(func(_ lockbench.Cell, f Finding) bool { return f.Claimed && f.Verdict == Held })) > 0
}

// Late reports whether the cell is about owners that work past their lease, which a lease cannot
// prevent.
func Late(cell lockbench.Cell) bool {
	return cell.Under.Has(lockbench.Outlived) && (cell.Guarantee == lockbench.Exclusion || cell.Guarantee == lockbench.Effects)
}

// First returns the broken cell to look at first. It compares cells in this order: a cell that
// fails the run comes first, then a cell that is not late (see [Late]), fewer conditions, more than
// an untrue answer, more violations, a shorter schedule. steps returns the length of the shortest
// schedule that breaks a cell. First ignores a cell if steps returns zero, and returns false if no
// other cell is broken.
func (c Cells) First(fails func(lockbench.Cell) bool, steps func(lockbench.Cell) int) (first lockbench.Cell, found bool) {
	some := slices.DeleteFunc(c.With(Broken), func(cell lockbench.Cell) bool { return steps(cell) == 0 })
	if len(some) == 0 {
		return first, false
	}
	last := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	return slices.MinFunc(some, func(a, b lockbench.Cell) int {
		return cmp.Or(last(!fails(a))-last(!fails(b)), last(Late(a))-last(Late(b)),
			cmp.Compare(a.Under.Count(), b.Under.Count()), last(Asks(a.Guarantee) == ToldWrong)-last(Asks(b.Guarantee) == ToldWrong),
			cmp.Compare(c[b].Violations, c[a].Violations), cmp.Compare(steps(a), steps(b)))
	}), true
}

// Comparable lists the cells that can be compared with the cells of another run: broken cells, and
// cells under at most one condition. Chance decides which combinations of conditions occur in a
// run.
func (c Cells) Comparable() []lockbench.Cell {
	return c.Names(func(cell lockbench.Cell, f Finding) bool { return cell.Under.Count() <= 1 || f.Verdict == Broken })
}

// Exit returns the exit code for the verdicts: 1 if a cell counts against the claims, 3 if a cell
// is open, else 0.
func (c Cells) Exit() int {
	if len(c.Against()) > 0 {
		return exitBroken
	}
	if len(c.Untested()) > 0 {
		return exitInconclusive
	}
	return exitHeld
}
