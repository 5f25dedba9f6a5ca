package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// csvColumns are the columns of a run after its design. A figure that was not measured is empty.
var csvColumns = []struct {
	name  string
	value func(*results.Run) string
}{
	{"clients", func(r *results.Run) string { return results.Setting(r.Params, "clients") }},
	{"keys", func(r *results.Run) string { return results.Setting(r.Params, "keys") }},
	{"grants_per_s", func(r *results.Run) string { return decimal(r.GrantsPerS) }},
	{"acquire_p50_ns", nanoseconds("acquire", p50)},
	{"acquire_p99_ns", nanoseconds("acquire", p99)},
	{"handoff_p50_ns", nanoseconds("handoff", p50)},
	{"handoff_p99_ns", nanoseconds("handoff", p99)},
	{"refused_share", func(r *results.Run) string { return decimal(refusedShare(r)) }},
	{"attempts_per_grant", func(r *results.Run) string { return decimal(r.Attempts) }},
	{"commands_per_grant", func(r *results.Run) string { return decimal(r.Commands) }},
	{"jain", jain},
	{"broken_claims", brokenClaims},
}

func nanoseconds(op string, pick func(results.Latency) int64) func(*results.Run) string {
	return func(r *results.Run) string {
		if r.Latency[op].Count == 0 {
			return ""
		}
		return strconv.FormatInt(pick(r.Latency[op]), 10)
	}
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

func refusedShare(r *results.Run) float64 {
	if all := r.Counts.Grants + r.Counts.Refused; all > 0 {
		return float64(r.Counts.Refused) / float64(all)
	}
	return 0
}

// jain returns Jain's fairness index of the clients' grants, empty if unknown.
func jain(r *results.Run) string {
	if r.Fairness.Jain > 0 {
		return fmt.Sprintf("%g", r.Fairness.Jain)
	}
	return ""
}

// brokenClaims returns the names of the cells that fail the run.
func brokenClaims(r *results.Run) string {
	names := r.Cells.Failing()
	return strings.ReplaceAll(list(names), ",", "")
}

// writeCSV writes the runs as comma-separated values below a header. It returns the first error of
// w.
func writeCSV(w io.Writer, r *results.Result) error {
	head := []string{"design"}
	for _, c := range csvColumns {
		head = append(head, c.name)
	}
	rows := [][]string{head}
	label := results.Label{Workloads: newLabel(r.Runs).Workloads}
	for i := range r.Runs {
		row := []string{label.Of(&r.Runs[i])}
		for _, c := range csvColumns {
			row = append(row, c.value(&r.Runs[i]))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}
