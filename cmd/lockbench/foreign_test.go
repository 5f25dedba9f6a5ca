package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignFilesByCommand checks that lockbench check gives the verdicts, exit codes
// and notes that runner.TestForeignFiles expects of the same files.
func TestForeignFilesByCommand(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "checker", "testdata", "foreign")
	golden, err := os.ReadFile(filepath.Join(folder, "golden.txt"))
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(golden), "-- ")[1:]
	for _, section := range sections {
		name, want, _ := strings.Cut(section, " --\n")
		out := filepath.Join(t.TempDir(), "check.json")
		var stdout, stderr bytes.Buffer
		exit := execute(t.Context(), []string{"check", filepath.Join(folder, name), "--out", "json=" + out}, &stdout, &stderr)
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, &stderr)
		}
		var report struct {
			Runs []struct {
				Cells  map[string]checkedCell
				Counts struct{ Ops, Grants, Refused, Unknown, Failed, Lost, Unjudged int64 }
				Notes  []string
			}
		}
		if err := json.Unmarshal(text, &report); err != nil || len(report.Runs) != 1 {
			t.Fatalf("%s: %v, %d runs", name, err, len(report.Runs))
		}
		untold := strings.Contains(name, "untold")
		if says := strings.Contains(stdout.String(), "granted a lease that the history does not tell"); says != untold || strings.Contains(stdout.String(), "1ns") {
			t.Errorf("%s: a lease that is not told is shown as such: %t, want %t, and no lease of 1ns:\n%s", name, says, untold, &stdout)
		}
		run := report.Runs[0]
		lines := []string{fmt.Sprintf("ops %d, grants %d, refused %d, unknown %d, failed %d, lost %d, unjudged %d, breaches ",
			run.Counts.Ops, run.Counts.Grants, run.Counts.Refused, run.Counts.Unknown, run.Counts.Failed, run.Counts.Lost, run.Counts.Unjudged),
			fmt.Sprintf(", exit %d\n", exit)}
		for cell, f := range run.Cells {
			lines = append(lines, fmt.Sprintf("\n%s: %s, %d of %d, %d against the claims\n", cell, f.Verdict, f.Violations, f.Exposure, f.Against))
		}
		for _, note := range run.Notes {
			lines = append(lines, "note: "+note+"\n")
		}
		for _, line := range lines {
			if !strings.Contains(want, line) {
				t.Errorf("%s: %q is not in golden.txt", name, line)
			}
		}
		if cells := strings.Count(want, "against the claims"); cells != len(run.Cells) {
			t.Errorf("%s: %d cells, golden.txt has %d", name, len(run.Cells), cells)
		}
	}
	if len(sections) < 12 {
		t.Errorf("%d files, want 12 at least", len(sections))
	}
}

// A checkedCell is one cell of a report.
type checkedCell struct {
	Verdict                       string
	Violations, Exposure, Against int64
}
