package explore

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// merged adds up the findings of schedules.
type merged struct {
	findings []checker.CellFinding // in the order of lockbench.Cell.Compare
	grants   int64
	occurred lockbench.Conditions // of what was found of any schedule
}

// add takes in the verdicts on one schedule. It calls worse for each cell that no
// schedule before had broken, or not so that it counts against the claims.
func (m *merged) add(r checker.Result, worse func(*checker.CellFinding)) {
	m.grants += r.Grants
	at := 0
	for i := range r.Findings {
		at = m.place(&r.Findings[i], at)
		if m.take(&r.Findings[i], at) {
			worse(&r.Findings[i])
		}
	}
}

// place returns where the cell of f is in the sum, from on, and makes room for it if
// it is new.
func (m *merged) place(f *checker.CellFinding, from int) int {
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

// found adds what a shrunk schedule broke, where no schedule had, or not so badly.
func (m *merged) found(f *checker.CellFinding) {
	if at := m.place(f, 0); graver(f, &m.findings[at]) {
		m.take(f, at)
	}
}

// drop takes back that cell was broken: no schedule shows it. It is not held either.
func (m *merged) drop(cell lockbench.Cell) {
	sum := &m.findings[m.place(&checker.CellFinding{Cell: cell}, 0)]
	sum.Verdict, sum.Note = checker.Untested, "it was broken by schedules that went another way when run again"
	sum.Violations, sum.Against, sum.Questions = 0, 0, checker.ByQuestion{}
}

// take adds f to the sum of its cell. It returns whether f is broken, and worse than all
// before it.
func (m *merged) take(f *checker.CellFinding, at int) (worse bool) {
	sum := &m.findings[at]
	m.occurred |= f.Cell.Under
	higher := graver(f, sum)
	if higher || sum.Note == "" && !graver(sum, f) {
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

// graver reports whether f says more of a lock than other, or worse, and so counts
// where two schedules differ. What counts against the claims comes first.
func graver(f, other *checker.CellFinding) bool {
	if f.Verdict == checker.Broken && other.Verdict == checker.Broken {
		return f.Against > 0 && other.Against == 0
	}
	return f.Verdict.Graver(other.Verdict)
}

// result is the sum. What could have been put to the test and was in no schedule is
// untested, not left out: blank is what is found of those cells when nothing happens.
func (m *merged) result(exercises []lockbench.Cell, blank checker.Result) []checker.CellFinding {
	for _, cell := range exercises {
		f := blank.Find(cell)
		at := m.place(&f, 0)
		if sum := &m.findings[at]; sum.Verdict == checker.NotApplicable && sum.Note == "" {
			sum.Verdict, sum.Note = f.Verdict, f.Note
			if m.occurred.Has(cell.Under &^ lockbench.Outlived) { // it happened, where it put nothing to the test
				sum.Note = blank.Find(cell.Guarantee.At(0)).Note
			}
		}
		m.findings[at].Exercised = m.findings[at].Exercised || m.findings[at].Verdict == checker.Untested
	}
	return m.findings
}
