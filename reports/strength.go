package reports

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/results"
)

// weak reports whether a claim held under an injected fault, but on too few occasions to show that
// it breaks on fewer than one in a hundred.
func weak(run *results.Run, cell lockbench.Cell, f checker.Finding) bool {
	return run.Exploration == nil && len(run.Faults) > 0 && cell.Under.Count() == 1 && cell.Under != lockbench.Outlived &&
		f.Claimed && f.Exercised && f.Verdict == checker.Held && run.Cells.Touched(cell).Exposure < enough
}

// weakClaims returns the weak claims of all runs as the end of a sentence; empty for none.
func (s *summary) weakClaims() string {
	var all []string
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		names := run.Cells.Names(func(cell lockbench.Cell, f checker.Finding) bool { return weak(run, cell, f) })
		for _, cell := range names {
			n := run.Cells.Touched(cell).Exposure
			all = append(all, fmt.Sprintf("%s: %s held on %s only", s.label.Of(run), cell, figures.Plural(n, "occasion")))
		}
	}
	if more := len(all) - fewRuns; more > 0 {
		all = append(all[:fewRuns], fmt.Sprintf("%d more are weak", more))
	}
	if len(all) == 0 {
		return ""
	}
	return "; weak: " + strings.Join(all, ", ")
}

// strengthProperties returns the strength of each cell of a live run as properties of a test suite:
// "ok 412,233", "weak 4", "broken 7/512".
func strengthProperties(run *results.Run) (all [][2]string) {
	if run.Exploration != nil {
		return nil
	}
	for _, cell := range run.Cells.Sorted() {
		if _, text := strengthOf(shownFinding(run.Cells, cell), false); text != "" {
			all = append(all, [2]string{cell.String() + ".strength", text})
		}
	}
	return all
}
