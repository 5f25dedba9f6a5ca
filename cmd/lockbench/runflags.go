package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/textflag"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// redisVariable names the environment variable that --redis falls back to.
const redisVariable = "LOCKBENCH_REDIS"

// runOptions say what is run and how: the flags that run shares with all commands that run
// designs again and again.
type runOptions struct {
	designs  []string
	workload string
	redis    []string
	guards   []string
	claims   []string
	params   workloads.Options
	faults   []string
	failFast bool
	history  string
	quiet    bool
}

// flagsBut adds all flags but those of these names, which a command does without or has of
// its own. It returns the names of those it added.
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
	f.StringSliceVar(&o.designs, "design", nil, "`names` or globs of designs, by comma or repeated (default all of ours; lockbench list designs has other people's too)")
	f.StringVar(&o.workload, "workload", cmp.Or(o.workload, "oversell"), "what clients do, a `name` (lockbench list workloads)")
	f.StringArrayVar(&o.redis, "redis", redisFromEnvironment(), "`URL` of the server: redis://, rediss://, unix://, or file:///DIR for locks on files (--server is the same); repeated for designs that lock on several (default $"+redisVariable+", or private redis-servers from PATH, or embedded)")
	o.loadFlags(f)
	arrivalFlags(f, &o.params)
	o.workloadFlags(f)
	f.StringArrayVar(&o.faults, "fault", nil, "`KIND[,name=value...]` that goes wrong during the run, such as lost-reply,p=0.01 or restart,at=2s; repeated (lockbench list faults)")
	f.StringSliceVar(&o.guards, "guard", nil, "`kinds` of store that guard themselves, for oversell and redeem: "+strings.Join(catalog.Names(catalog.Guards()), ", ")+"; several run each design once with each")
	claimsFlag(f, &o.claims, "the designs claim")
	f.BoolVar(&o.failFast, "fail-fast", false, "end the run within about a second of a violation that counts against the claims, and start no other design; the judgement then keeps up whatever processor time that takes from the clients, and speeds are lower where they need all of it")
	f.StringVar(&o.history, "history", "", "keep the history of every design in this `directory`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
}

func (o *runOptions) loadFlags(f *pflag.FlagSet) {
	p := &o.params
	f.IntVar(&p.Clients, "clients", p.Clients, "owners that compete")
	f.IntVar(&p.Processes, "processes", p.Processes, "processes they live in, which share what a design keeps per process (default one per client)")
	f.IntVar(&p.Keys, "keys", p.Keys, "locks; unless given, as many as key choice own or pairs needs for the clients asked for")
	f.StringVar(&p.KeyChoice, "key-choice", p.KeyChoice, "how clients pick their next key: "+strings.Join(workloads.KeyChoices(), ", "))
	f.DurationVar(&p.TTL, "ttl", p.TTL, "lease asked for")
	f.DurationVar(&p.Wait, "wait", p.Wait, "how long to wait for a lock that is held; 0s is one attempt")
	f.Var(textflag.New(&p.Hold, "distribution"), "hold", "work under the lock: 5ms, uniform:1ms-5ms, exp:5ms or lognormal:5ms,0.8")
	f.Var(textflag.New(&p.Think, "distribution"), "think", "pause between two iterations, like --hold")
	f.Float64Var(&p.Slow, "slow", 0, "share of holds that outlive their lease, 0 to 1")
	f.Float64Var(&p.SlowKeys, "slow-keys", p.SlowKeys, "share of keys whose holds all outlive their lease, 0 to 1; unless given, 0 where --duration is too short for one to end")
	f.DurationVar(&p.Duration, "duration", p.Duration, "length of the run of each design, warm-up included; 0s is until --operations are done")
	f.Int64Var(&p.Operations, "operations", 0, "iterations of all clients together; 0 is no limit")
	f.DurationVar(&p.Warmup, "warmup", p.Warmup, "start of the run that is not measured, but judged")
	f.Uint64Var(&p.Seed, "seed", 0, "decides all choices of the clients (default random, printed)")
}

func (o *runOptions) workloadFlags(f *pflag.FlagSet) {
	p := &o.params
	f.Float64Var(&p.SlowFactor, "slow-factor", 0, "length of a slow hold in leases (default 1.25)")
	f.Int64Var(&p.Stock, "stock", 0, "oversell: units for sale per key (default 1000000)")
	f.Int64Var(&p.Threshold, "threshold", 0, "redeem: points that one redemption costs (default 10)")
	f.Int64Var(&p.Points, "points", 0, "redeem: points a user starts with (default 100)")
	f.IntVar(&p.Depth, "depth", 0, "reentrant: how often the lock is taken before it is given back (default 2)")
	f.DurationVar(&p.NestedTTL, "nested-ttl", 0, "reentrant: lease that nested acquires ask for (default --ttl)")
	f.DurationVar(&p.Period, "period", 0, "cron: how often the job is due (default 500ms; unless any of these is given, cron runs 6s with a period of 2s, a job of 1.8s and a lease of 1s)")
	f.DurationVar(&p.Delay, "delay", 0, "cron: how long others are kept out after the job (default a fifth of the period)")
}

// onlyFor are flags that one workload alone reads.
var onlyFor = map[string]string{
	"stock":     "oversell",
	"threshold": "redeem", "points": "redeem",
	"depth": "reentrant", "nested-ttl": "reentrant",
	"period": "cron", "delay": "cron",
}

// unread is the error for a flag that would do nothing.
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

// settle fits what was not asked for to what was. The error is that of a flag which asks
// for nothing.
func (o *runOptions) settle(f *pflag.FlagSet) error {
	if err := o.unread(f); err != nil {
		return err
	}
	p := &o.params
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
	if !f.Changed("slow-keys") && !o.slowFits() {
		p.SlowKeys = 0
	}
	if !f.Changed("seed") {
		p.Seed = randomSeed()
	}
	return nil
}

// settleCron makes the job outlast its lease, so that it has to be extended, in a
// few periods.
func (o *runOptions) settleCron(f *pflag.FlagSet) {
	p := &o.params
	if f.Changed("ttl") || f.Changed("hold") || f.Changed("period") || f.Changed("duration") {
		return
	}
	p.TTL, p.Hold = time.Second, workloads.Always(1800*time.Millisecond)
	p.Period, p.Duration = 2*time.Second, 6*time.Second
	if !f.Changed("slow-keys") {
		p.SlowKeys = 0
	}
}

// fixedKeys tells whether clients stay with their key, so that the number of
// keys follows from theirs.
func fixedKeys(choice string) bool { return choice == workloads.Own || choice == workloads.Pairs }

// slowFits tells whether a slow hold would end within the run, in designs that
// round leases up to seconds and tolerate one second more. Where the number of
// operations ends the run, slow ones would make it last.
func (o *runOptions) slowFits() bool {
	p := o.params.OrDefaults()
	granted := math.Ceil(p.TTL.Seconds()) * float64(time.Second)
	return time.Duration(p.SlowFactor*granted)+time.Second < p.Duration
}

// redisFromEnvironment are the servers that the environment names, separated by blanks.
func redisFromEnvironment() []string { return strings.Fields(os.Getenv(redisVariable)) }

// plan is what the flags come to, checked.
func (o *runOptions) plan() (p runner.Plan, err error) {
	p = runner.Plan{Options: o.params, Faults: o.faults, Servers: o.redis, History: o.history, FailFast: o.failFast, SelfCheck: true}
	designs := impls.Documented()
	if len(o.designs) > 0 {
		if designs, err = impls.Match(o.designs...); err != nil {
			return p, err
		}
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

// subjects are the designs with each of the guards, those that hand out no fences not
// with the guard that needs them; an error, when only such are named. What was not named
// but chosen by a pattern is optional.
func (o *runOptions) subjects(designs []design.Design) ([]runner.Subject, error) {
	guards := o.guards
	if len(guards) == 0 {
		guards = []string{""}
	}
	var all []runner.Subject
	for _, d := range designs {
		for _, name := range guards {
			if g := lockbench.Guard(name); g != lockbench.FenceGuard || d.Fences {
				all = append(all, runner.Subject{Design: d, Guard: g, Optional: !slices.Contains(o.designs, d.Name)})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("guard %s: none of these designs hands out fences; hint: lua-token/fenced does, and guard %s needs none", lockbench.FenceGuard, lockbench.CompareGuard)
	}
	return all, nil
}

// runPlan runs a plan, and shows its progress and to others what happens.
func runPlan(ctx context.Context, p runner.Plan, shown progress.Runs, others ...runner.Sink) (runner.Result, error) {
	defer shown.Close()
	return runner.Run(ctx, p, append(others, shown.Sink())...)
}

// designNames are those of subjects, each once.
func designNames(subjects []runner.Subject) (names []string) {
	for i := range subjects {
		names = append(names, subjects[i].Design.Name)
	}
	return slices.Compact(names)
}

func namesOf(designs []design.Design) (names []string) {
	for _, d := range designs {
		names = append(names, d.Name)
	}
	return names
}
