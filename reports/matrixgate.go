package reports

import (
	"strings"

	"github.com/lockbench/lockbench/results"
)

// matrixGated returns m in the form in which results show thresholds: its exit code and
// thresholds, and a run for each design, without findings.
func matrixGated(m *results.Matrix) *summary {
	r := m.AsResult()
	return resultSummary(&r)
}

// failedToo lists the failed thresholds, if the exit code is about something else.
func failedToo(m *results.Matrix) string {
	if failed := matrixGated(m).failures(); len(failed) > 0 {
		return "; thresholds failed too: " + strings.Join(failed, "; ")
	}
	return ""
}
