package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/output"
	"github.com/lockbench/lockbench/reports"
)

// compareOptions are the flags of compare, beside those of run.
type compareOptions struct {
	settings runOptions
	rounds   int
	limits   []string
	force    bool
	save     string
	out      []string
	// forRun are the flags that need --run.
	forRun []string
}

func newCompare() *cobra.Command {
	o := compareOptions{settings: runOptions{params: tour()}}
	cmd := &cobra.Command{
		Use:   "compare [flags] BASE... -- NEW... | compare --run N BASE-DESIGN NEW-DESIGN",
		Short: "Compare guarantees and speed between repeated runs",
		Long: `compare reports what changed in the guarantees and the speed of designs, between results
that run --out json=FILE saved, or of two designs that it runs itself, in turns. The files
of a side are repetitions; it takes six of each to tell a difference of speed, and more
of many designs. --run 10 runs each of two designs ten times, with the flags of run; a design
may be named with a guard, as lua-token/fenced+fence, or twice, to see what the noise is.

Guarantees that changed come first: a violation has a counterexample, so one more broken claim is
worse however seldom; other changes count when they are no chance (Fisher's exact test).
Of each figure the medians are shown with their confidence intervals, and a difference
only where the Mann-Whitney test sees one, which assumes no distribution; else "~", and how
large a difference could have been missed. Where the sides took turns only runs made near
each other are compared. All figures are tested as one family: of a hundred comparisons of
equals ninety-eight show no difference anywhere. What differs in settings and surroundings
is told; speeds measured under different settings are not compared.

Exit codes: 0 no claim is worse; 1 a guarantee that either side claims is worse; 3 too few
runs, nothing measured, or a claim left untested; 4 a figure is worse by more than
--fail-if-slower allows. Without that flag a slower design is told, and is no failure.`,
		Example: `  lockbench compare --out markdown=comparison.md before/*.json -- after/*.json
  lockbench compare --run 10 lua-token/strategy redislock/obtain --duration 2s --out html=comparison.html
  lockbench compare --run 20 lua-token/token lua-token/strategy --key-choice own --fail-if-slower 10%`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.compare(cmd, args)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *compareOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.IntVar(&o.rounds, "run", 0, "run the two designs named, each `N` times, in turns, with the flags of run below")
	f.StringArrayVar(&o.limits, "fail-if-slower", nil, "`[METRIC=]SHARE` by which figures may be worse, exit 4 beyond it: 10% (of grants_per_s and acquire.p50) or acquire.p99=25%; repeated")
	f.BoolVar(&o.force, "force", false, "compare speeds also where the settings differ")
	f.StringVar(&o.save, "save", "", "with --run: keep the result of every run in this `directory`, as base-01.json and new-01.json, so that more can be added")
	f.StringArrayVar(&o.out, "out", nil, output.Help(output.OfComparisons))
	// Designs and guards are arguments here.
	o.forRun = append(o.settings.flagsBut(f, "design", "guard", "fail-fast"), "save")
}

func (o *compareOptions) compare(cmd *cobra.Command, args []string) error {
	out, err := output.Parse(o.out, output.OfComparisons)
	if err != nil {
		return err
	}
	opt := reports.CompareOptions{Force: o.force}
	if opt.Limits, err = parseLimits(o.limits); err != nil {
		return err
	}
	base, changed, err := o.sides(cmd, args)
	if err != nil {
		return err
	}
	c, err := reports.Compare(base, changed, opt)
	if err != nil {
		return err
	}
	if err := out.Write(cmd.OutOrStdout(), &c, output.OfComparisons); err != nil {
		return err
	}
	return verdictOf(c.Exit)
}

func parseLimits(texts []string) (all []reports.Limit, err error) {
	for _, text := range texts {
		limits, err := reports.ParseLimit(text)
		if err != nil {
			return nil, fmt.Errorf("--fail-if-slower %s: %w", text, err)
		}
		all = append(all, limits...)
	}
	return all, nil
}

// sides are the results to compare: those of files, or of runs made now.
func (o *compareOptions) sides(cmd *cobra.Command, args []string) (base, changed []reports.Result, err error) {
	if cmd.Flags().Changed("run") {
		return o.runBoth(cmd, args)
	}
	for _, name := range o.forRun {
		if cmd.Flags().Changed(name) && name != "quiet" {
			return nil, nil, fmt.Errorf("--%s is for --run; hint: saved results have their settings, or give --run N and two designs", name)
		}
	}
	at := cmd.ArgsLenAtDash()
	if at < 0 && len(args) == 2 {
		at = 1
	}
	if at <= 0 || at == len(args) {
		return nil, nil, errors.New("it takes results of both sides; hint: lockbench compare BASE.json... -- NEW.json..., or --run N and two designs")
	}
	if base, err = readResults(args[:at]); err != nil {
		return nil, nil, err
	}
	changed, err = readResults(args[at:])
	return base, changed, err
}

func readResults(paths []string) (all []reports.Result, err error) {
	for _, path := range paths {
		if strings.HasPrefix(path, "-") {
			return nil, fmt.Errorf("%s: a flag among results; hint: flags go before BASE", path)
		}
		r, err := readReport(path, reports.ReadAs[*reports.Result])
		if err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	return all, nil
}

// splitGuard parts a design from the guard that is named with it.
func splitGuard(arg string) (design string, guards []string, err error) {
	design, guard, guarded := strings.Cut(arg, "+")
	switch {
	case !guarded:
		return design, nil, nil
	case guard == "":
		return design, nil, fmt.Errorf("%s: no guard behind the +; hint: one of %s, or no +", arg, strings.Join(catalog.Names(catalog.Guards()), ", "))
	}
	return design, []string{guard}, nil
}
