package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/gates"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/workloads"
)

// redisVariable names the environment variable that --redis falls back to.
const redisVariable = "LOCKBENCH_REDIS"

// runOptions are the flags of run.
type runOptions struct {
	designs  []string
	workload string
	redis    []string
	guards   []string
	params   workloads.Options
	faults   []string
	history  string
	out      []string
	gate     gateOptions
	metrics  metricsOptions
	quiet    bool
	failFast bool
	ui       bool // of run alone
}

// onlyOfRun are flags that commands which run designs many times do without: they are of
// single results.
var onlyOfRun = []string{"out", "fail-if", "abort-on-fail", "metrics", "ui"}

func newRun() *cobra.Command {
	o := runOptions{params: tour()}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO.yaml]",
		Short: "Run designs under a workload, and judge and measure them",
		Long: `run drives designs one after another with the clients of a workload, records what
happened, judges the record and measures it. Without flags it is a tour of all our
designs that takes less than a minute and needs nothing installed: a private
redis-server from PATH is used, or else an embedded server. Designs that lock on
several servers get as many, each on its own.

A scenario is a YAML file whose keys are these flags; flags given beside it come
first. lockbench init writes one, and - reads standard input.

A run ends with a lock that is broken on purpose: unless these settings show that it
is, what held is called untested (exit 3).

Ctrl-C ends the run in good order and reports what was measured; once more aborts.`,
		Example: `  lockbench run
  lockbench run --design 'lua-token/*,watch-multi/poll' --clients 64 --duration 1m
  lockbench run --workload reentrant --depth 3 --slow-keys 0 --redis redis://localhost:6379
  lockbench run --rate 1000 --clients 64 --workload mutex --design lua-token/token
  lockbench run --fault crash --fault lost-reply,p=0.01 --design 'lua-token/*'
  lockbench run --design lua-token/fenced --guard none,fence,cas
  lockbench run --design 'redsync/*'
  lockbench run scenario.yaml --duration 1m
  lockbench run --key-choice own --history histories --out json=result.json`,
		Args: oneScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := readScenario(cmd, args, newRun().Flags())
			if err != nil {
				return err
			}
			o.settle(cmd.Flags())
			return file.Locate(o.run(cmd), settingOf(cmd.Flags()))
		},
	}
	o.flags(cmd.Flags())
	uiFlag(cmd.Flags(), &o.ui)
	return cmd
}

func (o *runOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringSliceVar(&o.designs, "design", nil, "`names` or globs of designs, by comma or repeated (default all of ours; lockbench list designs has other people's too)")
	f.StringVar(&o.workload, "workload", cmp.Or(o.workload, workloads.Oversell().Name), "what clients do, a `name` (lockbench list workloads)")
	f.StringArrayVar(&o.redis, "redis", redisFromEnvironment(), "`URL` of the server: redis://, rediss:// or unix://; repeated for designs that lock on several (default $"+redisVariable+", or private redis-servers from PATH, or embedded)")
	o.loadFlags(f)
	arrivalFlags(f, &o.params)
	o.workloadFlags(f)
	f.StringArrayVar(&o.faults, "fault", nil, "`KIND[,name=value...]` that goes wrong during the run, such as lost-reply,p=0.01 or restart,at=2s; repeated (lockbench list faults)")
	f.StringSliceVar(&o.guards, "guard", nil, "`kinds` of store that guard themselves, for oversell and redeem: "+strings.Join(guardNames(), ", ")+"; several run each design once with each")
	f.BoolVar(&o.failFast, "fail-fast", false, "end the run within about a second of a claimed guarantee being broken, and start no other design; the judgement then keeps up whatever processor time that takes from the clients, and speeds are lower where they need all of it")
	f.StringVar(&o.history, "history", "", "keep the history of every design in this `directory`")
	f.StringArrayVar(&o.out, "out", nil, outHelp(runOutputs))
	o.gate.flags(f)
	o.gate.abortFlag(f)
	o.metrics.flag(f)
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
	f.Var(&p.Hold, "hold", "work under the lock: 5ms, uniform:1ms-5ms, exp:5ms or lognormal:5ms,0.8")
	f.Var(&p.Think, "think", "pause between two iterations, like --hold")
	f.Float64Var(&p.Slow, "slow", 0, "share of holds that outlive their lease, 0 to 1")
	f.Float64Var(&p.SlowKeys, "slow-keys", p.SlowKeys, "share of keys whose holds all outlive their lease, 0 to 1; unless given, 0 where --duration is too short for one to end")
	f.DurationVar(&p.Duration, "duration", p.Duration, "length of the run of each design, warm-up included; 0s is until --operations are done")
	f.Int64Var(&p.Operations, "operations", 0, "iterations of all clients together; 0 is no limit")
	f.DurationVar(&p.Warmup, "warmup", p.Warmup, "start of the run that is not measured, but judged")
	f.Uint64Var(&p.Seed, "seed", 0, "decides all choices of the clients (default random, and told)")
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

// settle fits what was not asked for to what was.
func (o *runOptions) settle(f *pflag.FlagSet) {
	p := &o.params
	if o.workload == workloads.Cron().Name {
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

func guardNames() []string {
	var names []string
	for _, g := range lockbench.Guards() {
		names = append(names, string(g))
	}
	return names
}

// A subject is one row of the result: a design, and the guard of the store it runs with.
type subject struct {
	design.Design
	guard lockbench.Guard
	round round
	// variant tells it from others of the same design, whose options change does not
	// change alike; empty and nil for none.
	variant string
	change  func(*workloads.Options)
}

// label names the subject, and the file of its history.
func (s subject) label() string {
	name := s.Name
	if s.guard != "" && s.guard != lockbench.NoGuard {
		name += " +" + string(s.guard)
	}
	if s.round.number > 0 {
		name += " " + s.round.String()
	}
	if s.variant != "" {
		name += " " + s.variant
	}
	return name
}

// subjects are the designs with each of the guards, those that hand out no fences not
// with the guard that needs them; an error, when only such are named.
func (o *runOptions) subjects(designs []design.Design) ([]subject, error) {
	guards := o.guards
	if len(guards) == 0 {
		guards = []string{""}
	}
	var all []subject
	for _, d := range designs {
		for _, name := range guards {
			if g := lockbench.Guard(name); g != lockbench.FenceGuard || d.Fences {
				all = append(all, subject{Design: d, guard: g})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("guard %s: none of these designs hands out fences; hint: lua-token/fenced does, and guard %s needs none", lockbench.FenceGuard, lockbench.CompareGuard)
	}
	return all, nil
}

// A plan is what a run will do, checked before anything starts.
type plan struct {
	subjects []subject
	workload workloads.Workload
	options  workloads.Options
	faults   []faults.Fault
	out      outputs
	gates    []gates.Threshold
	// patterns are what the designs were chosen by; empty where nobody chose.
	patterns []string
}

func (o *runOptions) plan() (p plan, err error) {
	p.options, p.patterns = o.params, o.designs
	designs := impls.Documented()
	if len(o.designs) > 0 {
		if designs, err = impls.Match(o.designs...); err != nil {
			return p, err
		}
	}
	if p.subjects, err = o.subjects(designs); err != nil {
		return p, err
	}
	if p.workload, err = workloads.Find(o.workload); err != nil {
		return p, err
	}
	for _, s := range p.subjects {
		p.options.Guard = s.guard
		if _, err = p.workload.Options(p.options); err != nil {
			return p, fmt.Errorf("workload %s: %w", p.workload.Name, err)
		}
	}
	if p.faults, err = faults.ParseAll(o.faults); err != nil {
		return p, err
	}
	if p.out, err = parseOutputs(o.out, runOutputs); err != nil {
		return p, err
	}
	if p.gates, err = o.gate.thresholds(); err != nil {
		return p, err
	}
	return p, inScope(p.gates, designNames(p.subjects))
}

func designNames(subjects []subject) []string {
	var names []string
	for _, s := range subjects {
		names = append(names, s.Name)
	}
	return slices.Compact(names)
}

// collectRarely lets garbage pile up a little more than usual: the live heap of a
// run is a few megabytes, so that the collector would run dozens of times a second
// beside the clients. GOGC, where it is set, is left to have its way.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

func (o *runOptions) run(cmd *cobra.Command) error {
	collectRarely()
	p, err := o.plan()
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	ctx, progress, err := o.show(cmd, &p)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	s, closing, err := o.session(p, progress)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	err = s.run(ctx, o.redis)
	if err = errors.Join(err, closing(), s.records.tidy(s.runs)); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	r := reports.New(s.runs, s.notRun)
	r.Prove(s.proof)
	r.Gate(p.gates, s.runs)
	if err := p.out.write(cmd.OutOrStdout(), r, s.runs); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return verdictOf(r.Exit)
}

// session is the session of a plan with those who look on, and what closes these.
func (o *runOptions) session(p plan, progress progress) (s *session, closing func() error, err error) {
	s = &session{plan: p, proves: true, failFast: o.failFast, progress: progress}
	if s.abortOn, err = o.gate.abortOn(p.gates); err != nil {
		return nil, nil, err
	}
	if s.metrics, err = o.metrics.open(len(p.subjects), s.progress.say); err != nil {
		return nil, nil, err
	}
	logs, err := openIntervalLogs(p.out["hlog"])
	if err != nil {
		return nil, nil, errors.Join(err, s.metrics.close())
	}
	closing = func() error { return errors.Join(s.metrics.close(), logs.close()) }
	s.also = logs.of(p.subjects)
	if s.records, err = newRecords(o.history); err != nil {
		return nil, nil, errors.Join(err, closing())
	}
	return s, closing, nil
}
