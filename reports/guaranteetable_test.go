package reports

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/reports/internal/markdown"
	"github.com/lockbench/lockbench/reports/internal/terminal"
)

// found returns a finding in the form of results.
func found(f checker.CellFinding) results.Finding {
	return results.New([]results.Judged{{Verdicts: checker.Result{Findings: []checker.CellFinding{f}}}}, nil).Runs[0].Cells.At(f.Cell)
}

// manyConditions returns a design that met nearly all conditions.
func manyConditions() results.Cells {
	stateLoss, failover, skewed := lockbench.StateLoss, lockbench.Failover, lockbench.Skew
	outlived := found(broken(overrun, false, 40, 52))
	outlived.Measures = map[string]float64{"overlap_count": 40, "overlap_max_ns": 249e6}
	foreign := lockbench.LossReported.At(lockbench.LostReply)
	other := broken(foreign, true, 3, 4)
	other.Questions = checker.ByQuestion{checker.ToldWrong: 1, checker.TooShort: 2}
	return results.NewCells(map[lockbench.Cell]results.Finding{
		exclusive:                         found(held(exclusive, 412_233)),
		lease:                             found(held(lease, 51_222)),
		lockbench.Fencing.At(0):           {Finding: checker.Finding{Verdict: checker.NotApplicable}},
		lockbench.Effects.At(0):           {Finding: checker.Finding{Verdict: checker.NotApplicable}},
		lockbench.NoSpuriousRefusal.At(0): found(held(lockbench.NoSpuriousRefusal.At(0), 9113)),
		overrun:                           outlived,
		told:                              found(held(told, 1204)),
		crashed:                           found(held(crashed, 310)),
		lockbench.LeaseKept.At(lockbench.Crash | lockbench.LostReply): found(held(lockbench.LeaseKept.At(lockbench.Crash|lockbench.LostReply), 52)),
		foreign:                           found(other),
		lockbench.Answers.At(skewed):      {Finding: checker.Finding{Exercised: true}},
		lockbench.Exclusion.At(stateLoss): found(broken(lockbench.Exclusion.At(stateLoss), true, 7, 512)),
		lockbench.LeaseKept.At(stateLoss): found(broken(lockbench.LeaseKept.At(stateLoss), false, 3, 9)),
		// Neither by itself breaks this.
		lockbench.LeaseKept.At(failover | skewed): found(broken(lockbench.LeaseKept.At(failover|skewed), true, 1, 8)),
		// The loss of its data by itself does.
		lockbench.Exclusion.At(stateLoss | skewed): found(broken(lockbench.Exclusion.At(stateLoss|skewed), true, 2, 3)),
	})
}

func textOf(t *document.Table, width int) string {
	var buf bytes.Buffer
	_ = terminal.Blocks(&buf, []document.Block{t}, terminal.Options{Width: width}) // to memory
	return buf.String()
}

// TestGuaranteeTable checks the table of one design.
func TestGuaranteeTable(t *testing.T) {
	for _, c := range []struct {
		name     string
		cells    results.Cells
		explored bool
		want     map[string][]string // by row
	}{
		{"nothing", results.Cells{}, false, map[string][]string{"nothing goes wrong": {"-", "-", "-", "-", "-"}}},
		{"many conditions", manyConditions(), false, map[string][]string{
			"nothing goes wrong":              {"ok 412,233", "-", "ok 51,222", "ok 9,113", "not tried"},
			"holder outlives its lease":       {"by 249ms", "-", "not tried", "not tried", "ok 1,204"},
			"process dies":                    {"not tried", "-", "weak 52", "ok 310", "not tried"},
			"reply is lost":                   {"not tried", "-", "BROKEN 2/4", "not tried", "BROKEN 1/4"},
			"clocks are off":                  {"not tried", "-", "not tried", "not tried", "not tried"},
			"server loses its data":           {"BROKEN 7/512", "-", "broken 3/9", "not tried", "not tried"},
			"primary is lost":                 {"not tried", "-", "not tried", "not tried", "not tried"},
			"clocks are off, primary is lost": {"not tried", "-", "BROKEN 1/8", "not tried", "not tried"},
		}},
		{"explored", results.NewCells(map[lockbench.Cell]results.Finding{exclusive: found(held(exclusive, 5)), lease: found(broken(lease, true, 3, 9))}), true, map[string][]string{
			"nothing goes wrong": {"ok 5", "not tried", "BROKEN 3", "not tried", "not tried"},
		}},
		{"a lock broken on purpose was not caught", results.NewCells(map[lockbench.Cell]results.Finding{exclusive: {Finding: checker.Finding{Claimed: true, Exercised: true, Exposure: 400}}}), false, map[string][]string{
			"nothing goes wrong": {"weak 400", "not tried", "not tried", "not tried", "not tried"},
		}},
		{"work past a lease only", results.NewCells(map[lockbench.Cell]results.Finding{overrun: {Finding: checker.Finding{Verdict: checker.Broken, Violations: 2, Exposure: 3, Measures: map[string]float64{"overlap_count": 2, "overlap_max_ns": 1e6}}}}), false, map[string][]string{
			"nothing goes wrong":        {"not tried", "not tried", "not tried", "not tried", "not tried"},
			"holder outlives its lease": {"by 1ms", "not tried", "not tried", "not tried", "not tried"},
		}},
		{"two within their validity, too", results.NewCells(map[lockbench.Cell]results.Finding{overrun: {Finding: checker.Finding{Verdict: checker.Broken, Violations: 3, Exposure: 3, Measures: map[string]float64{"overlap_count": 2, "overlap_max_ns": 1e6}}}}), false, map[string][]string{
			"nothing goes wrong":        {"not tried", "not tried", "not tried", "not tried", "not tried"},
			"holder outlives its lease": {"broken 3/3", "not tried", "not tried", "not tried", "not tried"},
		}},
		{"an overlap that is claimed", results.NewCells(map[lockbench.Cell]results.Finding{overrun: {Finding: checker.Finding{Verdict: checker.Broken, Claimed: true, Violations: 2, Against: 2, Exposure: 3, Measures: map[string]float64{"overlap_max_ns": 1e6}}}}), false, map[string][]string{
			"nothing goes wrong":        {"not tried", "not tried", "not tried", "not tried", "not tried"},
			"holder outlives its lease": {"BROKEN 2/3", "not tried", "not tried", "not tried", "not tried"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.cells.IsZero() {
				for _, g := range lockbench.Guarantees() {
					c.cells.Set(g.Name.At(0), results.Finding{Finding: checker.Finding{Verdict: checker.NotApplicable}})
				}
			}
			got := make(map[string][]string)
			for _, r := range (designCells{Cells: c.cells, label: "d/v", explored: c.explored}).table().Rows {
				for _, cell := range r.Cells {
					got[r.Name] = append(got[r.Name], cell.Text)
				}
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("rows (-got +want):\n%s", diff)
			}
		})
	}
}

// TestTables shows tables in terminals and in Markdown, and checks that they fit eighty
// columns, or the terminal.
func TestTables(t *testing.T) {
	one := designCells{Cells: manyConditions(), label: "hash-reentrant/watchdog"}
	table := one.table()
	several := designTable([]designCells{one, {Cells: results.NewCells(map[lockbench.Cell]results.Finding{exclusive: found(held(exclusive, 5))}), label: "a/b"}})
	all := ""
	for _, c := range []struct {
		table *document.Table
		width int
	}{{&table, 0}, {&table, 200}, {&table, 60}, {&several, 0}, {&several, 50}} {
		text := textOf(c.table, c.width)
		limit := 80
		if c.width > 0 {
			limit = min(limit, c.width)
		}
		drawn, _, _ := strings.Cut(text, "\n\n"+c.table.Notes[0])
		for line := range strings.Lines(drawn) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > limit {
				t.Errorf("%d columns, want %d at most: %s", n, limit, line)
			}
		}
		all += text + "\n"
	}
	var page bytes.Buffer
	_ = markdown.Write(&page, &document.Document{Blocks: []document.Block{&table}}) // to memory
	golden(t, "tables.txt", []byte(all+page.String()))
}

// TestReason checks that the reason of an exception comes first.
func TestReason(t *testing.T) {
	claims := parsed("exclusion @crash", "-exclusion@failover: a majority forgets", "-lease@failover: so do leases")
	for cell, want := range map[lockbench.Cell]string{
		exclusive: "", lockbench.Exclusion.At(lockbench.Crash): "",
		lockbench.Exclusion.At(lockbench.Failover):                   "a majority forgets",
		lockbench.Exclusion.At(lockbench.Failover | lockbench.Crash): "a majority forgets",
		lockbench.Exclusion.At(lockbench.Skew):                       "exclusion is not claimed under skew",
		lockbench.LeaseKept.At(lockbench.Failover):                   "lease is not claimed at all",
	} {
		if got := results.Reason(&claims, cell); got != want {
			t.Errorf("%s: got %q, want %q", cell, got, want)
		}
	}
}
