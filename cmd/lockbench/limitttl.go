package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/cli/limitsearch"
	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// limitTTLOptions are the flags of limit ttl.
type limitTTLOptions struct {
	limitOptions
	risk, confidence float64
	most             time.Duration
}

func newLimitTTL() *cobra.Command {
	o := limitTTLOptions{limitOptions: limitOptions{settings: runOptions{params: leaseSettings()}}}
	cmd := &cobra.Command{
		Use:   "ttl DESIGN | --adapter COMMAND",
		Short: "Find the shortest lease that no work outlives",
		Long: `ttl finds the shortest lease that no hold outlives. A hold lasts from the call of the acquire to
the end of the work: --hold, the reads and writes of the workload, the round trips to the
server, and the delays of this machine. Each trial has enough holds to conclude, if none
outlives the lease, that the share that does is below --risk with the given --confidence (0.1%
and 95% take 2,995 holds; the rule of three says 3,000). The lease found is tried again with as
many holds, since the first trial may have been lucky.

The result holds for work like that of the trials: take --hold from production. For a design
that renews leases, only holds count during which another client was granted the key. Such
designs need keys to compete for (--key-choice uniform --keys 4). Each trial starts an adapter
once for each client, so the default is 8 clients with an adapter.`,
		Example: `  lockbench limit ttl lua-token/strategy --hold exp:5ms
  lockbench limit ttl --adapter 'python3 my_lock.py' --hold exp:5ms
  lockbench limit ttl redislock/obtain --workload oversell --hold lognormal:20ms,0.8 --risk 0.0001`,
		Args: o.oneDesign,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.search(cmd, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Float64Var(&o.risk, "risk", 0.001, "largest `share` of holds that may outlive the lease")
	f.Float64Var(&o.confidence, "confidence", 0.95, "`probability` that no larger share outlives it")
	f.DurationVar(&o.most, "most", 10*time.Minute, "longest lease to try; --ttl is the first one")
	o.flags(f, "arrival", "duration", "warmup", "slow", "stallers", "slow-factor", "nested-ttl")
	return cmd
}

// leaseSettings returns the options of runs of a number of holds, with a key for each client.
func leaseSettings() workloads.Options {
	p := tour()
	p.Clients, p.Keys, p.KeyChoice, p.Stallers, p.Wait = 64, 0, workloads.Own, 0, time.Second
	p.Duration, p.Warmup = 0, 0
	return p
}

// mostHolds bounds a trial: at ten thousand holds a second it takes a day.
const mostHolds = 1_000_000_000

func (o *limitTTLOptions) search(cmd *cobra.Command, args []string) error {
	holds, err := o.holds()
	if err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	o.settings.params.Operations = holds
	p, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	steps, err := o.begin(p)
	if err != nil {
		return err
	}
	return o.run(cmd, p, limitsearch.Lease(holds, o.risk, o.confidence, steps))
}

// holds returns the number of holds of a trial.
func (o *limitTTLOptions) holds() (int64, error) {
	holds, err := limits.Samples(o.risk, o.confidence)
	switch {
	case err != nil:
		return 0, fmt.Errorf("--%w", err)
	case holds > mostHolds:
		return 0, fmt.Errorf("--risk %v: a trial would need %d holds for a confidence of %v; hint: a larger risk, such as 0.0001", o.risk, holds, o.confidence)
	}
	return holds, nil
}

// begin begins the search at the lease of the plan. It refuses a search that cannot have a result.
func (o *limitTTLOptions) begin(p runner.Plan) (*limits.Search, error) {
	of, ttl := p.Subjects[0].Design, p.Options.TTL
	unit := limitsearch.LeaseUnit(of)
	switch {
	case of.Leaseless:
		return nil, fmt.Errorf("%s has no lease to search for; hint: lockbench limit rate %s", of.Name, cmp.Or(of.Arguments, of.Name))
	case of.Renews && p.Options.KeyChoice == workloads.Own:
		return nil, fmt.Errorf("%s renews its leases: a hold that outlives its lease shows only if another client competes for the key; hint: --key-choice uniform --keys 4", of.Name)
	case ttl%unit != 0:
		return nil, fmt.Errorf("--ttl %v: leases are multiples of %v in %s; hint: --ttl %v", ttl, unit, of.Name, max(unit, ttl.Round(unit)))
	case o.most < ttl:
		return nil, fmt.Errorf("--most %v: it is below --ttl %v, where the search begins; hint: raise it, or --ttl %v", o.most, ttl, max(unit, o.most.Truncate(unit)))
	}
	return limits.New(limits.Config{
		Start: float64(ttl), Least: float64(unit), Most: float64(o.most), Unit: float64(unit),
		Precision: o.precision, Confirmations: 1,
	})
}
