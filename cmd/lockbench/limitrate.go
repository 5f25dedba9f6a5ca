package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/cli/limitsearch"
	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/workloads"
)

// limitRateOptions are the flags of limit rate.
type limitRateOptions struct {
	limitOptions
	targets           []string
	from, least, most float64
	votes             int
}

// usualTarget is the default target of a search.
const usualTarget = "acquire.p99<20ms"

func newLimitRate() *cobra.Command {
	o := limitRateOptions{limitOptions: limitOptions{settings: runOptions{params: rateSettings(), workload: "mutex"}}}
	cmd := &cobra.Command{
		Use:   "rate DESIGN | --adapter COMMAND",
		Short: "Find the highest rate of arrivals at which targets and claims hold",
		Long: `rate finds the highest rate of arrivals at which every target holds, no claim is broken and all
work that was due was started. Work is due whether earlier work is done or not (open loop). The
rate doubles until a trial fails; then the search halves the interval. A rate that fails is
tried again before it counts, since other load on the machine can spoil a run.

Targets are conditions on metrics (lockbench list metrics). Acquires are measured from their
intended start. One acquire in a hundred may be refused unless a target says otherwise.

Each trial starts an adapter once for each client, so the default is 8 clients with an adapter.
They do all the work that is due: if a trial fails because work was not started, try more.`,
		Example: `  lockbench limit rate lua-token/strategy
  lockbench limit rate redislock/obtain --target 'acquire.p99<5ms' --keys 1 --duration 10s
  lockbench limit rate --adapter 'python3 my_lock.py' --target 'acquire.p99<50ms'
  lockbench limit rate hash-reentrant/notify --hold exp:5ms --keys 8 --from 50 --out json=limit.json`,
		Args: o.oneDesign,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.search(cmd, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.targets, "target", []string{usualTarget}, "`CONDITION` that must hold; repeated")
	f.Float64Var(&o.from, "from", 100, "first rate to try, in arrivals per second")
	f.Float64Var(&o.least, "least", 1, "lowest rate to try, in arrivals per second")
	f.Float64Var(&o.most, "most", 1_000_000, "highest rate to try, in arrivals per second")
	f.IntVar(&o.votes, "votes", 3, "largest number of trials of a rate that fails; odd, since the majority decides")
	o.flags(f)
	f.Lookup("duration").Usage = "length of each trial, warm-up included"
	return cmd
}

// rateSettings returns the options of short runs with some competition for keys, and without work
// that outlives its lease.
func rateSettings() workloads.Options {
	p := tour()
	p.Clients, p.Keys, p.KeyChoice, p.Stallers = 64, 16, workloads.Uniform, 0
	p.Duration, p.Warmup = 3*time.Second, 500*time.Millisecond
	return p
}

func (o *limitRateOptions) search(cmd *cobra.Command, args []string) error {
	targets, err := limitsearch.ParseTargets(o.targets)
	if err != nil {
		return err
	}
	if err := o.validate(cmd.Flags()); err != nil {
		return err
	}
	steps, err := limits.New(limits.Config{
		Rising: true, Start: o.from, Least: o.least, Most: o.most,
		Precision: o.precision, Votes: o.votes, Confirmations: 1,
	})
	if err != nil {
		return err
	}
	o.settings.params.Rate = o.from
	p, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	return o.run(cmd, p, limitsearch.Rate(targets, steps))
}

const (
	fastest   = 1e9 // the highest valid rate
	mostVotes = 99
)

// validate returns an error if a flag is wrong. It lowers the default of --least to --from.
func (o *limitRateOptions) validate(f *pflag.FlagSet) error {
	if !f.Changed("least") {
		o.least = min(o.least, o.from)
	}
	for _, rate := range []struct {
		flag  string
		value float64
	}{{"from", o.from}, {"least", o.least}, {"most", o.most}} {
		if !(rate.value > 0 && rate.value <= fastest) {
			return fmt.Errorf("--%s %v: it is not a rate of arrivals; hint: above 0 and up to %v, such as 100", rate.flag, rate.value, fastest)
		}
	}
	if o.from < o.least || o.from > o.most {
		return fmt.Errorf("--from %v: it is not between --least %v and --most %v; hint: --least <= --from <= --most", o.from, o.least, o.most)
	}
	if o.votes < 1 || o.votes%2 == 0 || o.votes > mostVotes {
		return fmt.Errorf("--votes %d: a majority needs an odd number, and each vote is a run; hint: an odd number up to %d, such as 3", o.votes, mostVotes)
	}
	return o.limitOptions.validate()
}
