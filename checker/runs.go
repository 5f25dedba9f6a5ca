package checker

import (
	"fmt"

	"github.com/lockbench/lockbench"
)

// Runs sums up the findings of several runs on one cell. It counts runs, where a [Finding] counts
// occasions.
type Runs struct {
	// Verdict is the gravest verdict of the runs.
	Verdict Verdict `json:"verdict"`
	Claimed bool    `json:"claimed"`
	// Runs counts the runs that held or broke the cell, Broken the runs that broke it.
	Runs       int   `json:"runs"`
	Broken     int   `json:"broken"`
	Violations int64 `json:"violations"`
	// Occasions is the exposure of the runs that held the cell, in all.
	Occasions int64 `json:"occasions"`
	// Exercised: the workload and the faults of some run can expose the cell.
	Exercised bool `json:"-"`
}

// Across sums up the findings of runs on cell, see [Cells.Touched].
func Across(runs []Cells, cell lockbench.Cell) Runs {
	s := Runs{Verdict: NotApplicable}
	for i, c := range runs {
		f := c.Touched(cell)
		if i == 0 || f.Verdict.Graver(s.Verdict) {
			s.Verdict = f.Verdict
		}
		s.Claimed = s.Claimed || f.Claimed
		s.Exercised = s.Exercised || f.Exercised
		s.Occasions += c.HeldOn(cell)
		if f.Verdict == Held || f.Verdict == Broken {
			s.Runs++
			s.Violations += f.Violations
		}
		if f.Verdict == Broken {
			s.Broken++
		}
	}
	return s
}

// String returns the counts in words, as "broken in 3 of 10 runs".
func (s Runs) String() string {
	switch s.Verdict {
	case Broken:
		return fmt.Sprintf("broken in %d of %s", s.Broken, countRuns(s.Runs))
	case Held:
		return "held in " + countRuns(s.Runs)
	}
	return s.Verdict.String()
}

func countRuns(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}
