package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/lib/spool"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// Machines make the load of runs in place of this process, a share each. Package internal/cli/machines
// implements it.
type Machines interface {
	// Len returns the number of machines.
	Len() int
	// Record lets all machines make the run c at the same time, machine i the share i, on the services of
	// c. It injects the faults of servers. It copies the history of machine i to histories[i] while it
	// grows, and keeps c.Progress up to date for all machines together. It returns the outcome of each
	// share when all have ended or are lost, and an error of the injection. It ends the run early as
	// [load.Run] does.
	Record(ctx context.Context, c load.Config, histories []io.Writer) ([]Part, error)
	// Err returns the reason why no other run can be made; nil if one can.
	Err() error
}

// A Part is the outcome of the share of a machine. Its history may be complete even if there is an error.
type Part struct {
	// Machine has the Name of the machine, and AheadNS and Busy if they are known.
	Machine results.Machine
	Notes   []string
	Err     error
}

// Record makes one run, or the share c.Share of one, on the servers at addresses, for another process that
// judges it: c.History receives the record. Record sets the services of c. Only one Record or [Run] may be
// active in a process.
func Record(ctx context.Context, c load.Config, addresses []string) (s load.Summary, err error) {
	defer collectAt(betweenRuns)()
	servers.SilenceClients()
	subjects := []Subject{{Design: c.Design}}
	of := &session{plan: Plan{Subjects: subjects}, parsed: parsed{faults: c.Faults}}
	defer func() {
		if closed := of.closeServices(); closed != nil {
			err = errors.Join(err, closed)
		}
	}()
	if of.services, err = openServices(ctx, subjects, addresses); err != nil {
		return s, err
	}
	c.Services = of.services.of(&c.Design)
	return of.drive(ctx, c)
}

// onMachines reports whether the machines make the run of a design. A lock of the self-check needs a Redis
// server that they reach: one of the user's, or a private one like those of the plan.
func (s *session) onMachines(r *liveRun) bool {
	return s.plan.Machines != nil && (r.subject || len(s.plan.Servers) == 0 || slices.ContainsFunc(s.plan.Servers, servers.Redis{}.Serves))
}

// unreachable returns an error if a design locks on a service of this machine that no other one can reach, or if
// machines with shared keys would have records of their own.
func (s *session) unreachable(of *Subject) error {
	if s.plan.Machines == nil {
		return nil
	}
	b, on := servers.BackendOf(&of.Design), s.services.of(&of.Design).First()
	_, keeps := on.(design.Keeper)
	if s.plan.Options.SharedKeys && !keeps && slices.Contains(s.plan.Workload.Needs, workloads.HasStore) {
		return fmt.Errorf("design %s: %s keeps no records of workload %s that machines could share; hint: --workload mutex", of.Design.Name, b.Name(), s.plan.Workload.Name)
	}
	if on.Kind() == design.External {
		return nil
	}
	hint := "--server URL, of one that all machines reach"
	if by, can := on.Reach().(design.Addressed); can {
		if b.Serves(by.URL("127.0.0.1:1")) {
			return nil
		}
		hint = "lockbench run without --agents" // no address names such a service
	}
	return fmt.Errorf("design %s: it locks on %s of this machine, which other machines do not reach; hint: %s", of.Design.Name, b.Name(), hint)
}

// recordTogether lets the machines make a run, judges the histories of their shares while they grow, and
// joins the judgements. It returns an error only for the file system.
func (s *session) recordTogether(ctx context.Context, r liveRun) (o outcome, err error) {
	n := s.plan.Machines.Len()
	all := &together{sink: r.sink, progress: r.progress, shares: make([]shareSoFar, n)}
	histories := make([]io.Writer, n)
	judgements := make([]*liveJudgement, n)
	for i := range n {
		path := s.histories.part(r.label, runinfo.Share{Index: i, Of: n})
		keep := s.histories.keep()
		if s.plan.Options.SharedKeys {
			keep = 0 // an overlap is found when the run is over
		}
		into, err := spool.New(path, keep)
		if err != nil {
			for _, begun := range judgements[:i] {
				_, _ = begun.wait() // nothing was recorded
			}
			return o, fmt.Errorf("the history cannot be written: %w", err)
		}
		histories[i], judgements[i] = into, judgeLive(into, path, all.share(i, r))
	}
	parts, injection := s.plan.Machines.Record(ctx, s.config(r), histories)
	var shares []results.Judged
	var keys jointRun
	for i, j := range judgements {
		judged, unreadable := j.wait()
		if unreadable != nil {
			o.failed = errors.Join(o.failed, parts[i].Err)
			o.unreadable = unreadable
			continue
		}
		judged.Notes = append(slices.Clone(parts[i].Notes), judged.Notes...)
		judged.Err = errors.Join(judged.Err, parts[i].Err)
		shares = append(shares, judged)
		if j.machine != nil {
			keys.add(judged, j.machine)
		}
	}
	if len(shares) == 0 {
		o.failed = errors.Join(o.failed, injection)
		return o, nil
	}
	o.unreadable = nil
	joined := func() (results.Judged, error) { return joinRun(shares) }
	if len(keys.machines) > 0 {
		joined = keys.join
	}
	if o.judged, err = joined(); err != nil {
		o.failed, o.unreadable = err, err
		return o, nil
	}
	o.between = keys.pairs
	o.judged.Err = errors.Join(o.judged.Err, injection)
	for i := range o.judged.Machines {
		its := &o.judged.Machines[i]
		of := parts[its.Number-1].Machine
		its.Name, its.AheadNS, its.Busy = of.Name, of.AheadNS, of.Busy
	}
	r.sink.Closed(o.judged.End)
	return o, nil
}

// together joins the live judgements of the shares of one run for a sink, which sees one run. Its functions
// may be called by several goroutines; the sink is called by one at a time.
type together struct {
	sink     Sink
	progress *load.Progress // of the run

	mu     sync.Mutex
	opened bool
	found  []checker.CellFinding // passed on, one for each cell and whether it is claimed
	shares []shareSoFar
}

// shareSoFar is the judgement of a share at its last snapshot.
type shareSoFar struct {
	taken      time.Time // zero before the first one
	violations int64
	verdicts   checker.Result
	figures    measure.Measures
}

// snapshotInterval is the shortest time between two snapshots of a share that other shares are joined with.
const snapshotInterval = 200 * time.Millisecond

// share returns the run of share i of r, for its judgement.
func (t *together) share(i int, r liveRun) liveRun {
	r.progress = &load.Progress{}
	r.sink = Sink{
		Say: t.sink.Say,
		Opened: func(h history.Header) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if !t.opened {
				h.Share = runinfo.Share{}
				t.opened = true
				t.sink.Opened(h)
			}
		},
		Found: func(f checker.CellFinding, at time.Duration) {
			t.mu.Lock()
			defer t.mu.Unlock()
			same := func(had checker.CellFinding) bool {
				return had.Cell == f.Cell && (had.Against > 0) == (f.Against > 0)
			}
			if !slices.ContainsFunc(t.found, same) {
				t.found = append(t.found, f)
				t.sink.Found(f, at)
			}
		},
		SoFar: func(so Snapshot) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.soFar(i, so, r.progress.Violations.Load())
		},
		Closed: func(history.End) {},
	}
	if t.sink.Event != nil {
		r.sink.Event = func(ev history.Event) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.sink.Event(ev)
		}
	}
	return r
}

// soFar passes the sink the snapshot of share i, joined with the last ones of the others. The caller holds
// t.mu.
func (t *together) soFar(i int, so Snapshot, violations int64) {
	its := &t.shares[i]
	if its.violations = violations; time.Since(its.taken) >= snapshotInterval {
		its.taken, its.verdicts, its.figures = time.Now(), so.checker.SoFar(), measure.Join(*so.figures.SoFar())
	}
	sum := int64(0)
	for k := range t.shares {
		other := &t.shares[k]
		sum += other.violations
		if k != i && !other.taken.IsZero() {
			so.others = append(so.others, other)
		}
	}
	t.progress.Violations.Store(sum)
	t.sink.SoFar(so)
}
