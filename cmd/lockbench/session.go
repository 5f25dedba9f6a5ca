package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/internal/servers"
	"github.com/lockbench/lockbench/internal/thresholds"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/workloads"
)

// session runs the designs of a plan one after another on one server.
type session struct {
	plan
	records  *records
	progress progress

	// urls are the addresses of the servers; none for private or embedded ones.
	urls    []string
	servers servers.Group
	// store is where guarded records are kept when faults affect the server; else nil.
	store *servers.Server
	// next yields what to run by what the runs so far came to; nil is the plan's subjects
	// in their order.
	next iter.Seq[subject]
	// failFast: the session ends as soon as a claim is broken, and stopped: one was.
	failFast, stopped bool
	// abortOn are thresholds that end the run of a design that is certain to fail them.
	abortOn []thresholds.Threshold
	// also, when not nil, returns those who see what is judged of a subject.
	also func(subject) []onlooking
	// metrics shows what is run; nil to nobody.
	metrics *liveMetrics
	runs    []reports.Judged
	notRun  []string
	// proves: the session ends with a lock that is broken on purpose, and proof tells
	// what came of it; nil where there was nothing to prove.
	proves bool
	proof  *reports.SelfCheck
}

// session is a session of a plan, which a lock that is broken on purpose ends. Its
// histories are where the flags say.
func (o *runOptions) session(p plan, progress progress) (*session, error) {
	records, err := newRecords(o.history)
	if err != nil {
		return nil, err
	}
	return &session{plan: p, records: records, progress: progress, urls: o.redis, proves: true, failFast: o.failFast}, nil
}

// run is all that a command does with a session: it drives it, says so where that is
// interrupted, and leaves no histories that nobody asked for. The error is of the set-up;
// what happened in the runs is in s.runs.
func (s *session) run(ctx context.Context) error {
	defer collectAt(betweenRuns)()
	defer sayInterrupted(ctx, s.progress.say)()
	err := s.drive(ctx)
	return errors.Join(err, s.records.tidy(s.runs))
}

// drive starts or finds the server and runs every design, until ctx ends or the server is
// lost.
func (s *session) drive(ctx context.Context) (err error) {
	servers.SilenceClients()
	faults.SilenceProxies()
	if err := s.leaveOut(s.offGrid); err != nil {
		return err
	}
	if s.servers, err = servers.ChooseGroup(ctx, s.urls, s.serversNeeded()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.closeServers()) }()
	if err := s.leaveOut(s.offServer); err != nil {
		return err
	}
	s.tellPlan()
	if err := s.openStore(ctx); err != nil {
		return err
	}
	s.progress.say("server: %s, %s", s.servers.First().Kind(), s.servers.First().Version())
	defer s.progress.close()
	if err := s.all(ctx); err != nil {
		return err
	}
	if s.proves && !s.stopped { // a breach has its counterexample, and needs no proof
		s.proof, err = s.selfCheck(ctx)
	}
	return err
}

// tellPlan tells how many runs there are to be, now that it is known what was left out. Of
// a search nobody knows.
func (s *session) tellPlan() {
	if s.next != nil {
		return
	}
	s.metrics.plan(len(s.subjects))
	if p, counts := s.progress.(interface{ plan(runs int) }); counts {
		p.plan(len(s.subjects))
	}
}

// all runs what is to be run, until ctx ends, the server is lost or the session stopped.
func (s *session) all(ctx context.Context) error {
	next, stop := iter.Pull(s.order())
	defer stop()
	for of, ok := next(); ok; of, ok = next() {
		if ctx.Err() != nil || s.stopped || s.servers.First().Err() != nil {
			s.skip(of)
			if s.next != nil {
				return nil // who knows what else there would have been
			}
			continue
		}
		if err := s.one(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// order is what to run after another.
func (s *session) order() iter.Seq[subject] {
	if s.next != nil {
		return s.next
	}
	return slices.Values(s.subjects)
}

// serversNeeded is the most that a design of the plan locks on.
func (s *session) serversNeeded() int {
	most := 1
	for _, of := range s.subjects {
		most = max(most, of.ServerCount())
	}
	return most
}

// openStore checks that the faults can be done, and opens a server of its own for what
// they should not affect.
func (s *session) openStore(ctx context.Context) (err error) {
	if err := faults.Check(s.faults, s.servers); err != nil || !faults.AffectStore(s.faults) {
		return err
	}
	s.store, err = servers.StartPrivate(ctx)
	return err
}

func (s *session) closeServers() error {
	err := s.servers.Close()
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	return err
}

func (s *session) skip(of subject) { s.notRun = append(s.notRun, of.label()) }

// one runs a design, which is judged and measured meanwhile. The error says why nothing
// can be run at all: the set-up of the first design failed.
func (s *session) one(ctx context.Context, of subject) error {
	broken := make(chan struct{})
	w := s.watcher(of, broken)
	s.progress.begin(of.label(), w.progress)
	s.sayLease(of)
	o, err := s.load(ctx, of, w, broken)
	if err != nil {
		return err
	}
	j, err := s.judgement(ctx, of, o)
	if err != nil || j == nil {
		return err
	}
	j.Notes = append(o.summary.Notes, j.Notes...)
	s.runs = append(s.runs, *j)
	j = &s.runs[len(s.runs)-1]
	s.metrics.end(j)
	s.progress.end(j)
	return nil
}

// watcher is all who want to know of a run before it is over. It closes broken where the
// session ends with a claim.
func (s *session) watcher(of subject, broken chan<- struct{}) watcher {
	w := watcher{progress: &load.Progress{}, late: s.late, met: s.met, prompt: s.failFast || len(s.abortOn) > 0}
	w.found = func(f checker.Finding, at time.Duration) {
		s.progress.found(f, at)
		if f.Against > 0 && s.failFast && !s.stopped {
			s.stopped = true
			close(broken)
		}
	}
	if s.also != nil {
		w.also = s.also(of)
	}
	w.abort(s.abortOn, of.Name, s.progress.say)
	s.metrics.watch(of, s.workload.Name, &w)
	if onlooker, watches := s.progress.(interface{ watch(*watcher) }); watches {
		onlooker.watch(&w)
	}
	return w
}

// judgement is what is to be said of a run, nil where it was interrupted before it began.
func (s *session) judgement(ctx context.Context, of subject, o outcome) (*reports.Judged, error) {
	switch {
	case o.unreadable == nil:
		o.judged.Err = errors.Join(o.judged.Err, o.failed)
	case o.failed == nil:
		return nil, o.unreadable
	case ctx.Err() != nil:
		s.skip(of)
		return nil, nil
	case len(s.runs) == 0:
		return nil, o.failed
	default:
		o.judged = s.failure(of.Design, o.failed)
	}
	return &o.judged, nil
}

// late says that the judgement of a run does not keep up with it.
func (s *session) late(by time.Duration) {
	s.progress.say("the clients take all that the processors can do: the judgement is %v behind the run and catches up when that is over; --fail-fast keeps it close", by.Round(100*time.Millisecond))
}

// met says that the monitor has seen what the judgement has still to come to.
func (s *session) met(behind time.Duration) {
	if behind > time.Second {
		s.progress.say("overlap seen; the checker is %v behind the run and catches up", behind.Round(100*time.Millisecond))
	}
}

// An outcome is what came of a run.
type outcome struct {
	summary load.Summary
	// failed is the error of the run, which the next design may not meet; unreadable
	// that of its history, which then has no judgement.
	failed, unreadable error
	judged             reports.Judged
}

// optionsOf are the options with which a subject is run.
func (s *session) optionsOf(of subject) workloads.Options {
	o := s.options
	o.Guard = of.guard
	if of.change != nil {
		of.change(&o)
	}
	o.Seed += uint64(of.round.number)
	return o
}

// load runs a subject, judging its history as it grows, until the run is over or broken
// is closed. The error is of the file system.
func (s *session) load(ctx context.Context, of subject, w watcher, broken <-chan struct{}) (o outcome, err error) {
	path := s.records.path(of.label())
	spool, err := history.NewSpool(path, s.records.keep())
	if err != nil {
		return o, fmt.Errorf("the history cannot be written: %w", err)
	}
	judgement := judgeLive(spool, path, w)
	options := s.optionsOf(of)
	giveBack := leaveCore(s.servers.First())
	o.summary, o.failed = load.Run(ctx, load.Config{
		Design: of.Design, Server: s.servers.First(), Others: s.servers[1:], Records: s.store, Workload: s.workload, Options: options,
		Faults: s.faults, History: spool, Progress: w.progress, Broken: broken, Failed: w.failed,
	})
	giveBack()
	if inner := errors.Unwrap(o.failed); inner != nil {
		o.failed = inner // without the name of the design, which stands beside it anyway
	}
	o.judged, o.unreadable = judgement.wait()
	return o, nil
}

// failure is a run that never got as far as a record.
func (s *session) failure(d design.Design, err error) reports.Judged {
	return reports.Judged{
		Header: history.Header{
			Design: d.Name, Claims: d.Claims, Workload: s.workload.Name, Seed: s.options.Seed,
			Server: s.servers.First().Info(), Environment: s.runs[0].Header.Environment,
		},
		Err: err,
	}
}
