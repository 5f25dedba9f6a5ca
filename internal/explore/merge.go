package explore

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// A findingSum is the sum of the findings of schedules.
type findingSum struct {
	findings []checker.CellFinding // in the order of lockbench.Cell.Compare
	grants   int64
	occurred lockbench.Conditions // conditions in the findings of any schedule
}

// add adds the verdicts on one schedule. It calls worse for each cell that this schedule is the
// first to break, or the first to break against the claims.
func (m *findingSum) add(r checker.Result, worse func(*checker.CellFinding)) {
	m.grants += r.Grants
	at := 0
	for i := range r.Findings {
		at = m.index(&r.Findings[i], at)
		if m.join(&r.Findings[i], at) {
			worse(&r.Findings[i])
		}
	}
}

// index returns the index of f's cell in the sum, searching from index from, and inserts the
// cell if it is new.
func (m *findingSum) index(f *checker.CellFinding, from int) int {
	for i := from; i < len(m.findings); i++ {
		if m.findings[i].Cell == f.Cell {
			return i
		}
	}
	at, known := slices.BinarySearchFunc(m.findings, f.Cell, func(g checker.CellFinding, c lockbench.Cell) int { return g.Cell.Compare(c) })
	if !known {
		m.findings = slices.Insert(m.findings, at, checker.CellFinding{Cell: f.Cell, Finding: checker.Finding{Claimed: f.Claimed, Verdict: checker.NotApplicable}})
	}
	return at
}

// addShrunk adds a violation by a shrunk schedule, if it is graver than the sum.
func (m *findingSum) addShrunk(f *checker.CellFinding) {
	if at := m.index(f, 0); f.Outweighs(&m.findings[at].Finding) {
		m.join(f, at)
	}
}

// drop revokes that cell is broken, since no schedule shows it again. The cell is untested then,
// not held.
func (m *findingSum) drop(cell lockbench.Cell) {
	sum := &m.findings[m.index(&checker.CellFinding{Cell: cell}, 0)]
	sum.Verdict, sum.Note = checker.Untested, "it was broken by schedules that went another way when run again"
	sum.Violations, sum.Against, sum.Questions = 0, 0, checker.ByQuestion{}
}

// join adds f to the sum of its cell. It returns whether f is broken, and graver than all findings
// before it.
func (m *findingSum) join(f *checker.CellFinding, at int) (worse bool) {
	sum := &m.findings[at]
	m.occurred |= f.Cell.Under
	higher := f.Outweighs(&sum.Finding)
	if higher || sum.Note == "" && !sum.Outweighs(&f.Finding) {
		sum.Verdict, sum.Note = f.Verdict, f.Note
	}
	sum.Exposure += f.Exposure
	sum.Exercised = sum.Exercised || f.Exercised
	if f.Violations == 0 {
		return false
	}
	asked := sum.Asked(f.Cell.Guarantee)
	for q, n := range f.Asked(f.Cell.Guarantee) {
		asked[q] += min(1, n)
	}
	sum.Violations++
	sum.Against += min(1, f.Against)
	sum.SetAsked(f.Cell.Guarantee, asked)
	return higher
}

// result returns the findings. A cell of exercises that no schedule tested is untested; the
// findings of empty, on an empty history, have its note.
func (m *findingSum) result(exercises []lockbench.Cell, empty checker.Result) []checker.CellFinding {
	for _, cell := range exercises {
		f := empty.Find(cell)
		at := m.index(&f, 0)
		if sum := &m.findings[at]; sum.Verdict == checker.NotApplicable && sum.Note == "" {
			sum.Verdict, sum.Note = f.Verdict, f.Note
			if m.occurred.Has(cell.Under &^ lockbench.Outlived) { // the condition occurred, but it tested nothing
				sum.Note = empty.Find(cell.Guarantee.At(0)).Note
			}
		}
		m.findings[at].Exercised = m.findings[at].Exercised || m.findings[at].Verdict == checker.Untested
	}
	return m.findings
}
