package runtest

import (
	"context"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// Runs checks that runs with faults, on a private server, break no claim of designs, and that runs without
// faults show two owners at once of those that claim nothing, and of the first one when its owners let go
// at once: these runs go on until they do. The faults are of connections and processes, and more. It leaves
// a lease of ttl to each owner.
func Runs(t *testing.T, all []design.Design, ttl time.Duration, more ...string) {
	faults := append([]string{"cut,p=0.02", "lost-reply,p=0.02", "cancel,p=0.02", "crash,p=0.01"}, more...)
	for _, d := range all {
		t.Run(d.Name, func(t *testing.T) {
			p := plan(t, d, ttl, faults...)
			p.Options.Operations = 2000
			j := Run(t, p)
			keepsClaims(t, j)
			if len(d.Claims.Keeps) == 0 {
				seekTwoOwners(t, d, ttl)
			} else if hasTwoOwners(j) {
				t.Error("two owners at once")
			}
		})
	}
	broken := unheld(all[0])
	t.Run(broken.Name, func(t *testing.T) { seekTwoOwners(t, broken, ttl) })
}

// seekTwoOwners checks that a run of d shows two owners at once. The run ends when it does, or after more
// operations than that takes. It has no faults: nearly every overlap after a fault counts under the
// conditions of the fault.
func seekTwoOwners(t *testing.T, d design.Design, ttl time.Duration) {
	p := plan(t, d, ttl)
	p.AbortOn = []string{lockbench.Exclusion.At(0).String() + ".violations>0"}
	p.Options.Operations, p.Options.Duration = 1_000_000, 0
	if !hasTwoOwners(Run(t, p)) {
		t.Error("no two owners at once")
	}
}

// hasTwoOwners reports whether a run without anything going wrong for them had two owners at once.
func hasTwoOwners(j results.Judged) bool {
	for _, f := range j.Verdicts.Findings {
		if f.Cell == lockbench.Exclusion.At(0) && f.Verdict == checker.Broken {
			return true
		}
	}
	return false
}

// keepsClaims checks that a run broke no claim.
func keepsClaims(t *testing.T, j results.Judged) {
	t.Helper()
	for _, f := range j.Verdicts.Findings {
		if f.Against > 0 {
			t.Errorf("%s: %s", f.Cell, f.Counterexample.Sentence)
		}
	}
}

// EndsSessions runs a lock that lasts as long as its session, whose server ends sessions, until two owners
// have it. The run breaks no claim.
func EndsSessions(t *testing.T, d design.Design) {
	twoOwners(t, plan(t, d, time.Second, "session-kill,at=50ms,every=100ms"), lockbench.SessionKilled)
}

// FailsOver runs a lock whose server fails over to a replica until two owners have it. The run breaks no
// claim. An owner works for longer than a failover takes on a machine that is not busy; on another the
// run goes on.
func FailsOver(t *testing.T, d design.Design) {
	p := plan(t, d, 10*time.Second, "failover,at=50ms,every=100ms,while=held")
	p.Options.Hold, p.Options.Wait = workloads.Always(3*time.Second), 5*time.Second
	twoOwners(t, p, lockbench.Failover, lockbench.Failover|lockbench.LostReply)
}

// twoOwners runs p until two owners are seen under any of these conditions.
func twoOwners(t *testing.T, p runner.Plan, any ...lockbench.Conditions) {
	p.Options.Duration = time.Hour
	for _, under := range any {
		p.AbortOn = append(p.AbortOn, lockbench.Exclusion.At(under).String()+".violations>0")
	}
	keepsClaims(t, Run(t, p))
}

// plan returns the plan of a run of a design.
func plan(t *testing.T, d design.Design, ttl time.Duration, faults ...string) runner.Plan {
	o := workloads.Defaults()
	o.Clients, o.Keys, o.TTL, o.Wait, o.Stallers = 8, 2, ttl, 20*time.Millisecond, 0
	o.Hold, o.Warmup, o.Seed = workloads.Always(time.Millisecond), 0, 1
	return runner.Plan{Subjects: []runner.Subject{{Design: d}}, Workload: workloads.Must("oversell"), Options: o, History: t.TempDir(), Faults: faults}
}

// Run returns what a run of the only subject of p came to, which granted and has no defect.
func Run(t *testing.T, p runner.Plan) results.Judged {
	t.Helper()
	r, err := runner.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	j := r.Runs[0]
	if j.Err != nil || j.Verdicts.Grants == 0 || len(j.Verdicts.Defects) > 0 {
		t.Fatalf("error %v, %d grants, defects %v", j.Err, j.Verdicts.Grants, j.Verdicts.Defects)
	}
	return j
}

// unheld returns a design whose owners let go at once of each key that they are granted.
func unheld(d design.Design) design.Design {
	d.Name = "broken/" + d.Name
	open := d.Open
	d.Open = func(env design.Environment) (design.Process, error) {
		p, err := open(env)
		if err != nil {
			return nil, err
		}
		return design.NewProcess(func(o design.Observer) lockbench.Locker { return letsGo{p.Locker(o)} }, p.Close), nil
	}
	return d
}

type letsGo struct{ lockbench.Locker }

func (l letsGo) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, opt)
	if err != nil {
		return nil, err
	}
	held := releasedLease{lease}
	if fencer, is := lease.(lockbench.Fencer); is {
		return fencedLease{held, fencer}, lease.Release(ctx)
	}
	return held, lease.Release(ctx)
}

type releasedLease struct{ lockbench.Lease }

func (releasedLease) Release(context.Context) error { return nil }

func (l releasedLease) Valid() (time.Time, time.Duration) {
	return l.Lease.(lockbench.Validator).Valid()
}

type fencedLease struct {
	releasedLease
	lockbench.Fencer
}
