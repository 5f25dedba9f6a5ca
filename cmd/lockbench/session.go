package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/load"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/servers"
)

// session runs the designs of a plan one after another on one server.
type session struct {
	plan
	records  *records
	progress progress

	servers servers.Group
	// store is where guarded records are kept when faults strike the server; else nil.
	store  *servers.Server
	runs   []reports.Judged
	notRun []string
	// proves: the session ends with a lock that is broken on purpose, and proof tells
	// what came of it; nil where there was nothing to prove.
	proves bool
	proof  *reports.SelfCheck
}

// run starts or finds the server and runs every design, until ctx ends or the
// server is lost. The error is of the set-up; what happened in the runs is in
// s.runs.
func (s *session) run(ctx context.Context, urls []string) (err error) {
	servers.SilenceClients()
	faults.SilenceProxies()
	if s.servers, err = servers.ChooseGroup(ctx, urls, s.serversNeeded()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.closeServers()) }()
	if err := s.openStore(ctx); err != nil {
		return err
	}
	s.progress.say("server: %s, %s", s.servers.First().Kind(), s.servers.First().Version())
	defer context.AfterFunc(ctx, func() {
		s.progress.say("interrupted: ending the run in good order; once more aborts")
	})()
	defer s.progress.close()
	for i, of := range s.subjects {
		if ctx.Err() != nil || s.servers.First().Err() != nil {
			s.skip(s.subjects[i:])
			break
		}
		if err := s.one(ctx, of); err != nil {
			return err
		}
	}
	if s.proves {
		s.proof, err = s.selfCheck(ctx)
	}
	return err
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
// they should not strike.
func (s *session) openStore(ctx context.Context) (err error) {
	if err := faults.Check(s.faults, s.servers); err != nil || !faults.StrikeStore(s.faults) {
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

func (s *session) skip(subjects []subject) {
	for _, of := range subjects {
		s.notRun = append(s.notRun, of.label())
	}
}

// one runs a design, then judges and measures what was written of it. The error
// says why nothing can be run at all: the set-up of the first design failed.
func (s *session) one(ctx context.Context, of subject) error {
	path := s.records.path(of.label())
	live := &load.Progress{}
	s.progress.begin(of.label(), live)
	summary, failed, err := s.load(ctx, of, path, live)
	if err != nil {
		return err
	}
	j, unreadable := judge(path, nil)
	switch {
	case unreadable == nil:
		j.Err = errors.Join(j.Err, failed)
	case failed == nil:
		return unreadable
	case ctx.Err() != nil:
		s.skip([]subject{of})
		return nil
	case len(s.runs) == 0:
		return failed
	default:
		j = s.failure(of.Design, failed)
	}
	j.Notes = summary.Notes
	s.runs = append(s.runs, j)
	s.progress.end(&s.runs[len(s.runs)-1])
	return nil
}

// load runs a subject with its history in a file. It tells errors of the run, which the
// next design may not meet, from those of the file system.
func (s *session) load(ctx context.Context, of subject, path string, live *load.Progress) (load.Summary, error, error) {
	f, err := os.Create(path)
	if err != nil {
		return load.Summary{}, nil, fmt.Errorf("the history cannot be written: %w", err)
	}
	defer leaveCore(s.servers.First())()
	options := s.options
	options.Guard = of.guard
	summary, failed := load.Run(ctx, load.Config{
		Design: of.Design, Server: s.servers.First(), Others: s.servers[1:], Records: s.store, Workload: s.workload, Options: options,
		Faults: s.faults, History: f, Progress: live,
	})
	if inner := errors.Unwrap(failed); inner != nil {
		failed = inner // without the name of the design, which stands beside it anyway
	}
	return summary, errors.Join(failed, f.Close()), nil
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
