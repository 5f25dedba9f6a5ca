package evidence

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// A Plan describes the explorations of designs beside a run.
type Plan struct {
	Designs []design.Design
	// Scope has the settings for the exploration of each design, with its budget.
	Scope explore.Config
}

// Searches has the explorations of each design, by its name.
type Searches map[string]*results.Search

// InTurns returns a function that explores designs, as [Request.Search] does, when their turn comes: it
// adds to searches the design that it is called with and the next ones that are explored at the same
// time, unless searches has them. So the first run need not wait until all are explored.
func (r Request) InTurns(searches Searches, designs []design.Design, scope explore.Config, say func(string, ...any)) func(context.Context, design.Design) {
	beside := runtime.NumCPU()
	return func(ctx context.Context, d design.Design) {
		if searches[d.Name] != nil {
			return
		}
		var next []design.Design
		for _, other := range designs {
			if begun := len(next) > 0 || other.Name == d.Name; begun && len(next) < beside && searches[other.Name] == nil {
				next = append(next, other)
			}
		}
		if len(next) > 0 {
			maps.Copy(searches, r.Search(ctx, next, scope, say))
		}
	}
}

// Shares of the time and of the schedules of a design. The plain exploration, without a guard and
// with one thread per process, has the rest.
const (
	guardShare  = 1. / 8
	threadShare = 1. / 8
)

// guardedRounds is the number of writes of each client behind a guard. The more there are, the more
// often a client writes after another one.
const guardedRounds = 6

// guardedSchedules is a number of schedules with at least [conclusion.Enough] occasions. On a slow
// machine they may take as long as all other explorations.
const guardedSchedules = 1000

var (
	// guardedPrograms are the programs with writes that a guard can stop, within the lease and past
	// it.
	guardedPrograms = []string{"update", "overrun"}
	// threadPrograms are the programs that can show faults in state shared by the threads of a
	// process.
	threadPrograms = []string{"contend", "stale-release", "abandon"}
)

// Search explores the designs until all are done or ctx ends. For a design that cannot be explored
// the [results.Search] has the reason. Search returns an error if nothing can be explored at all.
func (p Plan) Search(ctx context.Context, sink exploring.Sink) (Searches, error) {
	found := make(Searches)
	var explorable []design.Design
	for _, d := range p.Designs {
		if why := p.cannot(d); why != "" {
			found[d.Name] = &results.Search{NotDone: why}
			continue
		}
		explorable = append(explorable, d)
	}
	if len(explorable) == 0 {
		return found, nil
	}
	if err := p.search(ctx, found, explorable, sink); err != nil {
		return found, err
	}
	threads := p.part(explorable, threadShare, threadPrograms)
	threads.Config.Threads = 2
	if err := p.more(ctx, "explore threads", threads, sink, found); err != nil {
		return found, err
	}
	return found, p.guarded(ctx, explorable, sink, found)
}

// guarded explores the designs with a guard in the store.
func (p Plan) guarded(ctx context.Context, designs []design.Design, sink exploring.Sink, found Searches) error {
	for _, guard := range []lockbench.Guard{lockbench.FenceGuard, lockbench.CompareGuard} {
		other := func(d design.Design) bool { return GuardFor(d) != guard }
		if some := slices.DeleteFunc(slices.Clone(designs), other); len(some) > 0 {
			plan := p.part(some, guardShare, guardedPrograms)
			plan.Config.Guard, plan.Config.Rounds = guard, guardedRounds
			plan.Config.Budget, plan.Config.Schedules = p.Scope.Budget, max(guardedSchedules, plan.Config.Schedules)
			if err := p.more(ctx, "explore guarded", plan, sink, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// cannot returns the reason why a design is not explored, empty if it is.
func (p Plan) cannot(d design.Design) string {
	if err := d.Explorable(); err != nil {
		why, _, _ := strings.Cut(err.Error(), "; hint: ")
		_, why, _ = strings.Cut(why, "cannot be explored: ")
		return why
	}
	if impls.Version(d.Name) == "" && d.Definition == "" && !strings.HasPrefix(d.Name, "mutants/") {
		return "it is not in the catalogue, from which a process that explores takes its design; hint: locktest.Explore explores any"
	}
	return ""
}

// search explores designs in all programs.
func (p Plan) search(ctx context.Context, found Searches, designs []design.Design, sink exploring.Sink) error {
	plan := p.part(designs, 1-guardShare-threadShare, nil)
	if err := plan.Choose(nil); err != nil {
		return err
	}
	for _, d := range designs {
		found[d.Name] = &results.Search{}
	}
	return p.explore(ctx, "explore", plan, sink, found)
}

// explore adds to the search of each design a part with the findings of a plan.
func (p Plan) explore(ctx context.Context, name string, plan exploring.Plan, sink exploring.Sink, found Searches) error {
	r, err := exploring.Run(ctx, plan, sink)
	if err != nil {
		return err
	}
	for _, run := range r.Designs().Runs {
		s := found[run.Design]
		explored := plan.Designs[slices.IndexFunc(plan.Designs, func(d design.Design) bool { return d.Name == run.Design })]
		s.Parts = append(s.Parts, results.Part{
			Name: name, Complete: ctx.Err() == nil, Run: run,
			Command: fmt.Sprintf("lockbench explore %s --seed %d --budget %v", cmp.Or(explored.Arguments, run.Design), p.Scope.Seed, p.Scope.Budget),
		})
	}
	return nil
}

// part returns the plan of an exploration of these programs, or of all if programs is empty, with a
// share of the budget.
func (p Plan) part(designs []design.Design, share float64, programs []string) exploring.Plan {
	plan := exploring.Plan{Designs: designs, Config: p.Scope}
	plan.Config.Budget = time.Duration(float64(p.Scope.Budget) * share)
	plan.Config.Schedules = int64(float64(p.Scope.Schedules) * share)
	for _, name := range programs {
		plan.Scenarios = append(plan.Scenarios, workloads.Must(name))
	}
	return plan
}

// more is like explore, but without announcing the designs.
func (p Plan) more(ctx context.Context, name string, plan exploring.Plan, sink exploring.Sink, found Searches) error {
	sink.Begin = func(string) {}
	sink.End = func(string, []results.Explored) {}
	return p.explore(ctx, name, plan, sink, found)
}
