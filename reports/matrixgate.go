package reports

import (
	"strings"

	"github.com/lockbench/lockbench/internal/results"
)

// matrixGated is m as thresholds are shown of results: its exit code and thresholds, and a run for
// each design, without what was found of it.
func matrixGated(m *results.Matrix) *summary {
	r := m.AsResult()
	return resultSummary(&r)
}

// failedToo says which thresholds failed beside what the exit code is about.
func failedToo(m *results.Matrix) string {
	if failed := matrixGated(m).failures(); len(failed) > 0 {
		return "; thresholds failed too: " + strings.Join(failed, "; ")
	}
	return ""
}
