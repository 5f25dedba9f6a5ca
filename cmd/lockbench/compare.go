package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/cli/catalog"
	"github.com/lockbench/lockbench/results"
)

// compareOptions are the flags of compare, beside the flags of run.
type compareOptions struct {
	settings runOptions
	rounds   int
	limits   []string
	weaker   bool
	force    bool
	save     string
	resume   bool
	out      outFlags
	// forRun are the flags that need --run.
	forRun []string
}

func newCompare() *cobra.Command {
	o := compareOptions{settings: runOptions{params: tour()}}
	o.settings.params.Stallers = 0 // a comparison has many short runs
	cmd := &cobra.Command{
		Use:   "compare [flags] BASE... -- NEW... | compare --run N BASE-DESIGN NEW-DESIGN",
		Short: "Compare guarantees and speed between repeated runs",
		Long: `compare reports what changed in the guarantees and the speed of designs. It compares results
that run --out json=FILE saved, or runs two designs alternately. The files of a side are
repetitions: a difference of speed takes at least six on each side, more with many designs.
--run 10 runs each of two designs ten times, with the flags of run. A design may have a guard,
as lua-token/fenced+fence. The same design twice shows the noise. An adapter stands for a
design: the first of two is BASE, and one beside a design of lockbench is NEW. Two versions of
a library whose adapters say the same name have their versions in their names.

Guarantees come first. A violation has a counterexample, so one more broken claim is worse,
however rare; other changes count if Fisher's exact test finds them significant. Each figure is
shown by its medians and their confidence intervals. The Mann-Whitney test, which assumes no
distribution, decides whether it differs; "~" marks no difference, with the size of one that
could have been missed. If the runs of the sides alternated, only runs close in time are
compared. All figures are tested as one family: the chance of a false positive is 2 %. compare
reports differences in settings and surroundings, and compares no speeds under different
settings.

Exit codes: 0 no claim is worse; 1 a guarantee that either side claims is worse; 3 too few runs,
nothing measured, or a claim left untested; 4 a figure is worse by more than --fail-if-slower
allows, or a claim is weaker with --fail-if-weaker. Without these flags 4 does not occur.`,
		Example: `  lockbench compare --out markdown=comparison.md before/*.json -- after/*.json
  lockbench compare --run 10 lua-token/strategy redislock/obtain --duration 2s --out html=c.html
  lockbench compare --run 20 lua-token/token lua-token/strategy --key-choice own --fail-if-slower 5%
  lockbench compare --run 10 --adapter 'old/bin/python my_lock.py' --adapter 'new/bin/python my_lock.py' --clients 4`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.compare(cmd, args)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *compareOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.IntVar(&o.rounds, "run", 0, "run the two designs alternately, `N` times each, with the flags of run below (default: compare saved results)")
	f.StringArrayVar(&o.limits, "fail-if-slower", nil, "`[METRIC=]SHARE` by which a figure may be worse without exit 4: 10% (for grants_per_s and acquire.p50) or acquire.p99=25%; repeated (default no limit)")
	f.BoolVar(&o.weaker, "fail-if-weaker", false, "exit 4 if a claimed cell was held on 299 occasions or more in BASE and on fewer in NEW")
	f.BoolVar(&o.force, "force", false, "compare speeds even if the settings differ")
	f.StringVar(&o.save, "save", "", "with --run: save the result of each run in this `directory`, as base-01.json and new-01.json")
	f.BoolVar(&o.resume, "resume", false, "with --run and --save: use the results that are saved, and make only the missing runs")
	o.out.add(f, comparisonOutputs)
	// Designs of lockbench, with their guards, are arguments here.
	o.forRun = append(o.settings.flagsBut(f, "design", "service", "take", "free", "extend", "guard", "fail-fast"), "save", "resume")
}

func (o *compareOptions) compare(cmd *cobra.Command, args []string) error {
	out, err := o.out.parse(comparisonOutputs)
	if err != nil {
		return err
	}
	opt := results.CompareOptions{Force: o.force, FailWeaker: o.weaker}
	if opt.Limits, err = parseLimits(o.limits); err != nil {
		return err
	}
	base, changed, failed := o.sides(cmd, args)
	if failed != nil && (len(base) == 0 || len(changed) == 0) {
		return failed
	}
	c, err := results.Compare(base, changed, opt)
	if err != nil {
		return err
	}
	if err := out.write(cmd.OutOrStdout(), &c, comparisonOutputs, failed); err != nil {
		return err
	}
	return verdictOf(c.Exit)
}

func parseLimits(texts []string) (all []results.Limit, err error) {
	for _, text := range texts {
		limits, err := results.ParseLimit(text)
		if err != nil {
			return nil, fmt.Errorf("--fail-if-slower %s: %w", text, err)
		}
		all = append(all, limits...)
	}
	return all, nil
}

// sides returns the results to compare, from files or from runs made now.
func (o *compareOptions) sides(cmd *cobra.Command, args []string) (base, changed []results.Result, err error) {
	if cmd.Flags().Changed("run") {
		return o.runBoth(cmd, args)
	}
	for _, name := range o.forRun {
		if cmd.Flags().Changed(name) && name != "quiet" {
			return nil, nil, fmt.Errorf("--%s is for --run; hint: saved results have their settings, or give --run N and two designs or adapters", name)
		}
	}
	if err := misplaced(args, "saved results belong", "lockbench compare --run 10 %s"); err != nil {
		return nil, nil, err
	}
	at := cmd.ArgsLenAtDash()
	if at < 0 && len(args) == 2 {
		at = 1
	}
	if at <= 0 || at == len(args) {
		return nil, nil, errors.New("results of both sides are needed; hint: lockbench compare BASE.json... -- NEW.json..., or --run N and two designs")
	}
	if base, err = readResults(args[:at]); err != nil {
		return nil, nil, err
	}
	changed, err = readResults(args[at:])
	return base, changed, err
}

func readResults(paths []string) (all []results.Result, err error) {
	for _, path := range paths {
		if strings.HasPrefix(path, "-") {
			return nil, fmt.Errorf("%s: a flag among results; hint: flags go before BASE", path)
		}
		r, err := readReport(path, results.ReadAs[*results.Result])
		if err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	return all, nil
}

// splitGuard splits an argument into the design and the guard.
func splitGuard(arg string) (design string, guards []string, err error) {
	design, guard, guarded := strings.Cut(arg, "+")
	switch {
	case !guarded:
		return design, nil, nil
	case guard == "":
		return design, nil, fmt.Errorf("%s: no guard after the +; hint: one of %s, or leave the + out", arg, strings.Join(catalog.Names(catalog.Guards()), ", "))
	}
	return design, []string{guard}, nil
}
