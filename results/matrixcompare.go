package results

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// A MatrixComparison holds the differences between two matrices.
type MatrixComparison struct {
	// With names the older matrix.
	With string
	// Worse and Better are the cells that changed, of designs in both matrices.
	Worse, Better []MatrixChange
	// Weaker are the claims of these designs that lost strength without being worse. They fail the
	// comparison only after [MatrixComparison.FailWeaker].
	Weaker []StrengthLoss
	// New and Gone are the designs that only the newer or only the older matrix has, each as
	// "design NAME".
	New, Gone []string
	// Notes list the parts that were not compared, with reasons.
	Notes []string
	// Exit is the exit code: 1 if a cell is worse, else 3 if too little was run to tell, else 4 if
	// claims lost strength and that was to fail it, else 0.
	Exit int
}

// A MatrixChange is a cell with two different findings: Was in the older matrix, Is in the newer.
type MatrixChange struct {
	Design  string
	Cell    lockbench.Cell
	Was, Is Finding
}

// rank orders findings from bad to good: a broken claim, any other broken cell, an unknown cell, a
// held cell. A cell that does not apply to a design is as unknown as an untested one.
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

const rankUnknown = 2 // the rank of an unknown cell

// CompareMatrices compares the cells of m with the cells of old. It compares only parts planned in
// both: a cell is not worse because a part was not repeated. It changes neither matrix.
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

// only returns m as if only these parts had been planned.
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

// only returns r with only these parts.
func (r MatrixRow) only(parts []string) MatrixRow {
	for _, p := range r.Parts {
		if !slices.Contains(parts, p.Name) {
			r.drop(p.Name)
		}
	}
	return r
}

// shares reports whether m and other have a design in common.
func (m *Matrix) shares(other *Matrix) bool {
	return slices.ContainsFunc(m.Rows, func(r MatrixRow) bool { return other.Row(r.Design) != nil })
}

// unfinished reports whether a planned part is missing, failed, or proves nothing.
func (m *Matrix) unfinished() bool {
	return len(m.NotRun) > 0 || len(m.Unproven()) > 0 || slices.ContainsFunc(m.Rows, func(r MatrixRow) bool { return r.failed() })
}

// failed reports whether a part of the design proves nothing, see [Part.Problem].
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

// lacking reports whether a part of the design is missing or failed.
func (m *Matrix) lacking(r *MatrixRow) bool {
	return r.failed() || slices.ContainsFunc(m.NotRun, func(s string) bool { return strings.HasPrefix(s, r.Design+": ") })
}

// row compares the cells of a design. If open is set the design was not tested completely, so an
// unknown cell is not worse than a held one.
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
