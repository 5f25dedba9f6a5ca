package reports

import (
	"strings"

	"github.com/lockbench/lockbench/results"
)

// matrixResult returns a result with the exit code and the thresholds of m, in which a reading finds
// its design as in any result: it has a run for each row, without findings.
func matrixResult(m *results.Matrix) results.Result {
	r := results.Result{Exit: m.Exit, Thresholds: m.Thresholds}
	for i := range m.Rows {
		r.Runs = append(r.Runs, results.Run{RunSettings: results.RunSettings{Design: m.Rows[i].Design}})
	}
	return r
}

// matrixGated returns the summary of [matrixResult], which shows thresholds.
func matrixGated(m *results.Matrix) *summary {
	r := matrixResult(m)
	return resultSummary(&r)
}

// failedToo lists the failed thresholds, if the exit code is about something else.
func failedToo(m *results.Matrix) string {
	if failed := matrixGated(m).failures(); len(failed) > 0 {
		return "; thresholds failed too: " + strings.Join(failed, "; ")
	}
	return ""
}
