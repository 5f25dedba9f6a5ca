package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/evidence/accept"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// gateOptions are the flags of thresholds, for all commands that judge runs.
type gateOptions struct {
	failIf []string
	abort  bool
}

func (o *gateOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.failIf, "fail-if", nil, "`CONDITION` that fails a run with exit 4: 'acquire.p99>20ms', 'exclusion.violations>0', 'lua-token/*: grants_per_s<1000'; repeated; lockbench list metrics prints all metrics")
}

// exploredFlags adds the flags of commands that judge a design by many runs together, without
// speeds.
func (o *gateOptions) exploredFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.failIf, "fail-if", nil, "`CONDITION` on all runs of a design together that fails the design with exit 4: 'fencing.violations>0', 'schedules<1000', 'lua-token/*: recovery.exposure<10'; repeated")
}

// abortFlag lets thresholds end runs.
func (o *gateOptions) abortFlag(f *pflag.FlagSet) {
	f.BoolVar(&o.abort, "abort-on-fail", false, "end the run of a design as soon as a --fail-if on a count of violations or on a maximum is certain to fail")
}

// abortOn returns the thresholds that may end a run, in the form in which they were given.
// It is an error if there is none.
func (o *gateOptions) abortOn(all []thresholds.Threshold) ([]string, error) {
	if !o.abort {
		return nil, nil
	}
	if !slices.ContainsFunc(all, func(t thresholds.Threshold) bool { return t.CanSettle() }) {
		return nil, errors.New("--abort-on-fail: no --fail-if can be certain to fail before the end; hint: such as 'exclusion.violations>0' or 'acquire.max>1s'")
	}
	return o.failIf, nil
}

// thresholds reads the flags of a command with results from the given source.
func (o *gateOptions) thresholds(of thresholds.Source) ([]thresholds.Threshold, error) {
	var all []thresholds.Threshold
	for _, text := range o.failIf {
		t, err := thresholds.ParseThresholdOf(text, of)
		if err != nil {
			return nil, fmt.Errorf("--fail-if: %w", err)
		}
		all = append(all, t)
	}
	return all, nil
}

// inScope checks that every threshold applies to one of the designs.
func inScope(asked []thresholds.Threshold, designs []string) error {
	if len(asked) > 0 && len(designs) == 0 {
		return errors.New("--fail-if: only controls are run, which have no verdicts; hint: name a lock in addition")
	}
	for _, t := range asked {
		if !slices.ContainsFunc(designs, t.For) {
			return fmt.Errorf("--fail-if %q: %s matches none of the designs; hint: they are %s", t, t.Scope, strings.Join(designs, ", "))
		}
	}
	return nil
}

// claimsFlag adds --claims. The help says that the terms change the claims of the argument of; see
// [lockbench.Claims.Parse] for their syntax.
func claimsFlag(f *pflag.FlagSet, terms *[]string, of string) {
	f.StringArrayVar(terms, "claims", nil, "judge the locks by these `terms`: terms with a sign change the claims of "+of+
		" (+exclusion@failover, '-lease@cancel: why'), terms without a sign replace them (exclusion @crash; nothing); repeated or separated by commas")
}

// checkClaims returns an error if a value of --claims is wrong.
func checkClaims(text string) error { return runner.CheckClaims(text) }

// An acceptFlag is --accept: the path of a file, empty for none.
type acceptFlag struct{ path string }

func (a *acceptFlag) add(f *pflag.FlagSet) {
	f.StringVar(&a.path, "accept", "", "YAML `file` of accepted violations: broken claims that do not fail the run until a date; each has design, cell, reason and until")
}

// load reads the file, if there is one. It refuses --accept beside --fail-fast.
func (a *acceptFlag) load(failFast bool) ([]results.Acceptance, error) {
	if a.path != "" && failFast {
		return nil, errors.New("--accept and --fail-fast: an accepted violation would end the run; hint: leave one of them out")
	}
	return accept.Load(a.path, knownDesign)
}

// knownDesign returns an error for a name or a glob that selects no design.
func knownDesign(pattern string) error {
	_, err := impls.Match(pattern)
	return err
}
