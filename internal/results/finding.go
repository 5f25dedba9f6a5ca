package results

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// A Finding is a checker's finding with what shows it.
type Finding struct {
	checker.Finding
	Shown
}

// Shown is the evidence that a cell is broken, beside the checker's counterexample, and the
// acceptance of the break.
type Shown struct {
	// Accepted: it counts against the claims and fails nothing, since somebody accepts it; nil where
	// nobody does.
	Accepted *AcceptedBreak `json:"accepted,omitempty"`
	// Schedule is the shortest schedule that breaks the cell, where the design was explored.
	Schedule *Schedule `json:"schedule,omitempty"`

	// Scenarios are those with this verdict, of several explored; the first has the schedule.
	Scenarios []string `json:"scenarios,omitempty"`
	// Part is the part that decided, of findings of several parts together.
	Part string `json:"part,omitempty"`
	// After are conditions that had happened before, of a finding in the released matrix; see
	// [Finding.Excused].
	After lockbench.Conditions `json:"after,omitzero"`
}

// Cells are the findings of a run with what shows them. The zero Cells are empty and can be read.
// Their JSON form is an object of a [Finding] for each cell.
type Cells struct {
	checker.Cells
	Shown map[lockbench.Cell]Shown // of some of the cells
}

// NewCells returns the cells of these findings.
func NewCells(findings map[lockbench.Cell]Finding) Cells {
	c := Cells{Cells: make(checker.Cells, len(findings))}
	for cell, f := range findings {
		c.Set(cell, f)
	}
	return c
}

// Set makes f the finding on cell.
func (c *Cells) Set(cell lockbench.Cell, f Finding) {
	if c.Cells == nil {
		c.Cells = make(checker.Cells)
	}
	c.Cells[cell] = f.Finding
	switch shown := f.Accepted != nil || f.Schedule != nil || f.Scenarios != nil || f.Part != "" || f.After != 0; {
	case !shown:
		delete(c.Shown, cell)
	case c.Shown == nil:
		c.Shown = map[lockbench.Cell]Shown{cell: f.Shown}
	default:
		c.Shown[cell] = f.Shown
	}
}

// At returns the finding on exactly cell, the zero Finding where there is none.
func (c Cells) At(cell lockbench.Cell) Finding { return Finding{c.Cells[cell], c.Shown[cell]} }

// Touched returns the finding of [checker.Cells.Touched] with what shows cell.
func (c Cells) Touched(cell lockbench.Cell) Finding {
	return Finding{c.Cells.Touched(cell), c.Shown[cell]}
}

// Add adds the findings of more: scenarios of a design, or its points. The graver finding on a cell,
// or of equals the one with the shorter schedule, gives what shows it. See [checker.Finding.Join].
func (c *Cells) Add(more Cells) {
	for cell, f := range more.All() {
		c.join(cell, f)
	}
}

func (c *Cells) join(cell lockbench.Cell, f Finding) {
	if _, judged := c.Cells[cell]; judged {
		f, _ = c.At(cell).join(cell.Guarantee, f)
	}
	c.Set(cell, f)
}

// join returns the findings f and other on a cell of g as one, and whether other shows it: it is the
// graver one or, of equals, shown by fewer steps.
func (f Finding) join(g lockbench.Guarantee, other Finding) (sum Finding, taken bool) {
	same := f.Verdict == other.Verdict
	tie := other.Schedule.shorter(f.Schedule) || other.Exercised && !f.Exercised
	found, taken := f.Finding.Join(g, other.Finding, tie)
	first, second := f.Shown, other.Shown
	if taken {
		first, second = other.Shown, f.Shown
	}
	if same {
		first.Scenarios = slices.Concat(first.Scenarios, second.Scenarios)
	}
	return Finding{found, first}, taken
}

// All iterates over the cells, in no order.
func (c Cells) All() iter.Seq2[lockbench.Cell, Finding] {
	return func(yield func(lockbench.Cell, Finding) bool) {
		for cell := range c.Cells {
			if !yield(cell, c.At(cell)) {
				return
			}
		}
	}
}

// MarshalJSON implements json.Marshaler.
func (c Cells) MarshalJSON() ([]byte, error) {
	if c.Cells == nil {
		return []byte("null"), nil
	}
	return json.Marshal(maps.Collect(c.All()))
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Cells) UnmarshalJSON(text []byte) error {
	var findings map[lockbench.Cell]Finding
	if err := json.Unmarshal(text, &findings); err != nil || findings == nil {
		return err
	}
	*c = NewCells(findings)
	return nil
}

// IsZero reports whether there are no cells.
func (c Cells) IsZero() bool { return len(c.Cells) == 0 }

// Failing lists the cells that count against the claims and that nobody accepts.
func (c Cells) Failing() []lockbench.Cell {
	return c.Names(func(cell lockbench.Cell, _ checker.Finding) bool { return c.Fails(cell) })
}

// Fails reports whether the finding on cell fails the run.
func (c Cells) Fails(cell lockbench.Cell) bool {
	f := c.At(cell)
	return f.Fails()
}

// Broken lists the cells that were broken: those that fail the run first.
func (c Cells) Broken() []lockbench.Cell {
	return append(c.Failing(), c.Names(func(cell lockbench.Cell, f checker.Finding) bool {
		return f.Verdict == checker.Broken && !c.Fails(cell)
	})...)
}

// Root returns the broken cell to start with, see [checker.Cells.First]; false where none has a
// schedule.
func (c Cells) Root() (root lockbench.Cell, found bool) {
	return c.First(c.Fails, func(cell lockbench.Cell) int {
		if s := c.Shown[cell].Schedule; s != nil {
			return max(1, len(s.Steps))
		}
		return 0
	})
}

// Exit is the exit code of the verdicts, see [checker.Cells.Exit], without breaks that somebody
// accepts.
func (c Cells) Exit() int {
	if exit := c.Cells.Exit(); exit != BrokenClaim || len(c.Failing()) > 0 {
		return exit
	}
	if len(c.Untested()) > 0 {
		return Inconclusive
	}
	return Passed
}

// catches reports whether a lock that must break this cell was caught, see [Catches].
func catches(c checker.Cells, must lockbench.Cell) bool {
	return slices.ContainsFunc(c.With(checker.Broken), func(cell lockbench.Cell) bool { return Catches(must, cell) })
}

// Fails reports whether the finding fails the run.
func (f *Finding) Fails() bool { return f.Against > 0 && f.Accepted == nil }

// Drawable reports whether there is something to draw. A cell that another cell's schedule
// explains has a sentence only.
func (f *Finding) Drawable() bool {
	return f.Verdict == checker.Broken && (f.Counterexample != nil && len(f.Counterexample.Ops) > 0 || f.Schedule != nil)
}
