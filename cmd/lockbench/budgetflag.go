package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/cli/budget"
	"github.com/lockbench/lockbench/runner"
)

// A budgetFlag is --budget of run; zero is no budget.
type budgetFlag struct{ total time.Duration }

func (b *budgetFlag) add(f *pflag.FlagSet) {
	f.DurationVar(&b.total, "budget", 0, "time for all runs together, exploration and self-check included, in place of --duration (default none)")
}

// divide divides the budget among the runs of a plan, if there is one, and sets the time to explore
// each design, unless that is given, too. It refuses flags for the length of runs beside --budget.
func (b *budgetFlag) divide(f *pflag.FlagSet, p *runner.Plan, explore *time.Duration) (err error) {
	if b.total == 0 {
		return nil
	}
	for _, name := range []string{"duration", "operations", "stages"} {
		if other := f.Lookup(name); other.Changed {
			return fmt.Errorf("--budget %v: --%s %s also sets the length of runs; hint: leave one of them out, or --budget 0s", b.total, name, other.Value)
		}
	}
	fixed := time.Duration(-1)
	if f.Changed("explore") {
		fixed = *explore
	}
	if *explore, err = budget.Divide(b.total, p, fixed); err != nil {
		return err
	}
	if !f.Changed("warmup") {
		p.Options.Warmup = min(p.Options.Warmup, p.Options.Duration/5)
	}
	return p.Check()
}
