package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench"
	family "github.com/lockbench/lockbench/impls/postgres"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/runtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

type scene = designtest.Stage[*postgres.Server]

// each runs test with each design that is a lock, on one server.
func each(t *testing.T, test func(*testing.T, *scene)) {
	server := servicetest.Start(t, postgres.Start)
	for _, d := range family.Designs() {
		if d.Backend != (postgres.Backend{}) {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			test(t, designtest.OpenStage(t, d, server, d.Name))
		})
	}
}

func TestOneOwnerAtATime(t *testing.T) {
	each(t, func(t *testing.T, s *scene) { s.OneOwnerAtATime(t) })
}

// TestProcessEnds checks that the end of a process frees what its sessions hold, and no row.
func TestProcessEnds(t *testing.T) { each(t, func(t *testing.T, s *scene) { s.ProcessEnds(t) }) }

func TestLeaseEnds(t *testing.T) { each(t, func(t *testing.T, s *scene) { s.LeaseEnds(t) }) }

func TestGivenUp(t *testing.T) {
	each(t, func(t *testing.T, s *scene) { designtest.GivenUp(t, s.Design, s.Service.Reach) })
}

// TestSessionsThatTheServerEnds shows the documented faults: the key is free while its owner works on,
// who is told at the release.
func TestSessionsThatTheServerEnds(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if !s.Design.Leaseless {
			t.Skip("it holds no session")
		}
		admin, err := pgx.Connect(t.Context(), s.Service.DSN())
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close(context.Background())
		ends := "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'"
		if s.Design.Name == "postgres/transaction" {
			ends = ""
			if _, err := admin.Exec(t.Context(), "alter role lockbench set idle_in_transaction_session_timeout = '50ms'"); err != nil {
				t.Fatal(err)
			}
		}
		held, err := designtest.Acquire(t, s.Owner(0))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := admin.Exec(t.Context(), ends); err != nil {
			t.Fatal(err)
		}
		other, err := s.Owner(1).Acquire(t.Context(), designtest.Key, lockbench.Options{Wait: time.Minute})
		if err != nil {
			t.Fatalf("the key is not free: %v", err)
		}
		if err := held.Release(t.Context()); !errors.Is(err, lockbench.ErrNotHeld) {
			t.Errorf("release of a lost lock: %v", err)
		}
		_ = other.Release(t.Context()) // its transaction may be over, too
	})
}

// TestRuns checks that runs find nothing wrong with the locks, and find out a broken one and the one
// behind a pooler.
func TestRuns(t *testing.T) {
	servertest.Need(t, postgres.Backend{Pooled: true}.Missing())
	runtest.Runs(t, family.Designs(), 500*time.Millisecond, "session-kill,at=50ms,every=100ms")
}

// TestSessionKill checks that a run finds the documented fault, which breaks no claim.
func TestSessionKill(t *testing.T) {
	servertest.Need(t, postgres.Missing())
	runtest.EndsSessions(t, family.Designs()[0])
}

// TestFailover checks that runs in which a replica takes the place of the server show two owners of a session
// and of a row, which the replica does not know, and break no claim.
func TestFailover(t *testing.T) {
	longtest.Only(t)
	servertest.Need(t, postgres.Missing())
	for _, d := range family.Designs() {
		if d.Name == "postgres/session" || d.Name == "postgres/row" {
			t.Run(d.Name, func(t *testing.T) {
				t.Parallel()
				runtest.FailsOver(t, d)
			})
		}
	}
}
