package main

import (
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/results"
)

// TestSavedSchedules runs every schedule of the saved matrix again: each still breaks the
// cell that the matrix names. It is not parallel: each bubble begins with collections of garbage,
// which take a second and more beside tests that are busy, and after those that make thousands of
// commands, whose flags cobra keeps.
func TestSavedSchedules(t *testing.T) {
	m, n := openMatrix(t), 0
	for i := range m.Rows {
		for cell, schedule := range breaches(&m.Rows[i]) {
			n++
			t.Run(m.Rows[i].Design+" "+cell.String(), func(t *testing.T) { stillBreaks(t, schedule.Replay, cell) })
		}
	}
	if n < 30 {
		t.Errorf("the matrix has %d schedules, want 30 at least", n)
	}
}

// breaches returns the schedules of explore that broke a design.
func breaches(r *results.MatrixRow) map[lockbench.Cell]*results.Schedule {
	found := make(map[lockbench.Cell]*results.Schedule)
	for i := range r.Parts {
		cells := r.Parts[i].Cells
		for _, cell := range cells.With(checker.Broken) {
			if s := cells.Shown[cell].Schedule; s != nil {
				found[cell] = s
			}
		}
	}
	return found
}

func stillBreaks(t *testing.T, text string, cell lockbench.Cell) {
	t.Helper()
	file := explore.Replay{Text: []byte(text)}
	cfg, err := file.Config()
	if err != nil {
		t.Fatal(err)
	}
	d, err := exploring.FindDesign(cfg.Design.Name, "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := explore.Rerun(t.Context(), bubble.New(t), d, file)
	if verdict := (checker.Result{Findings: got.Findings}).Find(cell).Verdict; err != nil || len(got.Defects) > 0 || verdict != checker.Broken {
		t.Errorf("%s is %v, error %v, defects %q; want it broken as ever:\n%s", cell, verdict, err, got.Defects, text)
	}
}
