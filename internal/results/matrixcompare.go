package results

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// A MatrixComparison has the differences between two matrices.
type MatrixComparison struct {
	// With says what was compared with.
	With string
	// Worse and Better are cells of designs that both have.
	Worse, Better []MatrixChange
	// Weaker are claimed cells of theirs that are no worse and lost strength; they fail it
	// only by [MatrixComparison.FailWeaker].
	Weaker []StrengthLoss
	// New and Gone are designs that only one of them has.
	New, Gone []string
	// Notes say what was not compared.
	Notes []string
	// Exit is 1 when a cell is worse; else 3 when too little was run to say; else 0.
	Exit int
}

// A MatrixChange is a cell that differs.
type MatrixChange struct {
	Design  string
	Cell    lockbench.Cell
	Was, Is Finding
}

// rank orders findings from bad to good: a broken claim, broken, nothing known, held. A guarantee that
// does not apply to a design is as unknown as an untested one.
func rank(f Finding) int {
	switch {
	case f.Fails():
		return 0
	case f.Verdict == checker.Broken:
		return 1
	case f.Verdict == checker.Held:
		return 3
	}
	return rankUnknown
}

const rankUnknown = 2 // the rank of a cell that was not tested

// CompareMatrices reports what became of the cells of old in m. Only parts that both were
// planned with are compared: what was not tried this time is no worse for that.
func CompareMatrices(old, m Matrix) MatrixComparison {
	var c MatrixComparison
	var common []string
	for _, part := range old.Settings.Parts {
		if slices.Contains(m.Settings.Parts, part) {
			common = append(common, part)
		} else {
			c.Notes = append(c.Notes, "not compared, since it was not run: "+part)
		}
	}
	for _, part := range m.Settings.Parts {
		if !slices.Contains(common, part) {
			c.Notes = append(c.Notes, "not compared, since the other has it not: "+part)
		}
	}
	if len(common) == 0 {
		c.Notes = append(c.Notes, "the two have no part in common")
	}
	before, now := old.only(common), m.only(common)
	c.compare(&before, &now)
	switch {
	case len(c.Worse) > 0:
		c.Exit = BrokenClaim
	case len(common) == 0 || !now.shares(&before) || now.unfinished():
		c.Exit = Inconclusive
	}
	return c
}

// only is m as if nothing but these parts had been planned.
func (m Matrix) only(parts []string) Matrix {
	m.Settings.Parts = parts
	m.SelfCheck = m.SelfCheck.only(parts)
	rows := m.Rows
	m.Rows = nil
	for _, r := range rows {
		m.Rows = append(m.Rows, r.only(parts))
	}
	m.Settle()
	return m
}

func (r MatrixRow) only(parts []string) MatrixRow {
	for _, p := range r.Parts {
		if !slices.Contains(parts, p.Name) {
			r.drop(p.Name)
		}
	}
	return r
}

// shares reports whether the two have a design in common.
func (m *Matrix) shares(other *Matrix) bool {
	return slices.ContainsFunc(m.Rows, func(r MatrixRow) bool { return other.Row(r.Design) != nil })
}

// unfinished reports whether something was not run, or proved nothing.
func (m *Matrix) unfinished() bool {
	return len(m.NotRun) > 0 || len(m.Unproven()) > 0 || slices.ContainsFunc(m.Rows, func(r MatrixRow) bool { return r.failed() })
}

// failed reports whether a part of the design ended in an error, or met nothing.
func (r *MatrixRow) failed() bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Problem() != "" })
}

func (c *MatrixComparison) compare(old, m *Matrix) {
	for i := range m.Rows {
		r := &m.Rows[i]
		was := old.Row(r.Design)
		if was == nil {
			c.New = append(c.New, "design "+r.Design)
			continue
		}
		c.row(was, r, len(m.Unproven()) > 0 || m.lacking(r))
	}
	for i := range old.Rows {
		if m.Row(old.Rows[i].Design) == nil {
			c.Gone = append(c.Gone, "design "+old.Rows[i].Design)
		}
	}
}

// lacking reports whether a part of the design was not run to its end.
func (m *Matrix) lacking(r *MatrixRow) bool {
	return r.failed() || slices.ContainsFunc(m.NotRun, func(s string) bool { return strings.HasPrefix(s, r.Design+": ") })
}

// row compares the cells of a design; what is not known of one that was not run to its
// end is left open.
func (c *MatrixComparison) row(old, r *MatrixRow, open bool) {
	before, now := old.Cells, r.Cells
	for _, cell := range comparable(before.Cells, now.Cells) {
		change := MatrixChange{Design: r.Design, Cell: cell, Was: before.Touched(cell), Is: now.Touched(cell)}
		was, is := rank(change.Was), rank(change.Is)
		switch {
		case is > was:
			c.Better = append(c.Better, change)
		case is < was && (is != rankUnknown || !open):
			c.Worse = append(c.Worse, change)
		}
	}
	c.weaker(r.Design, before.Cells, now.Cells)
}
