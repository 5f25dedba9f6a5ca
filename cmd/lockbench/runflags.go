package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/cli/catalog"
	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/internal/evidence/choosing"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// serverVariable names the environment variable that --server falls back to.
const serverVariable = "LOCKBENCH_SERVER"

// runOptions are the settings of runs: the flags that run shares with all commands that run
// designs repeatedly.
type runOptions struct {
	designs  []string
	service  string
	commands commandFlags
	workload string
	servers  []string
	guards   []string
	claims   []string
	params   workloads.Options
	faults   []string
	failFast bool
	history  string
	quiet    bool
}

// flagsBut adds all flags except the flags without, which the command leaves out or defines itself. It
// returns the names of the added flags.
func (o *runOptions) flagsBut(f *pflag.FlagSet, without ...string) (added []string) {
	all := pflag.NewFlagSet("run", pflag.ContinueOnError)
	o.flags(all)
	all.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(without, flag.Name) {
			f.AddFlag(flag)
			added = append(added, flag.Name)
		}
	})
	return added
}

func (o *runOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringSliceVar(&o.designs, "design", nil, "`names` or globs of designs, separated by commas or repeated; all means every design; lockbench list designs prints them (default five of lockbench's own)")
	f.StringVar(&o.service, "service", "", "`name` of a service, in place of --design: "+strings.Join(choosing.Started(), ", ")+", or all; runs its designs and the controls; quorum is several Redis servers; a service that is not installed is an error, and left out of all")
	o.commands.add(f)
	o.commands.addAdapter(f)
	o.commands.addSettings(f)
	f.StringVar(&o.workload, "workload", cmp.Or(o.workload, "oversell"), "`name` of the program of the clients; lockbench list workloads prints all")
	serverFlag(f, &o.servers, "`URL` of the server: redis:// (of a cluster any node; of a sentinel with ?master_name=NAME), rediss://, unix://, file:///DIR for locks on files, postgres://USER:PASSWORD@HOST/DATABASE, mysql://USER:PASSWORD@HOST/DATABASE, nats://USER:PASSWORD@HOST, etcd://HOST:2379, or zk://HOST:PORT/NODE")
	o.loadFlags(f)
	arrivalFlags(f, &o.params)
	o.workloadFlags(f)
	f.StringArrayVar(&o.faults, "fault", nil, "fault to inject, as `KIND[,name=value...]`: such as lost-reply,p=0.01 or restart,at=2s; repeated; lockbench list faults prints all (default none)")
	f.StringSliceVar(&o.guards, "guard", nil, "`kinds` of guard on the store, for oversell and redeem: "+strings.Join(catalog.Names(catalog.Guards()), ", ")+"; a design runs once with each (default none)")
	claimsFlag(f, &o.claims, "the designs")
	f.BoolVar(&o.failFast, "fail-fast", false, "end the run within about 1s of a broken claim and start no other design")
	f.StringVar(&o.history, "history", "", "save the history of each design in this `directory` (default a temporary one for some days, for violations and errors)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no progress on standard error")
}

func (o *runOptions) loadFlags(f *pflag.FlagSet) {
	p := &o.params
	f.IntVar(&p.Clients, "clients", p.Clients, "number of clients that compete for the locks")
	f.IntVar(&p.Processes, "processes", p.Processes, "number of processes that the clients are divided among; clients of one process share the state that a design keeps in a process (default one per client)")
	f.IntVar(&p.Keys, "keys", p.Keys, "number of locks; unless given, the key choices own and pairs derive it from --clients")
	f.StringVar(&p.KeyChoice, "key-choice", p.KeyChoice, "how a client picks its next key: "+strings.Join(workloads.KeyChoices(), ", "))
	f.IntVar(&p.Groups, "groups", p.Groups, "number of groups that keys, clients and processes are divided into; clients take only keys of their group, so that machines can take some groups each, with --share (default 1)")
	f.DurationVar(&p.TTL, "ttl", p.TTL, "lease that clients ask for; workloads with rounds of several leases have 300ms unless given")
	f.DurationVar(&p.Wait, "wait", p.Wait, "longest wait for a held lock; 0s makes one attempt")
	f.Var(newTextFlag(&p.Hold, "distribution"), "hold", "time of work under the lock: 5ms, uniform:1ms-5ms, exp:5ms or lognormal:5ms,0.8")
	f.Var(newTextFlag(&p.Think, "distribution"), "think", "pause between two iterations, written like --hold")
	f.Float64Var(&p.Slow, "slow", 0, "share of holds that outlive their lease, 0 to 1 (default 0)")
	f.IntVar(&p.Stallers, "stallers", p.Stallers, "number of clients in addition to --clients; of each four, which have a key of their own, one works on past its lease; stallers are judged but not measured, and run until each could stall once")
	f.DurationVar(&p.Duration, "duration", p.Duration, "length of the run of each design, warm-up included; 0s runs until --operations are done")
	f.Int64Var(&p.Operations, "operations", 0, "total number of iterations of all clients (default no limit)")
	f.DurationVar(&p.Warmup, "warmup", p.Warmup, "start of the run that is judged but not measured")
	f.Uint64Var(&p.Seed, "seed", 0, "seed of the random choices of clients (default random)")
}

func (o *runOptions) workloadFlags(f *pflag.FlagSet) {
	p := &o.params
	f.Float64Var(&p.SlowFactor, "slow-factor", 0, "length of a slow hold, in leases (default 1.25)")
	f.Int64Var(&p.Stock, "stock", 0, "oversell: number of units for sale per key (default 1000000)")
	f.Int64Var(&p.Threshold, "threshold", 0, "redeem: cost of one redemption, in points (default 10)")
	f.Int64Var(&p.Points, "points", 0, "redeem: number of points of a user at the start (default 100)")
	f.IntVar(&p.Depth, "depth", 0, "reentrant: number of nested acquires, the outer one included (default 2)")
	f.DurationVar(&p.NestedTTL, "nested-ttl", 0, "reentrant: lease of nested acquires (default --ttl)")
	f.DurationVar(&p.Period, "period", 0, "cron: time from one job to the next (default 500ms; if --ttl, --hold and --duration are not given either, cron runs 6s with a period of 2s, a job of 1.8s and a lease of 1s)")
	f.DurationVar(&p.Delay, "delay", 0, "cron: time after the job during which other clients stay locked out (default a fifth of --period)")
}

// onlyFor are the flags that only one workload reads.
var onlyFor = map[string]string{
	"stock":     "oversell",
	"threshold": "redeem", "points": "redeem",
	"depth": "reentrant", "nested-ttl": "reentrant",
	"period": "cron", "delay": "cron",
}

// unread returns the error for a flag that has no effect.
func (o *runOptions) unread(f *pflag.FlagSet) (err error) {
	if _, err := workloads.Find(workloads.Live, o.workload); err != nil {
		return err
	}
	f.VisitAll(func(flag *pflag.Flag) {
		if of, only := onlyFor[flag.Name]; only && flag.Changed && of != o.workload && err == nil {
			err = fmt.Errorf("%s %s: workload %s does not read it; hint: --workload %s does, or leave it out", flag.Name, flag.Value, o.workload, of)
		}
	})
	return err
}

// settle derives the settings that were not given from those that were. It returns an error for a
// flag that has no effect.
func (o *runOptions) settle(f *pflag.FlagSet) error {
	if err := o.unread(f); err != nil {
		return err
	}
	p := &o.params
	if w, err := workloads.Find(workloads.Live, o.workload); err == nil && w.Lease > 0 && !f.Changed("ttl") {
		p.TTL = w.Lease
	}
	if o.workload == "cron" {
		o.settleCron(f)
	}
	if !f.Changed("duration") && p.Operations > 0 {
		p.Duration = 0
	}
	settleArrivals(f, p)
	if asked := f.Changed("clients") || f.Changed("key-choice"); asked && !f.Changed("keys") && fixedKeys(p.KeyChoice) {
		p.Keys = 0
	}
	if !f.Changed("warmup") && p.Duration > 0 {
		p.Warmup = min(p.Warmup, p.Duration/5)
	}
	if !f.Changed("seed") {
		p.Seed = randomSeed()
	}
	return nil
}

// settleCron makes the job longer than its lease, which so has to be extended, and the run a few
// periods long.
func (o *runOptions) settleCron(f *pflag.FlagSet) {
	p := &o.params
	if f.Changed("ttl") || f.Changed("hold") || f.Changed("period") || f.Changed("duration") {
		return
	}
	p.TTL, p.Hold = time.Second, workloads.Always(1800*time.Millisecond)
	p.Period, p.Duration = 2*time.Second, 6*time.Second
	if !f.Changed("stallers") {
		p.Stallers = 0
	}
}

// fixedKeys reports whether each client keeps its key, so that the number of keys follows from the
// number of clients.
func fixedKeys(choice string) bool { return choice == workloads.Own || choice == workloads.Pairs }

func serverFlag(f *pflag.FlagSet, servers *[]string, what string) {
	f.StringArrayVar(servers, "server", serversFromEnvironment(),
		what+"; repeated for designs that lock on several servers (default $"+serverVariable+", else a private redis-server from PATH, else an embedded server)")
	f.Lookup("server").DefValue = "[]" // help must not show the password of a server in the environment
}

// serversFromEnvironment returns the servers in the environment variable, separated by blanks.
func serversFromEnvironment() []string { return strings.Fields(os.Getenv(serverVariable)) }

// plan returns the plan of the flags, checked.
func (o *runOptions) plan(ctx context.Context) (p runner.Plan, err error) {
	p = runner.Plan{Options: o.params, Faults: o.faults, Servers: o.servers, History: o.history, FailFast: o.failFast, SelfCheck: true}
	designs, err := o.chosen()
	if err != nil {
		return p, err
	}
	if designs, err = o.commands.with(ctx, designs, len(o.designs) > 0 || o.service != ""); err != nil {
		return p, err
	}
	for i, d := range designs {
		if designs[i], err = runner.Claiming(d, o.claims...); err != nil {
			return p, err
		}
	}
	if p.Subjects, err = o.subjects(designs); err != nil {
		return p, err
	}
	if p.Workload, err = workloads.Find(workloads.Live, o.workload); err != nil {
		return p, err
	}
	return p, p.Check()
}

// chosen returns the designs that --design or --service choose, those of the tour without either.
func (o *runOptions) chosen() ([]design.Design, error) {
	switch {
	case o.service != "" && len(o.designs) > 0:
		return nil, fmt.Errorf("--service %s and --design %s: each of them chooses designs; hint: leave one out, since a glob chooses among those of a service: --design 'postgres/*'", o.service, strings.Join(o.designs, ","))
	case o.service == "all":
		return impls.All(), nil
	case o.service != "":
		return choosing.On(o.service)
	case len(o.designs) > 0:
		return impls.MatchRun(everyDesign(o.designs)...)
	}
	return impls.Tour(), nil
}

// everyDesign returns patterns of designs with a glob in place of "all".
func everyDesign(patterns []string) []string {
	patterns = slices.Clone(patterns)
	for i, p := range patterns {
		if p == "all" {
			patterns[i] = "*/*"
		}
	}
	return patterns
}

// subjects returns each design with each of the guards, except designs without fences with the guard
// that needs fences; it is an error if only such pairs are named. A design that a pattern chose is
// optional, and a lock of the user's own is not.
func (o *runOptions) subjects(designs []design.Design) ([]runner.Subject, error) {
	guards := o.guards
	if len(guards) == 0 {
		guards = []string{""}
	}
	var all []runner.Subject
	for _, d := range designs {
		for _, name := range guards {
			if g := lockbench.Guard(name); g != lockbench.FenceGuard || d.Fences {
				all = append(all, runner.Subject{Design: d, Guard: g, Optional: d.Arguments == "" && !slices.Contains(o.designs, d.Name)})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("guard %s: none of these designs issues fences; hint: lua-token/fenced does, and guard %s needs none", lockbench.FenceGuard, lockbench.CompareGuard)
	}
	return all, nil
}

// runPlan runs a plan, shows its progress, and passes its events on to others.
func runPlan(ctx context.Context, p runner.Plan, shown progress.Runs, others ...runner.Sink) (runner.Result, error) {
	defer shown.Close()
	return runner.Run(ctx, p, append(others, shown.Sink())...)
}

// designsOf returns the locks of subjects, each once.
func designsOf(subjects []runner.Subject) (all []design.Design) {
	for i := range subjects {
		if subjects[i].Design.Control == "" && (i == 0 || subjects[i].Design.Name != subjects[i-1].Design.Name) {
			all = append(all, subjects[i].Design)
		}
	}
	return all
}

func namesOf(designs []design.Design) (names []string) {
	for _, d := range designs {
		names = append(names, d.Name)
	}
	return names
}
