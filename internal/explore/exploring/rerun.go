package exploring

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/results"
)

// Rerun runs the schedule of a replay file again. If the schedule takes a different course than in
// the file, the design or its settings changed since then; that is not a defect of lockbench.
func Rerun(ctx context.Context, name string, file explore.Replay, cfg explore.Config) (results.Explored, error) {
	job := bubble.Job{Config: explore.Config{Design: design.Design{Name: cfg.Design.Name, Definition: cfg.Design.Definition, Claims: cfg.Design.Claims}}, Replay: file}
	result, err := bubble.Run(ctx, job, func(explore.Progress) {})
	var failure *bubble.Failure
	if err != nil && !errors.As(err, &failure) {
		return results.Explored{}, fmt.Errorf("--replay %s: %w", name, err)
	}
	run := Explored(cfg, result)
	run.Err = err
	run.Coverage.Strategy, run.Coverage.Stopped = results.Replay, ""
	for cell, s := range run.Schedules {
		s.File = name
		run.Schedules[cell] = s
	}
	for cell, w := range result.Counterexamples { // there is at most one, since the file names one breach
		_, was := file.Breaks()
		run.Notes = append(run.Notes, replayNote(name, cell, was, w.Verdict))
	}
	if len(result.Defects) > 0 {
		run.Err = errors.Join(run.Err, fmt.Errorf("it does not go as recorded: %s", strings.Join(result.Defects, "; ")))
		run.Verdicts.Defects = nil
	}
	return run, nil
}

// replayNote returns a note on whether the schedule still gives the verdict in its file.
func replayNote(file string, cell lockbench.Cell, was, is checker.Verdict) string {
	switch {
	case is != was:
		return fmt.Sprintf("%s says that %s is %s; it is %s", file, cell, was, is)
	case is == checker.Broken:
		return fmt.Sprintf("still breaks %s, as %s says", cell, file)
	}
	return fmt.Sprintf("%s is still %s, as %s says", cell, is, file)
}
