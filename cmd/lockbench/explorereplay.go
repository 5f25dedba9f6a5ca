package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/bubble"
	"github.com/lockbench/lockbench/internal/thresholds"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/runner"
)

// rerun runs a schedule again, as its file says, and writes the result.
func (o *exploreOptions) rerun(cmd *cobra.Command, designs []string) (reports.Result, error) {
	if err := onlyReplay(cmd.Flags(), designs); err != nil {
		return reports.Result{}, err
	}
	out, err := parseOutputs(o.out, exploreOutputs)
	if err != nil {
		return reports.Result{}, err
	}
	file, cfg, err := o.readReplay()
	if err != nil {
		return reports.Result{}, err
	}
	thresholds, err := o.gate.thresholds(thresholds.Explored)
	if err != nil {
		return reports.Result{}, err
	}
	if err := inScope(thresholds, []string{cfg.Design.Name}); err != nil {
		return reports.Result{}, err
	}
	run, err := o.replayed(cmd, file, cfg)
	if err != nil {
		return reports.Result{}, err
	}
	r := reports.NewExploration([]reports.Explored{run}, nil)
	r.GateExplored(thresholds)
	return r, out.writeExploration(cmd.OutOrStdout(), r)
}

// onlyReplay refuses what a replay file says itself.
func onlyReplay(f *pflag.FlagSet, designs []string) error {
	if len(designs) > 0 {
		return fmt.Errorf("%s: a replay names its design itself; hint: leave it out", strings.Join(designs, " "))
	}
	return unusedBeside("replay", f, "replay", "claims", "out", "fail-if", "quiet")
}

func (o *exploreOptions) readReplay() (explore.Replay, explore.Config, error) {
	var file explore.Replay
	var cfg explore.Config
	f, err := os.Open(o.replay)
	if err != nil {
		return file, cfg, fmt.Errorf("--replay %w; hint: lockbench explore --save DIR writes replays", err)
	}
	defer f.Close()
	var name string
	if file, err = explore.ReadReplay(f); err == nil {
		cfg, name, err = file.Config()
	}
	if err == nil {
		cfg.Design, err = findDesign(name)
	}
	if err != nil {
		return file, cfg, fmt.Errorf("--replay %s: %w", o.replay, err)
	}
	cfg.Design, err = runner.Claiming(cfg.Design, o.claims...)
	return file, cfg, err
}

// replayed runs the schedule. That it does not go as the file says is no defect of
// ours but a change of the design, or of its settings, since it was found.
func (o *exploreOptions) replayed(cmd *cobra.Command, file explore.Replay, cfg explore.Config) (reports.Explored, error) {
	job := bubble.Job{Config: explore.Config{Design: design.Design{Name: cfg.Design.Name, Claims: cfg.Design.Claims}}, Replay: file}
	result, err := bubble.Run(cmd.Context(), job, func(explore.Progress) {})
	var failure *bubble.Failure
	if err != nil && !errors.As(err, &failure) {
		return reports.Explored{}, fmt.Errorf("--replay %s: %w", o.replay, err)
	}
	run := explored(cfg, result)
	run.Err = err
	run.Coverage.Strategy, run.Coverage.Stopped = reports.Replay, ""
	for cell, s := range run.Schedules {
		s.File = o.replay
		run.Schedules[cell] = s
	}
	for cell, w := range result.Counterexamples { // one, where the file says what it breaks
		_, was := file.Breaks()
		if old := file.Translated(); old != "" {
			run.Notes = append(run.Notes, fmt.Sprintf("%s says %s, a name of before: here it is %s", o.replay, old, cell))
		}
		run.Notes = append(run.Notes, replayNote(o.replay, cell, was, w.Verdict))
	}
	if len(result.Defects) > 0 {
		run.Err = errors.Join(run.Err, fmt.Errorf("it does not go as recorded: %s", strings.Join(result.Defects, "; ")))
		run.Verdicts.Defects = nil
	}
	return run, nil
}

// replayNote says whether the schedule still shows what its file says.
func replayNote(file string, cell lockbench.Cell, was, is checker.Verdict) string {
	switch {
	case is != was:
		return fmt.Sprintf("%s says that %s is %s; it is %s", file, cell, was, is)
	case is == checker.Broken:
		return fmt.Sprintf("still breaks %s, as %s says", cell, file)
	}
	return fmt.Sprintf("%s is still %s, as %s says", cell, is, file)
}
