package evidence

import (
	"context"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/evidence/known"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// Conclude adds the findings of searches and of the released matrix to the first run of each lock
// in result, and draws the conclusions. searches may be nil. The released matrix counts only for
// runs of the same version of lockbench, since its findings are on that version's designs.
func (r Request) Conclude(result *results.Result, designs []design.Design, searches Searches) {
	locks := make(map[string]design.Design)
	for _, d := range designs {
		locks[d.Name] = d
	}
	for _, points := range result.Locks() {
		i := points[0]
		run := &result.Runs[i]
		if i > 0 && result.Explored() && result.Runs[i-1].Design == run.Design {
			continue
		}
		run.Search = searches[run.Design]
		if r.Known == "on" && result.EnvironmentOf(run).Version == exploring.Environment().Version {
			run.Known = known.Of(run.Design, result.ServerOf(run))
		}
	}
	result.Conclude(r.over, func(run *results.Run) (conclusion.Lock, bool) {
		d, known := locks[run.Design]
		l := Lock(d)
		if !known { // only its history is known
			l.Foreign, l.Guard = 0, ""
		}
		if !slices.ContainsFunc(result.Runs, func(other results.Run) bool { return other.Design == run.Design && shares(&other) }) {
			l.Foreign |= lockbench.ThreadDeath
		}
		if p, err := workloads.Find(workloads.Live, run.Workload); err == nil && !slices.Contains(p.Needs, workloads.HasStore) {
			l.Guard = "" // this workload has no store
		}
		return l, run.Control == "" // a control is not a lock to choose
	})
}

// Search explores designs for [Request.Conclude], and announces that with say. It returns nil if the
// request asks for no exploration. If nothing can be explored, the searches say why.
func (r Request) Search(ctx context.Context, designs []design.Design, scope explore.Config, say func(string, ...any)) Searches {
	if r.Explore == 0 {
		return nil
	}
	designs = slices.CompactFunc(slices.Clone(designs), func(a, b design.Design) bool { return a.Name == b.Name })
	scope.Budget = r.Explore
	p := Plan{Designs: designs, Scope: scope}
	say("exploring %s in virtual time, %v each ...", names(designs), r.Explore)
	sink := unheard
	sink.Say = func(text string) { say("%s", text) }
	searches, err := p.Search(ctx, sink)
	if err != nil {
		searches = make(Searches)
		for _, d := range designs {
			searches[d.Name] = &results.Search{NotDone: err.Error()}
		}
	}
	return searches
}

// Explored draws conclusions for the explored designs of result. If the plan names no scenarios and
// no guard, it first explores some more schedules with a guard in the store.
func (r Request) Explored(ctx context.Context, result *results.Result, p exploring.Plan) error {
	found := make(Searches)
	for _, d := range p.Designs {
		found[d.Name] = &results.Search{}
	}
	if !p.Named && p.Config.Guard == "" {
		if err := (Plan{Scope: p.Config}).guarded(ctx, p.Designs, unheard, found); err != nil {
			return err
		}
	}
	r.Conclude(result, p.Designs, found)
	return nil
}

// shares reports whether some clients of the run are threads of one process.
func shares(run *results.Run) bool {
	clients, _ := run.Params["clients"].(float64)
	processes, told := run.Params["processes"].(float64)
	threads, _ := run.Params["threads"].(float64)
	return told && processes < clients || threads > 1
}

// Lock returns the properties of a design that a conclusion depends on.
func Lock(d design.Design) conclusion.Lock {
	l := conclusion.Lock{Leaseless: d.Leaseless, Guard: GuardFor(d), LeaseUnit: max(time.Millisecond, d.LeaseUnit)}
	for _, p := range workloads.By(workloads.Explored) {
		if slices.Contains(p.Needs, workloads.AnyLease) {
			l.OddLeases = append(l.OddLeases, p.Name)
		}
	}
	l.Foreign = foreign(&d)
	if l.Leaseless {
		l.Foreign |= lockbench.Outlived
	}
	return l
}

// foreign returns the conditions that live faults bring about, but none on the service of a design.
func foreign(d *design.Design) lockbench.Conditions {
	brought, possible := lockbench.Conditions(0), lockbench.Conditions(0)
	for _, k := range fault.Kinds() {
		brought |= fault.Of(k).Conditions
		if inject.Possible(k, d) {
			possible |= fault.Of(k).Conditions
		}
	}
	return brought&^possible | d.Impossible()
}

// GuardFor returns the guard for measuring a design: a guard that checks fences if the design hands
// them out, else a guard that checks versions.
func GuardFor(d design.Design) lockbench.Guard {
	if d.Fences {
		return lockbench.FenceGuard
	}
	return lockbench.CompareGuard
}
