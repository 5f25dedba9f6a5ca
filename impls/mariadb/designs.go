package mariadb

import (
	"errors"
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/internal/sessions"
	"github.com/lockbench/lockbench/internal/service/mariadb"
)

// poolOwners is the number of owners of a process that has a pool. Its faults are among them.
const poolOwners = 4

// Designs returns the family: mariadb/session, pooled and row.
func Designs() []design.Design {
	session := design.Design{
		Name:    "mariadb/session",
		Summary: "GET_LOCK in a session of its own; needs mariadb",
		Source:  "MariaDB knowledge base, GET_LOCK",
		Claims:  sessions.Claims(), Leaseless: true,
		Backend: mariadb.Backend{}, Reacquire: design.Refused,
		Open: openSession,
	}
	pooled := session
	pooled.Name = "mariadb/pooled"
	pooled.Summary = "GET_LOCK and RELEASE_LOCK on a pool, whose owners share sessions: no lock; needs mariadb"
	// Two owners that share a session both have the lock. A release in another session than the acquire
	// answers that the lock is another's, and leaves the key locked, as the death of an owner does; one in
	// a session that another owner was granted the key in frees that. That leaves no guarantee to claim.
	pooled.Claims = lockbench.Claims{}
	pooled.Owners, pooled.Reacquire = poolOwners, design.Nested
	pooled.Open = openPooled
	row := design.Design{
		Name:    "mariadb/row",
		Summary: "a row with token, fence and lease by the server's clock, set by one UPDATE; needs mariadb",
		Source:  "MariaDB knowledge base, UPDATE",
		Claims:  sessions.RowClaims(), Granted: design.WholeMillis, Fences: true,
		Backend: mariadb.Backend{}, Reacquire: design.Refused,
		Open: openRow,
	}
	return []design.Design{session, pooled, row}
}

// accessOf returns the means to connect.
func accessOf(env design.Environment) (*mariadb.Access, error) {
	if len(env.Services) == 0 {
		return nil, errors.New("environment has no MariaDB; hint: give it the means of one")
	}
	access, ok := env.Services[0].(*mariadb.Access)
	if !ok {
		return nil, fmt.Errorf("service of the environment is a %T, no MariaDB; hint: give it the means of one", env.Services[0])
	}
	return access, nil
}

// The statements. The result of GET_LOCK is NULL if it fails, that of RELEASE_LOCK if nobody has the lock.
const (
	take = "select get_lock(sha2(?, 256), 0)"
	free = "select coalesce(release_lock(sha2(?, 256)), 0)"
)

// openSession is the Open of mariadb/session.
func openSession(env design.Environment) (design.Process, error) {
	access, err := accessOf(env)
	if err != nil {
		return nil, err
	}
	return sessions.Locks(newProcess(env, access), sessions.Statements{Take: take, Free: free}), nil
}

// newProcess returns a process whose owners have sessions of their own.
func newProcess(env design.Environment, access *mariadb.Access) *sessions.Process[*mariadb.Conn] {
	return sessions.NewProcess(env, sessions.Database[*mariadb.Conn]{
		Connect: access.Connect, Patience: mariadb.Patience, HadNoEffect: mariadb.HadNoEffect, Ended: mariadb.Ended,
	})
}
