package postgres

import (
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/internal/sessions"
	"github.com/lockbench/lockbench/internal/service/postgres"
)

// A process has the connections of its owners.
type process = sessions.Process[*postgres.Conn]

// newProcess returns a process of a design.
func newProcess(env design.Environment) (p *process, access *postgres.Access, err error) {
	if len(env.Services) == 0 {
		return nil, nil, errors.New("environment has no PostgreSQL; hint: give it the means of one")
	}
	access, ok := env.Services[0].(*postgres.Access)
	if !ok {
		return nil, nil, fmt.Errorf("service of the environment is a %T, no PostgreSQL; hint: give it the means of one", env.Services[0])
	}
	return sessions.NewProcess(env, sessions.Database[*postgres.Conn]{
		Connect: access.Connect, Patience: postgres.Patience, HadNoEffect: postgres.HadNoEffect, Ended: postgres.Ended,
	}), access, nil
}

// The advisory locks.
var (
	bySession     = sessions.Statements{Take: "select pg_try_advisory_lock(hashtextextended($1, 0))", Free: "select pg_advisory_unlock(hashtextextended($1, 0))"}
	byTransaction = sessions.Statements{Begin: "begin", Take: "select pg_try_advisory_xact_lock(hashtextextended($1, 0))", Back: "rollback", Free: "commit"}
)

// opener returns the Open of a design that locks by statements.
func opener(by sessions.Statements) func(design.Environment) (design.Process, error) {
	return func(env design.Environment) (design.Process, error) {
		p, _, err := newProcess(env)
		if err != nil {
			return nil, err
		}
		return sessions.Locks(p, by), nil
	}
}
