package runner

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// Run executes a plan until all its runs are made, ctx ends or the server is lost. It returns an
// error if the set-up failed; errors in a run are in its judgement. Run raises GOGC and, with a
// local server, lowers GOMAXPROCS while it works. Only one Run may be active in a process.
func Run(ctx context.Context, p Plan, sinks ...Sink) (_ Result, err error) {
	words, err := p.parse()
	if err != nil {
		return Result{}, err
	}
	kept, err := newHistories(p.History)
	if err != nil {
		return Result{}, err
	}
	s := &session{plan: p, parsed: words, histories: kept, sink: join(sinks...)}
	defer collectAt(betweenRuns)()
	if ctx.Err() == nil { // otherwise the caller has reported the error
		defer context.AfterFunc(ctx, func() { s.sink.say("interrupted: ending it in good order; once more aborts") })()
	}
	err = s.run(ctx)
	if errors.Is(err, context.Canceled) && len(s.result.Runs) == 0 { // cut short before the first run
		err, s.result.NotRun = nil, nil
		for _, of := range p.Subjects {
			s.skip(of)
		}
	}
	err = errors.Join(err, s.histories.tidy(s.result.Runs))
	if s.histories.kept {
		s.sink.say("%s", s.histories.place())
	}
	s.result.conclude = p.conclude()
	return s.result, err
}

// A session is the state of a running plan.
type session struct {
	plan Plan
	parsed
	sink      Sink
	histories *histories

	services services
	// records is the service for guarded records when faults affect the server; else nil.
	records design.Service
	// stopped reports whether a broken claim ended the session.
	stopped bool
	// gone reports whether the session waited in vain for a server of the user to answer.
	gone   bool
	result Result
}

// run finds the servers, leaves out subjects that do not fit, and runs the others and the
// self-check.
func (s *session) run(ctx context.Context) (err error) {
	servers.SilenceClients()
	if err := s.leaveOut(s.cannotLease); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.closeServices()) }()
	if err := s.leaveOut(s.notInstalled); err != nil {
		return err
	}
	if s.services, err = openServices(ctx, s.plan.Subjects, s.plan.Servers); err != nil {
		return err
	}
	if err := s.leaveOut(s.unreachable); err != nil {
		return err
	}
	if err := s.leaveOut(s.cannotBeFaulted); err != nil {
		return err
	}
	if err := s.openRecords(ctx); err != nil {
		return err
	}
	if err := s.leaveOut(s.permits(ctx)); err != nil {
		return err
	}
	if s.plan.Next == nil {
		s.sink.Planned(len(s.plan.Subjects))
	}
	s.sayLost(ctx)
	for _, g := range s.services {
		s.sink.say("server: %s, %s", g.First().Kind(), g.First().Version())
		if _, redis := g.First().(*servers.Server); redis && g.First().Kind() == design.External {
			s.sink.say("keys: lockbench:*; after a kill, lockbench clean --server URL removes them")
		}
	}
	if err := s.runSubjects(ctx); err != nil {
		return err
	}
	if s.plan.SelfCheck && !s.stopped { // a broken claim has a counterexample, and needs no self-check
		s.result.SelfCheck, err = s.selfCheck(ctx)
	}
	return err
}

// runSubjects runs the subjects until ctx ends, the server is lost or the session is stopped.
func (s *session) runSubjects(ctx context.Context) error {
	next := s.plan.Next
	if next == nil {
		next = inOrder(s.plan.Subjects)
	}
	for of, ok := next(&s.result); ok; of, ok = next(&s.result) {
		if s.over(ctx) {
			s.skip(of)
			if s.plan.Next != nil {
				return nil // a search does not know the subjects that are left
			}
			continue
		}
		s.awaitServers(ctx)
		if s.plan.Before != nil {
			s.plan.Before(ctx, of)
		}
		if err := s.runOne(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// comesBack is how long the session waits for a server of the user to answer again.
const comesBack = 10 * time.Second

// awaitServers waits, before the next run, for servers of the user that do not answer, so that a
// short restart spoils one run only. It waits once in a session.
func (s *session) awaitServers(ctx context.Context) {
	if len(s.result.Runs) == 0 || s.gone {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, comesBack)
	defer cancel()
	for _, g := range s.services {
		if g.First().Kind() != design.External {
			continue
		}
		for tries := 0; g.First().Ping(ctx) != nil; tries++ {
			if tries == 0 {
				s.sink.say("%s does not answer: waiting for it, for %v at most", g.First().Address(), comesBack)
			}
			if ctx.Err() != nil || design.Sleep(ctx, 100*time.Millisecond) != nil {
				s.gone = true
				return
			}
		}
	}
}

// over reports whether the session can run nothing more.
func (s *session) over(ctx context.Context) bool {
	return ctx.Err() != nil || s.stopped || s.lost() != nil
}

// lost returns an error if a service ended by itself, or if the machines can make no other run.
func (s *session) lost() error {
	if err := s.services.err(); err != nil || s.plan.Machines == nil {
		return err
	}
	return s.plan.Machines.Err()
}

// inOrder returns a function that returns one subject after the other.
func inOrder(all []Subject) func(*Result) (Subject, bool) {
	i := -1
	return func(*Result) (Subject, bool) {
		if i++; i < len(all) {
			return all[i], true
		}
		return Subject{}, false
	}
}

func (s *session) skip(of Subject) { s.result.NotRun = append(s.result.NotRun, of.Label()) }
