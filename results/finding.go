package results

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// A Finding is a finding of the checker with the evidence for it.
type Finding struct {
	checker.Finding
	Shown
}

// Shown is the evidence for a finding beyond the checker's counterexample.
type Shown struct {
	// Accepted is set if the violations count against the claims but fail nothing, because an
	// [Acceptance] covers them.
	Accepted *AcceptedBreak `json:"accepted,omitempty"`
	// Schedule is the shortest schedule known that breaks the cell, nil unless the design was
	// explored.
	Schedule *Schedule `json:"schedule,omitempty"`

	// Scenarios are the explored scenarios with this verdict if findings of several were combined.
	// The schedule is from the first.
	Scenarios []string `json:"scenarios,omitempty"`
	// Part is the name of the part with the gravest finding if findings of several parts were
	// combined.
	Part string `json:"part,omitempty"`
	// After are the conditions, earlier in the run, that excuse the violations. It is set in
	// findings of the released matrix only; see [Finding.Excused].
	After lockbench.Conditions `json:"after,omitzero"`
}

// Cells are the findings of a run, by cell, with the evidence for them. The zero value is empty and
// ready to use. Its JSON form is an object with a [Finding] for each cell.
type Cells struct {
	checker.Cells
	Shown map[lockbench.Cell]Shown // has only the cells with such evidence
}

// NewCells returns Cells with these findings.
func NewCells(findings map[lockbench.Cell]Finding) Cells {
	c := Cells{Cells: make(checker.Cells, len(findings))}
	for cell, f := range findings {
		c.Set(cell, f)
	}
	return c
}

// Set sets the finding on cell to f.
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

// At returns the finding on cell, under exactly its conditions; the zero Finding if there is none.
func (c Cells) At(cell lockbench.Cell) Finding { return Finding{c.Cells[cell], c.Shown[cell]} }

// Touched returns the finding of [checker.Cells.Touched] with the evidence for cell.
func (c Cells) Touched(cell lockbench.Cell) Finding {
	return Finding{c.Cells.Touched(cell), c.Shown[cell]}
}

// Add adds the findings of more, from another scenario or point of the same design. If both have a
// finding on a cell, they are combined as by [checker.Finding.Join], with the evidence for the
// graver finding or, if both are equally grave, for the finding with the shorter schedule.
func (c *Cells) Add(more Cells) {
	for cell, f := range more.All() {
		c.join(cell, f)
	}
}

// join adds the finding f on cell.
func (c *Cells) join(cell lockbench.Cell, f Finding) {
	if _, judged := c.Cells[cell]; judged {
		f, _ = c.At(cell).join(cell.Guarantee, f)
	}
	c.Set(cell, f)
}

// join returns the findings f and other on a cell of guarantee g as one, and whether the evidence
// is from other. It is if other is graver or, of equals, has the shorter schedule.
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

// All returns an iterator over the cells and their findings, in no particular order.
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

// IsZero reports whether c has no cells.
func (c Cells) IsZero() bool { return len(c.Cells) == 0 }

// Failing lists the cells with violations that count against the claims and are not accepted.
func (c Cells) Failing() []lockbench.Cell {
	return c.Names(func(cell lockbench.Cell, _ checker.Finding) bool { return c.Fails(cell) })
}

// Fails reports whether the finding on cell fails the run.
func (c Cells) Fails(cell lockbench.Cell) bool {
	f := c.At(cell)
	return f.Fails()
}

// Broken lists the broken cells; those that fail the run come first.
func (c Cells) Broken() []lockbench.Cell {
	return append(c.Failing(), c.Names(func(cell lockbench.Cell, f checker.Finding) bool {
		return f.Verdict == checker.Broken && !c.Fails(cell)
	})...)
}

// Root returns the broken cell that a reader should look at first, see [checker.Cells.First], and
// false if no broken cell has a schedule.
func (c Cells) Root() (root lockbench.Cell, found bool) {
	return c.First(c.Fails, func(cell lockbench.Cell) int {
		if s := c.Shown[cell].Schedule; s != nil {
			return max(1, len(s.Steps))
		}
		return 0
	})
}

// Exit returns the exit code of the verdicts, see [checker.Cells.Exit]. Accepted violations do not
// count.
func (c Cells) Exit() int {
	if exit := c.Cells.Exit(); exit != BrokenClaim || len(c.Failing()) > 0 {
		return exit
	}
	if len(c.Untested()) > 0 {
		return Inconclusive
	}
	return Passed
}

// catches reports whether the findings c show that a lock breaks the cell must, see [Catches].
func catches(c checker.Cells, must lockbench.Cell) bool {
	return slices.ContainsFunc(c.With(checker.Broken), func(cell lockbench.Cell) bool { return Catches(must, cell) })
}

// Fails reports whether the finding fails the run: it has violations that count against the claims
// and are not accepted.
func (f *Finding) Fails() bool { return f.Against > 0 && f.Accepted == nil }

// Drawable reports whether the violation has operations or a schedule to draw. A cell that is
// explained by another has a sentence only.
func (f *Finding) Drawable() bool {
	return f.Verdict == checker.Broken && (f.Counterexample != nil && len(f.Counterexample.Ops) > 0 || f.Schedule != nil)
}
