package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/spool"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// runOne runs a subject, and judges and measures it meanwhile. It returns an error only if nothing
// can be run at all, because the set-up of the first run failed.
func (s *session) runOne(ctx context.Context, of Subject) error {
	r := s.newRun(of)
	s.sink.Begin(of, func() Progress { return progressOf(r.progress) })
	s.sayLease(&of)
	o, err := s.record(ctx, r)
	if err != nil {
		return err
	}
	j, err := s.judgement(ctx, of, o)
	if err != nil || j == nil {
		return err
	}
	j.Notes = append(append(o.summary.Notes, j.Notes...), s.unseen(of, j)...)
	s.result.Runs = append(s.result.Runs, *j)
	s.sink.End(&s.result.Runs[len(s.result.Runs)-1])
	return nil
}

// unseen returns a note on what others may have done unseen, if a run on the user's server broke a
// claim.
func (s *session) unseen(of Subject, j *results.Judged) []string {
	on := s.services.of(&of.Design).First()
	if _, watched := on.(design.Watched); !watched || on.Kind() != design.External || !breaksClaims(j) {
		return nil
	}
	return []string{fmt.Sprintf("a claim is broken, and it is not seen whether somebody else deleted single keys of lockbench:* on server %s: "+
		"that breaks any lock. If it happened, repeat the run", on.Address())}
}

// breaksClaims reports whether a violation counts against the claims.
func breaksClaims(j *results.Judged) bool {
	return slices.ContainsFunc(j.Verdicts.Findings, func(f checker.CellFinding) bool { return f.Against > 0 })
}

// A liveRun is one run with its settings, and the channels that end it early.
type liveRun struct {
	label    string
	subject  bool // it is a run of the plan, none of the self-check
	design   design.Design
	options  workloads.Options
	faults   []fault.Fault
	progress *load.Progress
	sink     Sink
	// broken is closed when a broken claim ends the run, failed when the run is certain to
	// fail a threshold. If they are nil, they never end it.
	broken, failed chan struct{}
}

// newRun returns the run of a subject with the plan's conditions for an early end.
func (s *session) newRun(of Subject) liveRun {
	r := liveRun{
		label: of.Label(), subject: true, design: of.Design, options: of.options(s.plan.Options), faults: s.faults, progress: &load.Progress{},
		broken: make(chan struct{}),
	}
	failFast := Sink{Found: func(f checker.CellFinding, _ time.Duration) {
		if f.Against > 0 && s.plan.FailFast && !s.stopped {
			s.stopped = true
			close(r.broken)
		}
	}}
	var abort Sink
	if of.Design.Control == "" {
		abort, r.failed = s.abort(of.Design.Name)
	}
	r.sink = join(s.sink, failFast, abort)
	return r
}

// An outcome is the outcome of a run.
type outcome struct {
	summary load.Summary
	// failed is the error of the run; the next run may still succeed. unreadable is the error in
	// its history, which then has no judgement.
	failed, unreadable error
	judged             results.Judged
	between            []checker.MachinePair // of a run on keys that several machines use
}

// record makes a run and judges its history as it grows. It returns an error only for the file
// system.
func (s *session) record(ctx context.Context, r liveRun) (o outcome, err error) {
	if s.onMachines(&r) {
		return s.recordTogether(ctx, r)
	}
	path := s.histories.path(r.label)
	spool, err := spool.New(path, s.histories.keep())
	if err != nil {
		return o, fmt.Errorf("the history cannot be written: %w", err)
	}
	judgement := judgeLive(spool, path, r)
	c := s.config(r)
	c.History, c.Share = spool, s.plan.Share
	o.summary, o.failed = s.drive(ctx, c)
	o.judged, o.unreadable = judgement.wait()
	return o, nil
}

// config returns the load of a run on the session's services, without its history.
func (s *session) config(r liveRun) load.Config {
	on := s.services.of(&r.design)
	return load.Config{
		Design: r.design, Services: on, Records: s.recordsBeside(on), Workload: s.plan.Workload, Options: r.options, Faults: r.faults,
		Progress: r.progress, Broken: r.broken, Failed: r.failed,
	}
}

// drive makes the load of a run.
func (s *session) drive(ctx context.Context, c load.Config) (load.Summary, error) {
	if c.Host == nil {
		defer leaveCore(c.Services.First())()
	}
	summary, err := load.Run(ctx, c)
	if inner := errors.Unwrap(err); inner != nil {
		err = inner // without the name of the design, which reports add
	}
	return summary, err
}

// judgement returns the judgement of a run, nil if the run was interrupted before it began.
func (s *session) judgement(ctx context.Context, of Subject, o outcome) (*results.Judged, error) {
	switch {
	case o.unreadable == nil:
		o.judged.Err = errors.Join(o.judged.Err, o.failed)
	case o.failed == nil:
		return nil, o.unreadable
	case ctx.Err() != nil:
		s.skip(of)
		return nil, nil
	case len(s.result.Runs) == 0:
		return nil, o.failed
	default:
		o.judged = s.failure(of, o.failed)
	}
	return &o.judged, nil
}

// failure returns the judgement of a run that failed before it had a history.
func (s *session) failure(of Subject, err error) results.Judged {
	d, o := of.Design, of.options(s.plan.Options)
	return results.Judged{
		Header: history.Header{
			Design: d.Name, Control: string(d.Control), Claims: d.Claims, Workload: s.plan.Workload.Name, Seed: o.Seed,
			Params: map[string]any{"clients": o.Clients, "keys": o.Keys},
			Server: s.services.of(&d).For(1).Info(), Environment: s.result.Runs[0].Header.Environment,
		},
		Err: err,
	}
}
