package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/results"
)

// ExplorationGist describes the result for a design in a few words.
func ExplorationGist(runs []results.Explored) string {
	var schedules int64
	var broken []lockbench.Cell
	for i := range runs {
		if runs[i].Err != nil {
			return runs[i].Header.Workload + ": " + runs[i].Err.Error()
		}
		schedules += runs[i].Coverage.Schedules
		broken = append(broken, runs[i].Verdicts.Cells().With(checker.Broken)...)
	}
	s := fmt.Sprintf("%d schedules", schedules)
	if len(broken) > 0 {
		slices.SortFunc(broken, lockbench.Cell.Compare)
		s += ", broke " + CellNames(slices.Compact(broken))
	}
	return s
}

// CellNames lists cells, separated by commas, and shortens a long list.
func CellNames(cells []lockbench.Cell) string {
	const shown = 6
	var names []string
	for i, cell := range cells {
		if i == shown && len(cells) > shown+1 {
			names = append(names, fmt.Sprintf("%d more", len(cells)-shown))
			break
		}
		names = append(names, cell.String())
	}
	return strings.Join(names, ", ")
}
