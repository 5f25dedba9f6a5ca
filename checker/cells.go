package checker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockbench/lockbench"
)

// Cells are findings by cell: one for each guarantee where nothing goes wrong, one for each exact
// set of conditions that touched an occasion, and one for each cell that was to be put to the
// test. c[cell] is the finding on occasions that exactly the conditions of cell touched. Cells are
// not safe for concurrent use with writes.
//
// Cells are built once, when a judgement is over; a Checker counts in tables, where a row is
// found in a tenth of the time.
//
// A cell under a condition can be read in several ways, by the findings under more conditions:
//
//	c[cell]    exactly these conditions       what a row of JSON has
//	Touched    held by more, broken by none   comparisons, gates of claims, locktest
//	Sum        held and broken by more        thresholds, searches of a limit
//	Tried      occasions alone; under no
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

// Doubt makes held cells untested, with the reason why: those that these conditions touched, or all
// under no condition. They keep their exposure, of occasions that nobody relies on. It returns
// whether the design claims one of them.
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

// With lists the cells with a verdict.
func (c Cells) With(v Verdict) []lockbench.Cell {
	return c.Names(func(_ lockbench.Cell, f Finding) bool { return f.Verdict == v })
}

// Touched returns the finding on occasions that the conditions of cell touched, whatever else
// did: it is broken where exactly these conditions broke it, and held where any such occasion
// held. Every occasion counts for a cell under no condition.
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
		f.Exposure += more.Exposure
	}
	return f
}

// Sum returns the sum of the findings on cell and on the same guarantee under more conditions. The
// gravest that had an occasion gives the verdict, so it is broken where Touched may be held.
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

// Occasions counts the occasions that the conditions of cell touched, whatever else did, in
// findings with one of these verdicts.
func (c Cells) Occasions(cell lockbench.Cell, verdicts ...Verdict) (n int64) {
	for other, f := range c {
		if covers(other, cell) && slices.Contains(verdicts, f.Verdict) {
			n += f.Exposure
		}
	}
	return n
}

// Tried counts the occasions that count for cell in a table or in a conclusion, in findings with
// this verdict: for no condition those on which nothing went wrong, else those of [Cells.Occasions].
func (c Cells) Tried(cell lockbench.Cell, v Verdict) int64 {
	if cell.Under != 0 {
		return c.Occasions(cell, v)
	}
	if f := c[cell]; f.Verdict == v {
		return f.Exposure
	}
	return 0
}

// HeldOn counts the occasions on which cell was held: all that its conditions touched, whatever
// else did. It is zero for a broken cell.
func (c Cells) HeldOn(cell lockbench.Cell) int64 {
	if c[cell].Verdict == Broken {
		return 0
	}
	return c.Occasions(cell, Held)
}

// covers reports whether other is of the guarantee of cell, under its conditions and maybe more.
func covers(other, cell lockbench.Cell) bool {
	return other.Guarantee == cell.Guarantee && other.Under.Has(cell.Under)
}

// Explains reports whether the broken cell by explains that cell is broken, too: by is of the
// same guarantee under fewer of the conditions, and counts against the claims if cell does. a is
// the finding on by, b that on cell.
func Explains(by, cell lockbench.Cell, a, b *Finding) bool {
	fewer := by != cell && covers(cell, by)
	return fewer && a.Violations > 0 && b.Violations > 0 && (a.Against > 0 || b.Against == 0)
}

// Explained returns the broken cell under the fewest conditions that explains that cell is
// broken, see [Explains]; false where none does.
func (c Cells) Explained(cell lockbench.Cell) (by lockbench.Cell, found bool) {
	f := c[cell]
	for _, by := range c.With(Broken) {
		if a := c[by]; Explains(by, cell, &a, &f) {
			return by, true
		}
	}
	return by, false
}

// Open reports whether the cell is claimed, was to be put to the test, and had no occasion.
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

// KeepsClaims reports whether a claim was put to the test and held.
func (c Cells) KeepsClaims() bool {
	return len(c.Names(func(_ lockbench.Cell, f Finding) bool { return f.Claimed && f.Verdict == Held })) > 0
}

// Late reports whether a cell is about an owner that works on past its lease, which no lease
// prevents.
func Late(cell lockbench.Cell) bool {
	return cell.Under.Has(lockbench.Outlived) && (cell.Guarantee == lockbench.Exclusion || cell.Guarantee == lockbench.Effects)
}

// First returns the broken cell to look at first: one that fails the run, if any does, else one
// that is not late, see [Late], under the fewest conditions, by the shortest schedule. steps
// returns the length of the schedule that breaks a cell, zero where there is none; such cells are
// left out. First returns false where no cell is left.
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
			cmp.Compare(a.Under.Count(), b.Under.Count()), cmp.Compare(steps(a), steps(b)))
	}), true
}

// Comparable lists the cells that two runs can be compared by: broken ones, and those under one
// condition at most. Which mixtures of conditions occur is chance.
func (c Cells) Comparable() []lockbench.Cell {
	return c.Names(func(cell lockbench.Cell, f Finding) bool { return cell.Under.Count() <= 1 || f.Verdict == Broken })
}

// Exit is the exit code that the verdicts amount to: 1 where one counts against the claims, 3
// where a claim is open, else 0.
func (c Cells) Exit() int {
	if len(c.Against()) > 0 {
		return exitBroken
	}
	if len(c.Untested()) > 0 {
		return exitInconclusive
	}
	return exitHeld
}
