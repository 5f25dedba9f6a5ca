package results

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/wholefile"
)

// Replay is the value of [Coverage.Strategy] for an exploration that repeats one schedule.
const Replay = "replay"

// Replays writes the schedules of the findings of r that match into the directory dir, which it
// creates if necessary: one file per design and cell, with the shortest schedule of its scenarios.
// It sets [Schedule.File] of each. It returns the first error of the file system.
func Replays(dir string, r Result, match func(Finding) bool) error {
	merged := byDesign(r)
	for i := range merged.Runs {
		run := &merged.Runs[i]
		for _, cell := range run.Cells.Sorted() {
			f := run.Cells.At(cell)
			if f.Schedule == nil || f.Schedule.Replay == "" || !match(f) {
				continue
			}
			if err := f.Schedule.save(filepath.Join(dir, ReplayName(run.Design, cell))); err != nil {
				return err
			}
		}
	}
	return nil
}

// HasSchedule reports whether r has a finding that matches and has a schedule.
func HasSchedule(r Result, match func(Finding) bool) bool {
	for i := range r.Runs {
		for _, f := range r.Runs[i].Cells.All() {
			if f.Schedule != nil && match(f) {
				return true
			}
		}
	}
	return false
}

// ReplayName returns the file name of the schedule that breaks cell.
func ReplayName(design string, cell lockbench.Cell) string {
	return fmt.Sprintf("%s.%s.replay", FileName(design), FileName(cell.String()))
}

func (s *Schedule) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the directory for replays: %w", err)
	}
	err := wholefile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, s.Replay)
		return err
	})
	if err == nil {
		s.File = path
	}
	return err
}
