package reports

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// TestMachines checks the table of the machines of a run, and that a run of one machine has none.
func TestMachines(t *testing.T) {
	acquire := results.Latency{Count: 10, P50: 2e6, P99: 30e6, Max: 400e6}
	behind, busy, idle := (-1500 * time.Millisecond).Nanoseconds(), 0.95, 0.4
	run := results.Run{RunSettings: results.RunSettings{Design: "a/b", Machines: []results.Machine{
		{Number: 1, Name: "one", GrantsPerS: 805, Acquire: acquire, Breaches: 6, AheadNS: &behind, Busy: &busy},
		{Number: 2, GrantsPerS: 20, Acquire: acquire, AheadNS: new(int64), Busy: &idle},
		{Number: 3},
	}}}
	s := &summary{result: &results.Result{Runs: []results.Run{run}}}
	var got [][]document.Value
	for _, row := range s.machines().Rows {
		got = append(got, append([]document.Value{{Text: row.Name}}, row.Cells...))
	}
	text := func(texts ...string) (row []document.Value) {
		for _, x := range texts {
			row = append(row, document.Value{Text: x})
		}
		return row
	}
	saturated := text("a/b, 1 one", "805", "2ms", "30ms", "400ms", "6", "-1.5s", "95%")
	saturated[7].Tone = document.Weak
	want := [][]document.Value{saturated, text("a/b, 2", "20", "2ms", "30ms", "400ms", "0", "0ms", "40%"), text("a/b, 3", "-", "-", "-", "-", "0", "?", "?")}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	s.result.Runs[0].Machines = run.Machines[:1]
	if rows := s.machines().Rows; len(rows) > 0 {
		t.Errorf("a run of one machine has a table of %d", len(rows))
	}
}
