package reports

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench"
)

// Replay is the strategy of running one schedule again.
const Replay = "replay"

// Replays writes the schedules of r that match into the directory dir, which it
// makes: one file per design and guarantee, the shortest of its scenarios. From
// then on the schedules know their files. It returns the first error of the file
// system.
func Replays(dir string, r Result, match func(Guarantee) bool) error {
	merged := byDesign(r)
	for i := range merged.Runs {
		run := &merged.Runs[i]
		for _, info := range lockbench.Guarantees() {
			g := run.Guarantees[info.Name]
			if g.Schedule == nil || g.Schedule.Replay == "" || !match(g) {
				continue
			}
			if err := g.Schedule.save(filepath.Join(dir, replayName(run.Design, info.Name))); err != nil {
				return err
			}
		}
	}
	return nil
}

// Shows tells whether r has a guarantee that matches, with a schedule.
func Shows(r Result, match func(Guarantee) bool) bool {
	for i := range r.Runs {
		for _, g := range r.Runs[i].Guarantees {
			if g.Schedule != nil && match(g) {
				return true
			}
		}
	}
	return false
}

func replayName(design string, g lockbench.Guarantee) string {
	return fmt.Sprintf("%s.%s.replay", FileName(design), g)
}

func (s *Schedule) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the directory for replays: %w", err)
	}
	err := toFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, s.Replay)
		return err
	})
	if err == nil {
		s.File = path
	}
	return err
}
