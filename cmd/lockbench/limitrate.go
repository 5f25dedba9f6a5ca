package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/limits"
	"github.com/lockbench/lockbench/internal/thresholds"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/workloads"
)

// limitRateOptions are the flags of limit rate.
type limitRateOptions struct {
	limitOptions
	targets           []string
	from, least, most float64
	votes             int
}

// usualTargets are those of a search that names none, and what else every one has.
const (
	usualTarget  = "acquire.p99<20ms"
	alwaysTarget = "refused.share<=1%"
)

func newLimitRate() *cobra.Command {
	o := limitRateOptions{limitOptions: limitOptions{settings: runOptions{params: rateSettings(), workload: workloads.Mutex().Name}}}
	cmd := &cobra.Command{
		Use:   "rate DESIGN",
		Short: "Search the highest rate of arrivals at which targets and claims hold",
		Long: `rate searches the highest rate of arrivals (an open loop: due whether those before are
done or not) at which every target holds, no claim is broken and all that was due was
begun. The rate is doubled until something is missed, and then halved in between. A rate
that misses is tried again before it counts, since a noisy neighbour can spoil a run.

Targets are conditions on metrics (lockbench list metrics); acquire is measured from the
intended start. One acquire in a hundred may be refused unless a target says otherwise.`,
		Example: `  lockbench limit rate lua-token/strategy
  lockbench limit rate redislock/obtain --target 'acquire.p99<5ms' --keys 1 --clients 200 --duration 10s
  lockbench limit rate hash-reentrant/notify --hold exp:5ms --keys 8 --from 50 --out json=limit.json`,
		Args: oneDesign,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.search(cmd, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.targets, "target", []string{usualTarget}, "`CONDITION` that has to hold; repeated")
	f.Float64Var(&o.from, "from", 100, "arrivals per second to begin with")
	f.Float64Var(&o.least, "least", 1, "the lowest rate to try")
	f.Float64Var(&o.most, "most", 1_000_000, "the highest rate to try")
	f.IntVar(&o.votes, "votes", 3, "trials at most of a rate that misses, most of which decide; odd")
	o.flags(f)
	f.Lookup("duration").Usage = "length of each trial, warm-up included"
	return cmd
}

// rateSettings are short runs without work that outlives its lease, on enough keys for
// some competition.
func rateSettings() workloads.Options {
	p := tour()
	p.Clients, p.Keys, p.KeyChoice, p.SlowKeys = 64, 16, workloads.Uniform, 0
	p.Duration, p.Warmup = 3*time.Second, 500*time.Millisecond
	return p
}

func (o *limitRateOptions) search(cmd *cobra.Command, args []string) error {
	targets, err := parseTargets(o.targets)
	if err != nil {
		return err
	}
	if err := o.validate(cmd.Flags()); err != nil {
		return err
	}
	search, err := limits.New(limits.Config{
		Rising: true, Start: o.from, Least: o.least, Most: o.most,
		Precision: o.precision, Votes: o.votes, Confirmations: 1,
	})
	if err != nil {
		return err
	}
	o.settings.params.Rate = o.from
	if err := o.settings.settle(cmd.Flags()); err != nil {
		return err
	}
	p, err := o.plan(args)
	if err != nil {
		return err
	}
	h := &hunt{
		search: search,
		limit:  reports.LimitSearch{Of: reports.RateLimit},
		change: func(o *workloads.Options, v float64) { o.Rate = v },
		name:   func(v float64) string { return fmt.Sprintf("%.4g/s", v) },
		judge:  func(j *reports.Judged, _ *reports.LimitTrial) (limits.Outcome, string) { return meets(targets, j) },
	}
	for _, t := range targets {
		h.limit.Wanted = append(h.limit.Wanted, t.String())
	}
	return o.run(cmd, p, h)
}

// fastest is the highest rate that there can be.
const fastest = 1e9

// validate tells what is wrong with the flags, and lets a search that begins lower than
// usual go down to there.
func (o *limitRateOptions) validate(f *pflag.FlagSet) error {
	if !f.Changed("least") {
		o.least = min(o.least, o.from)
	}
	for _, rate := range []struct {
		flag  string
		value float64
	}{{"from", o.from}, {"least", o.least}, {"most", o.most}} {
		if !(rate.value > 0 && rate.value <= fastest) {
			return fmt.Errorf("--%s %v: no rate to try; hint: above 0 and up to %v, such as 100", rate.flag, rate.value, fastest)
		}
	}
	if o.from < o.least || o.from > o.most {
		return fmt.Errorf("--from %v: it is not between --least %v and --most %v; hint: set the three so that they are in order", o.from, o.least, o.most)
	}
	if o.votes < 1 || o.votes%2 == 0 {
		return fmt.Errorf("--votes %d: they may come to nothing; hint: an odd number, such as 3", o.votes)
	}
	return o.limitOptions.validate()
}

// parseTargets reads the conditions, and adds the one that none replaces.
func parseTargets(texts []string) (all []thresholds.Comparison, err error) {
	always, err := thresholds.ParseComparison(alwaysTarget)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		c, err := thresholds.ParseComparison(text)
		if err == nil {
			err = offered(c.Metric, thresholds.Live)
		}
		if err != nil {
			return nil, fmt.Errorf("--target: %w", err)
		}
		if c.Metric.Name == always.Metric.Name {
			always.Metric.Name = ""
		}
		all = append(all, c)
	}
	if always.Metric.Name != "" {
		all = append(all, always)
	}
	return all, nil
}

// meets tells whether a run offered its rate and met all targets, and what it missed.
func meets(targets []thresholds.Comparison, j *reports.Judged) (limits.Outcome, string) {
	switch a := j.Measures.Arrivals; {
	case a == nil || a.Due == 0:
		return limits.Unable, "nothing was due in so short a run"
	case a.WokeLate():
		return limits.Unable, fmt.Sprintf("the machine was too busy: idle clients began %s late", share(a.Overslept, a.Started))
	case a.FellShort() && a.BusyShare() < 0.5:
		return limits.Unable, fmt.Sprintf("the machine was too busy: %s were not begun", share(a.Waiting, a.Due))
	case a.FellShort():
		return limits.Fails, fmt.Sprintf("all clients were busy and %s were not begun", share(a.Waiting, a.Due))
	case j.Verdicts.Grants == 0:
		return limits.Fails, "no lock was granted"
	}
	run := thresholds.Run{Design: j.Header.Design, Verdicts: &j.Verdicts, Measures: &j.Measures}
	for _, t := range targets {
		reading := t.Metric.Read(&run)
		switch {
		case reading.Why != "":
			return limits.Unable, fmt.Sprintf("%s has no value: %s", t.Metric.Name, reading.Why)
		case !t.Holds(reading.Value):
			return limits.Fails, fmt.Sprintf("%s was %s", t.Metric.Name, t.Metric.Unit.Format(reading.Value))
		}
	}
	return limits.Holds, ""
}

// share renders a part of arrivals.
func share(part, of int64) string {
	return fmt.Sprintf("%.2g%% of %d arrivals", 100*float64(part)/float64(max(1, of)), of)
}
