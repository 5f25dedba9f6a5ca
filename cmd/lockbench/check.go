package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/evidence"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// checkOptions are the flags of check.
type checkOptions struct {
	evidence evidence.Options
	out      outFlags
	claims   []string
	gate     gateOptions
	// join joins the judgements of histories; nil leaves them apart.
	join     func([]results.Judged) ([]results.Judged, error)
	together bool
}

func newCheck() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check FILE|FOLDER...",
		Short: "Judge saved histories again, without a server",
		Long: `check judges histories that run --history saved, and histories of other programs. It reads
lockbench's own format, JSON Lines and Jepsen's EDN, and recognizes them by content. Of a folder
it judges the histories that run --history saved there (*.lbh), not those in folders below. The
verdicts and the exit code equal those of the run. With several files, a broken claim (1)
outweighs an inconclusive result (3), which outweighs a failed threshold (4).

A history that is cut short or damaged is judged up to its last whole block and reported as
partial. It is inconclusive, unless a claim is broken before the damage.

A history without claims is judged by the claims that a lease lock on one server can keep: all
guarantees but reentrancy, under all conditions but state-loss, failover and work past the
lease. The conclusion on such a lock rests on its history alone.

With --together the histories are of machines that used the same keys at the same time, one each.
Exclusion is judged between all of them, by what their histories say of the machines' clocks; no
other guarantee is. A pair of holds that is closer than the clocks are known is counted, and is
neither held nor broken.`,
		Example: `  lockbench check histories
  lockbench check --claims exclusion,owner-release jepsen/history.edn
  lockbench check --claims +exclusion@failover,-recovery@cancel histories/*.lbh`,
		Args: someHistory,
		RunE: func(cmd *cobra.Command, files []string) error { return o.check(cmd, files) },
	}
	o.flags(cmd.Flags())
	cmd.Flags().BoolVar(&o.together, "together", false, "judge exclusion between the histories of machines that used the same keys at the same time, by bounds on their clocks")
	return cmd
}

func (o *checkOptions) flags(f *pflag.FlagSet) {
	o.out.addWithEvidence(f, runOutputs)
	o.gate.flags(f)
	evidenceFlags(f, &o.evidence)
	claimsFlag(f, &o.claims, "the history")
}

func newMerge() *cobra.Command {
	o := checkOptions{join: runner.Join}
	cmd := &cobra.Command{
		Use:   "merge FILE|FOLDER...",
		Short: "Join the histories of a run that several machines made",
		Long: `merge judges the histories that run --share saved on several machines, each by its own clock, and
joins them to one result. Verdicts, counts and rates are of all machines together, and percentiles
are of all durations. Keys are divided among the machines by group, so that all clients of a key
are in one history: no clock is compared with another. Histories of run --shared-keys are judged as
check --together does.

Several designs can be joined at once. All parts of a run are needed: without one, the result is
inconclusive (3), unless a claim is broken (1).`,
		Example: `  lockbench run --groups 4 --keys 8 --server redis://10.0.0.9:6379 --seed 1 --share 1/2 --history a
  lockbench run --groups 4 --keys 8 --server redis://10.0.0.9:6379 --seed 1 --share 2/2 --history b
  lockbench merge a b`,
		Args: someHistory,
		RunE: func(cmd *cobra.Command, files []string) error { return o.check(cmd, files) },
	}
	o.flags(cmd.Flags())
	return cmd
}

func someHistory(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no history given; hint: name one or more files")
	}
	return nil
}

func (o *checkOptions) check(cmd *cobra.Command, files []string) error {
	defer endsAtOnce(cmd)()
	out, err := o.out.parse(runOutputs)
	if err != nil {
		return err
	}
	thresholds, err := o.gate.thresholds(thresholds.Live)
	if err != nil {
		return err
	}
	if err := runner.CheckClaims(o.claims...); err != nil {
		return err
	}
	request, err := o.evidence.Parse()
	if err != nil {
		return err
	}
	if files, err = expanded(files); err != nil {
		return err
	}
	logs := newIntervalLogs(out.hlog())
	judge, join := judgeAll, o.join
	if o.together || join != nil && runner.SharesKeys(files[0]) {
		judge, join = judgeTogether, nil
	}
	runs, err := judge(files, o.claims, logs)
	unlogged := logs.close()
	if err != nil {
		return errors.Join(err, unlogged)
	}
	if join != nil {
		if runs, err = join(runs); err != nil {
			return errors.Join(err, unlogged)
		}
	}
	r := results.New(runs, nil)
	request.Conclude(&r, impls.All(), nil)
	r.Gate(thresholds)
	if err := out.writeRuns(cmd.OutOrStdout(), &r, unlogged); err != nil {
		return err
	}
	return verdictOf(r.Exit)
}

// expanded returns paths with the histories in a folder in place of the folder, in order.
func expanded(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() { // reading it says what is wrong
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		before := len(files)
		for _, e := range entries {
			if !e.IsDir() && filepath.Ext(e.Name()) == ".lbh" {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
		if len(files) == before {
			return nil, fmt.Errorf("history: folder %s has none; hint: run --history FOLDER saves them as .lbh, others are given by name", path)
		}
	}
	return files, nil
}

// judgeAll judges files, and logs their latencies.
func judgeAll(files []string, claims []string, logs *intervalLogs) (runs []results.Judged, err error) {
	for _, file := range files {
		j, err := runner.Judge(file, claims, logs.sink(labelOf(file, files)))
		if err != nil {
			return nil, err
		}
		runs = append(runs, j)
	}
	return runs, nil
}

// judgeTogether judges files of machines that used the same keys, and logs their latencies.
func judgeTogether(files []string, claims []string, logs *intervalLogs) ([]results.Judged, error) {
	var t runner.Together
	for _, file := range files {
		if err := t.Judge(file, claims, logs.sink(labelOf(file, files))); err != nil {
			return nil, err
		}
	}
	return t.Join()
}

// labelOf returns the label of the latencies of a file: none if it is the only one.
func labelOf(file string, of []string) string {
	if len(of) == 1 {
		return ""
	}
	return results.FileName(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
}
