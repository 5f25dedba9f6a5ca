package budget

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/runner"
)

// A Flag is --budget of lockbench run; zero is no budget.
type Flag struct{ total time.Duration }

// Add adds it to the flags of a command.
func (b *Flag) Add(f *pflag.FlagSet) {
	f.DurationVar(&b.total, "budget", 0, "time for all runs together, exploration and self-check included, in place of --duration (default none)")
}

// Divide divides the budget among the runs of a plan, if there is one, and sets the time to explore
// each design, unless that is given, too. It refuses flags for the length of runs beside --budget.
func (b *Flag) Divide(f *pflag.FlagSet, p *runner.Plan, explore *time.Duration) (err error) {
	if b.total == 0 {
		return nil
	}
	for _, name := range []string{"duration", "operations", "stages"} {
		if other := f.Lookup(name); other.Changed {
			return fmt.Errorf("--budget %v: --%s %s says how long runs are, too; hint: leave one of them out, as --budget 0s does", b.total, name, other.Value)
		}
	}
	fixed := time.Duration(-1)
	if f.Changed("explore") {
		fixed = *explore
	}
	if *explore, err = Divide(b.total, p, fixed); err != nil {
		return err
	}
	if !f.Changed("warmup") {
		p.Options.Warmup = min(p.Options.Warmup, p.Options.Duration/5)
	}
	return p.Check()
}
