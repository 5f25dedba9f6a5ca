package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/exploring"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/output"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/suggest"
	"github.com/lockbench/lockbench/internal/thresholds"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/runner"
)

// exploreOptions are the flags of explore.
type exploreOptions struct {
	config    explore.Config // what it takes from the flags, for every design and scenario
	scenarios []string
	kinds     []string
	strategy  string
	claims    []string
	replay    string
	save      string
	out       []string
	gate      gateOptions
	quiet     bool
}

// newExploreOptions are the options where nothing is asked for.
func newExploreOptions() exploreOptions {
	return exploreOptions{config: explore.Config{
		Clients: 2, Threads: 1, Rounds: 2, Faults: 1, Moves: 2,
		TTL: 2 * time.Second, Budget: 30 * time.Second, Seed: 1,
	}}
}

func newExplore() *cobra.Command {
	o := newExploreOptions()
	cmd := &cobra.Command{
		Use:   "explore [DESIGN...]",
		Short: "Find the interleaving that breaks a design, in virtual time",
		Long: `explore runs the clients of a design one server command at a time, in virtual time
against an embedded server, and decides at each step whose command runs next,
whether time passes, and what goes wrong: a client dies, stands still past its
lease, loses a reply. Every schedule is judged like a live run. A broken guarantee
is shown by the shortest schedule that breaks it, command by command, which
--replay runs again.

Designs are names or globs (lockbench list designs), by default all of ours; of other
people's, those on several servers cannot be explored. Without
--scenario each goes through all that it has the abilities for. The same seed finds
the same on every machine, unless the time budget ends the search: --schedules does
so reproducibly. No server is needed.

Ctrl-C ends the search and reports what was found; once more aborts.`,
		Example: `  lockbench explore lua-token/token
  lockbench explore 'setnx-getset/*' --scenario overrun,wait --budget 5s
  lockbench explore hash-reentrant/watchdog --clients 6 --threads 6 --pool 5 --scenario wait
  lockbench explore lua-token/expire --save replays
  lockbench explore lua-token/token --schedules 2000 --fail-if 'loss-reported.violations>0'
  lockbench explore --replay replays/lua-token-expire.owner-release@outlived.replay`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, designs []string) error { return o.run(cmd, designs) },
	}
	o.flags(cmd.Flags())
	return cmd
}

// run searches, or runs one schedule again.
func (o *exploreOptions) run(cmd *cobra.Command, designs []string) error {
	search := o.explore
	if o.replay != "" {
		search = o.rerun
	}
	r, err := search(cmd, designs)
	if err != nil {
		return err
	}
	return verdictOf(r.Exit)
}

func (o *exploreOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringSliceVar(&o.scenarios, "scenario", nil, "what the clients do: `names`, by comma or repeated (default all that the lock has the abilities for; lockbench list scenarios)")
	o.scopeFlags(f)
	f.StringVar(&o.strategy, "strategy", string(explore.Auto), "how schedules are chosen, a `name`: "+strings.Join(strategies(), ", "))
	f.DurationVar(&o.config.Budget, "budget", o.config.Budget, "time for each design, shared by its scenarios; unless given, none with --schedules")
	f.Int64Var(&o.config.Schedules, "schedules", 0, "most schedules for each design, shared by its scenarios (default no limit)")
	f.Uint64Var(&o.config.Seed, "seed", o.config.Seed, "decides all random choices, those of the lock included")
	claimsFlag(f, &o.claims, "the designs claim")
	f.StringVar(&o.replay, "replay", "", "run the schedule in this `file` again, and nothing else")
	f.StringVar(&o.save, "save", "", "write the schedules that break something into this `directory`")
	f.StringArrayVar(&o.out, "out", nil, output.Help(output.OfExplorations))
	o.gate.exploredFlags(f)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
}

func (o *exploreOptions) scopeFlags(f *pflag.FlagSet) {
	c := &o.config
	f.IntVar(&c.Clients, "clients", c.Clients, "owners that compete")
	f.IntVar(&c.Threads, "threads", c.Threads, "how many of them share a process, and with it what a design keeps per process")
	f.IntVar(&c.Pool, "pool", 0, "connections a process may open; 0 leaves it to the design")
	f.IntVar(&c.Rounds, "rounds", c.Rounds, "how often each goes through the scenario")
	f.IntVar(&c.Faults, "faults", c.Faults, "how many faults may occur in one schedule")
	f.StringSliceVar(&o.kinds, "kinds", nil, "`kinds` of faults: "+strings.Join(fault.Names(fault.Explored()), ", ")+"; die is both of die- (default all but slow-reply)")
	f.IntVar(&c.Moves, "moves", c.Moves, "how often, while a command could run instead, time may pass to the end of a lease")
	f.DurationVar(&c.TTL, "ttl", c.TTL, "lease asked for")
	f.DurationVar(&c.Wait, "wait", 0, "how long an acquire may wait (default one try, and half a lease, a second at least, in scenario wait)")
	f.DurationVar(&c.Skew, "skew", 0, "how far clients' clocks may be off (default 1s more than the design tolerates)")
}

func strategies() []string {
	return []string{string(explore.Auto), string(explore.Exhaustive), string(explore.Random), string(explore.PCT)}
}

// plan is what is explored, and what is made of the result.
func (o *exploreOptions) plan(f *pflag.FlagSet, designs []string) (p exploring.Plan, out output.Paths, gates []thresholds.Threshold, err error) {
	if p.Designs, err = exploring.Designs(designs); err != nil {
		return p, nil, nil, err
	}
	for i, d := range p.Designs {
		if p.Designs[i], err = runner.Claiming(d, o.claims...); err != nil {
			return p, nil, nil, err
		}
	}
	if err := p.Choose(o.scenarios); err != nil {
		return p, nil, nil, err
	}
	if p.Config, err = o.settled(f); err != nil {
		return p, nil, nil, err
	}
	if out, err = output.Parse(o.out, output.OfExplorations); err != nil {
		return p, nil, nil, err
	}
	if gates, err = o.gate.thresholds(thresholds.Explored); err != nil {
		return p, nil, nil, err
	}
	if err := inScope(gates, namesOf(p.Designs)); err != nil {
		return p, nil, nil, err
	}
	return p, out, gates, o.reserve()
}

// reserve makes the directory for schedules and sees that files can be written
// there, before a search whose results would be lost.
func (o *exploreOptions) reserve() error {
	if o.save == "" {
		return nil
	}
	err := os.MkdirAll(o.save, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(o.save, ".lockbench-"); err == nil {
			_ = f.Close()
			err = os.Remove(f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("--save %s: %w; hint: a directory that can be made or written to", o.save, err)
	}
	return nil
}

// settled is the config that the flags amount to. Its zero values mean defaults,
// so that what was asked for as zero becomes -1.
func (o *exploreOptions) settled(f *pflag.FlagSet) (explore.Config, error) {
	c := o.config
	if err := o.validate(f); err != nil {
		return c, err
	}
	if f.Changed("schedules") && !f.Changed("budget") {
		c.Budget = 0
	}
	if c.Faults == 0 {
		c.Faults = -1
	}
	if c.Moves == 0 {
		c.Moves = -1
	}
	c.Strategy = explore.Strategy(o.strategy)
	for _, name := range o.kinds {
		if name == "die" {
			c.Kinds = append(c.Kinds, fault.Of(fault.Crash).Explored...)
			continue
		}
		c.Kinds = append(c.Kinds, fault.Kind(name))
	}
	return c, nil
}

func (o *exploreOptions) validate(f *pflag.FlagSet) error {
	c := &o.config
	for _, n := range []struct {
		name        string
		value, from int64
	}{
		{"clients", int64(c.Clients), 1}, {"threads", int64(c.Threads), 1}, {"pool", int64(c.Pool), 0},
		{"rounds", int64(c.Rounds), 1}, {"faults", int64(c.Faults), 0}, {"moves", int64(c.Moves), 0},
	} {
		if n.value < n.from {
			return fmt.Errorf("--%s %d: too few; hint: %d or more", n.name, n.value, n.from)
		}
	}
	if f.Changed("schedules") && c.Schedules < 1 {
		return fmt.Errorf("--schedules %d: nothing would be explored; hint: 1 or more, or leave it out for no limit", c.Schedules)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
		least time.Duration
	}{
		{"ttl", c.TTL, 1}, {"wait", c.Wait, 0}, {"skew", c.Skew, 0}, {"budget", c.Budget, 1},
	} {
		if d.value < d.least {
			return fmt.Errorf("--%s %v: too short; hint: a duration such as 2s", d.name, d.value)
		}
	}
	return o.validateNames()
}

func (o *exploreOptions) validateNames() error {
	if !slices.Contains(strategies(), o.strategy) {
		return suggest.Unknown("strategy", o.strategy, strategies())
	}
	for _, k := range o.kinds {
		if known := append(fault.Names(fault.Explored()), "die"); !slices.Contains(known, k) {
			return suggest.Unknown("kind of fault", k, known)
		}
	}
	return nil
}

// explore does what the flags say and writes the result.
func (o *exploreOptions) explore(cmd *cobra.Command, designs []string) (reports.Result, error) {
	p, out, gates, err := o.plan(cmd.Flags(), designs)
	if err != nil {
		return reports.Result{}, err
	}
	shown := progress.OfExploration(cmd.ErrOrStderr(), o.quiet, len(p.Designs), len(p.Scenarios))
	r, err := exploring.Run(cmd.Context(), p, shown.Sink())
	shown.Close()
	if err != nil {
		return r, err
	}
	r.GateExplored(gates)
	if err := o.keep(r); err != nil {
		return r, err
	}
	return r, out.Write(cmd.OutOrStdout(), &r, output.OfExplorations)
}

// keep writes the schedules that were asked for, or else those of broken
// guarantees to where a temporary file may stay, so that the command that runs them
// again works.
func (o *exploreOptions) keep(r reports.Result) error {
	if o.save != "" {
		return reports.Replays(o.save, r, func(reports.Finding) bool { return true })
	}
	isBroken := func(f reports.Finding) bool { return f.Verdict == checker.Broken }
	if !reports.Shows(r, isBroken) {
		return nil
	}
	dir, err := os.MkdirTemp("", "lockbench-")
	if err != nil {
		return fmt.Errorf("no place for replays: %w; hint: --save DIR", err)
	}
	return reports.Replays(dir, r, isBroken)
}
