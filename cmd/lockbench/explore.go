package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/internal/cli/catalog"
	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/internal/evidence"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// exploreOptions are the flags of explore.
type exploreOptions struct {
	config    explore.Config // the config from the flags, for every design and scenario
	commands  commandFlags
	scenarios []string
	kinds     []string
	strategy  string
	claims    []string
	replay    string
	save      string
	out       outFlags
	gate      gateOptions
	evidence  evidence.Options
	quiet     bool
}

// newExploreOptions returns the default options.
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
		Long: `explore runs the clients of a design one server command at a time, in virtual time against an
embedded server. At each step it chooses the next command, whether time passes, and whether a
fault occurs: a client dies, is suspended past its lease, or loses a reply. Every schedule is
judged like a live run. For a broken guarantee it prints the shortest schedule that breaks it;
--replay runs that schedule again.

Designs are names or globs (lockbench list designs), by default all of lockbench's own. Designs
on several servers cannot be explored. With the same --seed and --schedules the result is the
same on every machine, unless the time budget ends the search.

Ctrl-C ends the search and reports what was found; a second Ctrl-C aborts.`,
		Example: `  lockbench explore lua-token/token
  lockbench explore --take 'SET {key} {token} NX EX {ttl_s}' --free 'GET {key} => {token}; DEL {key}'
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

// run explores, or runs one schedule again.
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
	f.StringSliceVar(&o.scenarios, "scenario", nil, "`names` of the programs of the clients, separated by commas or repeated; lockbench list scenarios prints all (default all that the abilities of the lock allow)")
	o.commands.add(f)
	o.commands.addAdapter(f)
	o.scopeFlags(f)
	f.StringVar(&o.strategy, "strategy", string(explore.Auto), "`name` of the strategy that chooses schedules: "+strings.Join(strategies(), ", "))
	f.DurationVar(&o.config.Budget, "budget", o.config.Budget, "time for each design, shared by its scenarios; unless given, --schedules has no time limit")
	f.Int64Var(&o.config.Schedules, "schedules", 0, "largest number of schedules for each design, shared by its scenarios (default no limit)")
	f.Uint64Var(&o.config.Seed, "seed", o.config.Seed, "seed of all random choices, those of the lock included")
	claimsFlag(f, &o.claims, "the designs")
	f.StringVar(&o.replay, "replay", "", "run the schedule in this `file` again and nothing else")
	f.StringVar(&o.save, "save", "", "save the schedules that break a guarantee in this `directory` (default a temporary one for some days, for broken claims)")
	o.out.addWithEvidence(f, explorationOutputs)
	o.gate.exploredFlags(f)
	evidenceFlags(f, &o.evidence)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no progress on standard error")
}

func (o *exploreOptions) scopeFlags(f *pflag.FlagSet) {
	c := &o.config
	f.IntVar(&c.Clients, "clients", c.Clients, "number of clients that compete for the locks")
	f.IntVar(&c.Threads, "threads", c.Threads, "number of clients in one process; they share the state that a design keeps in a process")
	f.IntVar(&c.Pool, "pool", 0, "largest number of connections of a process (default: the design decides)")
	f.IntVar(&c.Rounds, "rounds", c.Rounds, "number of times that each client repeats the scenario")
	f.IntVar(&c.Faults, "faults", c.Faults, "largest number of faults in one schedule")
	f.StringSliceVar(&o.kinds, "kinds", nil, "`kinds` of faults: "+strings.Join(fault.Names(fault.Explored()), ", ")+"; die is both of die-before and die-after (default all but "+strings.Join(onRequest(), ", ")+")")
	f.StringVar((*string)(&c.Guard), "guard", "", "`kind` of guard on the records that scenarios write: "+strings.Join(catalog.Names(catalog.Guards()), ", ")+" (default none)")
	f.IntVar(&c.Moves, "moves", c.Moves, "number of times that the clock may move to the end of a lease although a command could run")
	f.DurationVar(&c.TTL, "ttl", c.TTL, "lease that clients ask for")
	f.DurationVar(&c.Wait, "wait", 0, "longest wait of an acquire (default one attempt; in scenario wait half a lease, at least 1s)")
	f.DurationVar(&c.Skew, "skew", 0, "largest error of a client's clock (default 1s more than the design tolerates)")
}

func strategies() []string {
	return []string{string(explore.Auto), string(explore.Exhaustive), string(explore.Random), string(explore.PCT)}
}

// plan returns the exploration to make, and the outputs and thresholds of its result.
func (o *exploreOptions) plan(ctx context.Context, f *pflag.FlagSet, designs []string) (p exploring.Plan, out outPaths, gates []thresholds.Threshold, err error) {
	if p.Designs, err = exploring.Designs(designs); err != nil {
		return p, out, nil, err
	}
	if p.Designs, err = o.commands.with(ctx, p.Designs, len(designs) > 0); err != nil {
		return p, out, nil, err
	}
	for i, d := range p.Designs {
		if d.Foreign {
			if d, err = adapter.Explorable(d); err != nil {
				return p, out, nil, err
			}
		}
		if p.Designs[i], err = runner.Claiming(d, o.claims...); err != nil {
			return p, out, nil, err
		}
	}
	if err := p.Choose(o.scenarios); err != nil {
		return p, out, nil, err
	}
	if p.Config, err = o.settled(f); err != nil {
		return p, out, nil, err
	}
	if out, err = o.out.parse(explorationOutputs); err != nil {
		return p, out, nil, err
	}
	if gates, err = o.gate.thresholds(thresholds.Explored); err != nil {
		return p, out, nil, err
	}
	if err := inScope(gates, namesOf(p.Designs)); err != nil {
		return p, out, nil, err
	}
	return p, out, gates, o.reserve()
}

// reserve makes the directory for schedules, and checks before the search that files can be written
// there.
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

// settled returns the config of the flags. In a config zero means the default, so a zero that a flag
// sets becomes -1.
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

// explore explores as the flags say, and writes the result.
func (o *exploreOptions) explore(cmd *cobra.Command, designs []string) (results.Result, error) {
	p, out, gates, err := o.plan(cmd.Context(), cmd.Flags(), designs)
	if err != nil {
		return results.Result{}, err
	}
	request, err := o.evidence.Parse()
	if err != nil {
		return results.Result{}, err
	}
	// The server of an exploration is the embedded one, step by step.
	if err := o.commands.try(cmd.Context(), func(context.Context) (*servers.Server, error) { return servers.StartEmbedded() }); err != nil {
		return results.Result{}, err
	}
	shown := progress.OfExploration(cmd.ErrOrStderr(), o.quiet, p)
	r, err := exploring.Run(cmd.Context(), p, shown.Sink())
	shown.Close()
	if err != nil {
		return r, err
	}
	if err := request.Explored(cmd.Context(), &r, p); err != nil {
		return r, err
	}
	r.GateExplored(gates)
	return r, out.write(cmd.OutOrStdout(), &r, explorationOutputs, o.keep(r))
}

// keep writes all schedules to the directory of --save. Without --save it writes the schedules of
// broken guarantees to a temporary directory, so that the replay commands in the report work.
func (o *exploreOptions) keep(r results.Result) error {
	if o.save != "" {
		return results.Replays(o.save, r, func(results.Finding) bool { return true })
	}
	isBroken := func(f results.Finding) bool { return f.Verdict == checker.Broken }
	if !results.HasSchedule(r, isBroken) {
		return nil
	}
	dir, err := tempdir.Fresh()
	if err != nil {
		return fmt.Errorf("no directory for replays: %w; hint: --save DIR", err)
	}
	return errors.Join(results.Replays(dir.Path, r, isBroken), dir.Keep())
}

// onRequest returns the kinds of faults that are explored only if they are named.
func onRequest() []string {
	usual := explore.DefaultKinds()
	return fault.Names(slices.DeleteFunc(fault.Explored(), func(k fault.Kind) bool { return slices.Contains(usual, k) }))
}
