package explore

import (
	"context"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore/internal/clientpool"
	"github.com/lockbench/lockbench/internal/explore/internal/shrink"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/workloads"
)

// Run explores: it runs and judges schedules within the bubble until the scope is complete,
// the configuration's budget is spent or ctx ends, and shrinks the first schedule that broke
// each cell. It calls tell now and then, from within the bubble.
//
// The error is about the configuration or the set-up; faults of the lock are in the Result.
// Only one exploration may run in a process at a time, because it replaces the program's
// source of random numbers.
func Run(ctx context.Context, bubble Bubble, cfg Config, tell func(Progress)) (Result, error) {
	cfg, program, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	x := &explorer{cfg: cfg, program: program, bubble: bubble, tell: tell, often: 100 * time.Millisecond, failures: map[lockbench.Cell]failure{}}
	err = x.enter(ctx, x.explore)
	x.result.Design = cfg.Design.Name
	return x.result, err
}

// An explorer is the state of one exploration.
type explorer struct {
	cfg       Config
	program   workloads.Program
	bubble    Bubble
	tell      func(Progress)
	stopwatch *stopwatch
	limit     limit
	global    *globalRandom

	world         *world
	smallerWorlds []*world // with fewer clients or rounds, for shrinking
	sum           findingSum
	failures      map[lockbench.Cell]failure
	often, told   time.Duration // how often to tell the progress, and when it was told last
	result        Result
}

// A failure is a schedule that broke a cell.
type failure struct {
	shrink.Candidate
	against  bool // the violation counts against the claims
	schedule int64
	elapsed  time.Duration
}

// enter runs body in the bubble, with the clocks and random sources that it needs.
func (x *explorer) enter(ctx context.Context, body func() error) (err error) {
	clientpool.Quiet()
	BeforeBubbles()
	x.global = takeGlobal()
	defer x.global.restore()
	x.stopwatch = startStopwatch()
	x.limit = limit{ctx, x.stopwatch, x.cfg.Budget, x.cfg.Schedules}
	defer func() { x.result.Elapsed = x.stopwatch.stop() }()
	ended := false
	defer func() {
		// A bubble panics at its end if goroutines are left in it.
		if p := recover(); p != nil {
			if !ended {
				panic(p)
			}
			x.defect("%v", p)
		}
	}()
	x.bubble.Enter(func() {
		err = body()
		ended = true
	})
	return err
}

// explore is the part of Run inside the bubble.
func (x *explorer) explore() error {
	w, err := newWorld(x.cfg, x.program, x.bubble, x.global)
	if err != nil {
		return err
	}
	defer w.close()
	x.world = w
	if err := w.warmUp(); err != nil {
		return err
	}
	if err := x.strategies(); err != nil {
		return err
	}
	x.counterexamples()
	x.result.Coverage.Lacks = w.server.Lacks()
	exercises := x.cfg.exercises(x.program, w.skews)
	x.result.Findings, x.result.Grants = x.sum.result(exercises, emptyResult(w.header, exercises)), x.sum.grants
	for _, o := range x.smallerWorlds {
		o.close()
	}
	x.result.Defects = append(x.result.Defects, w.defects...)
	return nil
}

// strategies runs the configured strategy. Auto is the exhaustive one and then, unless that
// completes, the random one.
func (x *explorer) strategies() error {
	cov := &x.result.Coverage
	*cov = Coverage{
		Strategy: x.cfg.Strategy, Scenario: x.cfg.Scenario, Clients: x.cfg.Clients, Threads: x.cfg.Threads,
		Rounds: x.cfg.Rounds, Faults: x.cfg.Faults, Moves: x.cfg.Moves, Kinds: x.cfg.Kinds,
	}
	switch x.cfg.Strategy {
	case Exhaustive:
		return x.exhaust(x.limit)
	case Random, PCT:
		return x.draw(x.limit)
	}
	half := x.limit
	half.budget, half.schedules = (half.budget+1)/2, (half.schedules+1)/2 // never to 0, which is no limit
	cov.Strategy = Exhaustive
	if err := x.exhaust(half); err != nil || cov.Complete || slices.Contains([]string{"interrupted", "leak", "clock"}, cov.Stopped) {
		return err
	}
	cov.Strategy = Random
	return x.draw(x.limit)
}

// maxDiverged bounds the diverged schedules of an exhaustive search, which otherwise may never end.
const maxDiverged = 100

func (x *explorer) exhaust(l limit) error {
	s := strategy.NewExhaustive(max(0, x.cfg.Faults), max(0, x.cfg.Moves), !x.cfg.NoReduction)
	cov := &x.result.Coverage
	for s.Begin() {
		if cov.Stopped = x.stopReason(l); cov.Stopped != "" {
			break
		}
		if err := x.schedule(s, s.Fresh); err != nil {
			return err
		}
		if s.Diverged == maxDiverged {
			break
		}
	}
	cov.Pruned, cov.Diverged = s.Pruned, s.Diverged
	if cov.Stopped == "" && (s.Diverged > 0 || s.Varied) {
		cov.Stopped = "divergence"
	}
	if cov.Stopped == "" && x.world.cutShort {
		cov.Stopped = "steps"
	}
	cov.Complete = cov.Stopped == ""
	return nil
}

func (x *explorer) draw(l limit) error {
	draw := strategy.NewRandom
	if x.cfg.Strategy == PCT {
		draw = strategy.NewPCT
	}
	s := draw(x.cfg.Seed, max(0, x.cfg.Faults), max(0, x.cfg.Moves), 4*x.cfg.Clients*x.cfg.Rounds)
	cov := &x.result.Coverage
	for s.Begin() {
		if cov.Stopped = x.stopReason(l); cov.Stopped != "" {
			break
		}
		if err := x.schedule(s, func() bool { return true }); err != nil {
			return err
		}
	}
	return nil
}

// lastYear is the end in virtual time, which schedules use up one after the other from the
// year 2000 on: in 2262 the clocks of a bubble end, and the program with them. Only leases
// of hours and days get there. The last years are for shrinking.
const (
	lastYear    = 2250
	shrinkYears = 50
)

// stopReason returns the reason to stop now, empty for none. Goroutines that a lock left behind are
// one: they would disturb the next schedule.
func (x *explorer) stopReason(l limit) string {
	switch {
	case x.world.leaks:
		return "leak"
	case time.Now().Year() >= lastYear-shrinkYears:
		return "clock"
	}
	return l.stopReason(x.result.Coverage.Schedules)
}

// schedule runs one schedule and, if it counts, judges it.
func (x *explorer) schedule(s strategy.Chooser, counts func() bool) error {
	w := x.world
	ended, err := w.run(s)
	if err == nil && ended && counts() {
		err = w.finish()
		x.count()
	}
	w.end()
	x.progress()
	return err
}

// count judges the last schedule and adds its verdicts.
func (x *explorer) count() {
	cov := &x.result.Coverage
	cov.Schedules++
	x.sum.add(x.world.judged(), func(f *checker.CellFinding) {
		c := shrink.Candidate{Cell: f.Cell, Scope: x.cfg.scope(), Choices: slices.Clone(x.world.made)}
		x.failures[f.Cell] = failure{c, f.Against > 0, cov.Schedules, x.stopwatch.read()}
	})
}

// progress tells the progress, unless it was told a moment ago.
func (x *explorer) progress() {
	if now := x.stopwatch.read(); now-x.told >= x.often {
		x.told = now
		x.tell(Progress{Schedules: x.result.Coverage.Schedules, Broken: x.broken(true), Elapsed: now})
	}
}

// broken returns the broken cells so far, in order: those that count against the claims, or the
// others.
func (x *explorer) broken(against bool) (all []lockbench.Cell) {
	for cell, f := range x.failures {
		if f.against == against {
			all = append(all, cell)
		}
	}
	slices.SortFunc(all, lockbench.Cell.Compare)
	return all
}
