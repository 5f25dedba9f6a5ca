package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls/commands"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// rerun runs the schedule in a file again, and writes the result.
func (o *exploreOptions) rerun(cmd *cobra.Command, designs []string) (results.Result, error) {
	if err := onlyReplay(cmd.Flags(), designs); err != nil {
		return results.Result{}, err
	}
	given, err := o.commands.with(cmd.Context(), nil, true)
	if err != nil {
		return results.Result{}, err
	}
	out, err := o.out.parse(explorationOutputs)
	if err != nil {
		return results.Result{}, err
	}
	file, cfg, err := o.readReplay(given)
	if err != nil {
		return results.Result{}, err
	}
	thresholds, err := o.gate.thresholds(thresholds.Explored)
	if err != nil {
		return results.Result{}, err
	}
	if err := inScope(thresholds, []string{cfg.Design.Name}); err != nil {
		return results.Result{}, err
	}
	run, err := exploring.Rerun(cmd.Context(), o.replay, file, cfg)
	if err != nil {
		return results.Result{}, err
	}
	r := results.NewExploration([]results.Explored{run}, nil)
	r.GateExplored(thresholds)
	return r, out.write(cmd.OutOrStdout(), &r, explorationOutputs, nil)
}

// onlyReplay refuses flags and arguments for settings that a replay file has.
func onlyReplay(f *pflag.FlagSet, designs []string) error {
	if len(designs) > 0 {
		return fmt.Errorf("%s: the replay file names the design; hint: leave it out", strings.Join(designs, " "))
	}
	return refuseUnused("replay", f, "replay", "take", "free", "extend", "adapter", "claims", "out", "fail-if", "quiet")
}

// readReplay reads the file of --replay. Its design may be one of those that flags give; that of an adapter
// must be, because a file of somebody else is not to start programs.
func (o *exploreOptions) readReplay(given []design.Design) (explore.Replay, explore.Config, error) {
	var file explore.Replay
	var cfg explore.Config
	f, err := os.Open(o.replay)
	if err != nil {
		return file, cfg, fmt.Errorf("--replay %w; hint: lockbench explore --save DIR writes replays", err)
	}
	defer f.Close()
	if file, err = explore.ReadReplay(f); err == nil {
		cfg, err = file.Config()
	}
	if err == nil {
		definition := cfg.Design.Definition
		i := slices.IndexFunc(given, func(d design.Design) bool {
			return d.Name == cfg.Design.Name || d.Definition == definition && definition != ""
		})
		switch {
		case i >= 0:
			definition = given[i].Definition
		case definition != "" && cfg.Design.Name != commands.Name:
			return file, cfg, fmt.Errorf("--replay %s: its lock %s is an adapter; hint: --adapter and the command that starts it", o.replay, cfg.Design.Name)
		}
		cfg.Design, err = exploring.FindDesign(cfg.Design.Name, definition)
	}
	if err != nil {
		return file, cfg, fmt.Errorf("--replay %s: %w", o.replay, err)
	}
	cfg.Design, err = runner.Claiming(cfg.Design, o.claims...)
	return file, cfg, err
}
