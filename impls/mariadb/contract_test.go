package mariadb_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	family "github.com/lockbench/lockbench/impls/mariadb"
	"github.com/lockbench/lockbench/internal/service/mariadb"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"github.com/lockbench/lockbench/internal/testkit/runtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type stage = designtest.Stage[*mariadb.Server]

// open opens the stage of a test.
func open(t *testing.T, d design.Design, on *mariadb.Server) *stage {
	return designtest.OpenStage(t, d, on, t.Name())
}

var session, pooled = family.Designs()[0], family.Designs()[1]

// each runs test with each design that is a lock, on one server.
func each(t *testing.T, test func(*testing.T, *stage)) {
	server := servicetest.Start(t, mariadb.Start)
	for _, d := range family.Designs() {
		if len(d.Claims.Keeps) > 0 {
			t.Run(d.Name, func(t *testing.T) { test(t, open(t, d, server)) })
		}
	}
}

// admin opens connections to a server as its administrator, which end with t.
func admin(t *testing.T, s *mariadb.Server) *sql.DB {
	t.Helper()
	pool, err := s.Reach().(*mariadb.Access).Pool()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// endSession ends the session that has the key of a test.
func endSession(t *testing.T, s *mariadb.Server) {
	t.Helper()
	root, id := admin(t, s), ""
	err := root.QueryRowContext(t.Context(), "select is_used_lock(sha2(?, 256))", t.Name()+":"+designtest.Key).Scan(&id)
	if err == nil {
		_, err = root.ExecContext(t.Context(), "kill "+id)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOneOwnerAtATime(t *testing.T) {
	each(t, func(t *testing.T, s *stage) { s.OneOwnerAtATime(t) })
}

func TestProcessEnds(t *testing.T) { each(t, func(t *testing.T, s *stage) { s.ProcessEnds(t) }) }

func TestLeaseEnds(t *testing.T) { each(t, func(t *testing.T, s *stage) { s.LeaseEnds(t) }) }

func TestGivenUp(t *testing.T) {
	each(t, func(t *testing.T, s *stage) { designtest.GivenUp(t, s.Design, s.Service.Reach) })
}

// TestLongNames checks that names of more than 192 bytes are apart, which the server refuses.
func TestLongNames(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		for _, last := range []string{"a", "b"} {
			key := fmt.Sprintf("%0200d%s", 0, last)
			if _, err := s.Owner(0).Acquire(t.Context(), key, lockbench.Options{TTL: time.Minute}); err != nil {
				t.Errorf("%s: %v", last, err)
			}
			if _, err := s.Owner(1).Acquire(t.Context(), key, lockbench.Options{TTL: time.Minute}); !errors.Is(err, lockbench.ErrNotAcquired) {
				t.Errorf("%s again: %v", last, err)
			}
		}
	})
}

// TestSessionsThatTheServerEnds shows the documented faults: the key is free while its owner works on,
// who is told at the release.
func TestSessionsThatTheServerEnds(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *mariadb.Server){
		"killed": endSession,
		"idle":   func(*testing.T, *mariadb.Server) {},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *stage) {
				if name == "idle" {
					if _, err := admin(t, s.Service).ExecContext(t.Context(), "set global wait_timeout = 1"); err != nil {
						t.Fatal(err)
					}
				}
				if !s.Design.Leaseless {
					t.Skip("it holds no session")
				}
				held, err := designtest.Acquire(t, s.Owner(0))
				if err != nil {
					t.Fatal(err)
				}
				end(t, s.Service)
				other, err := s.Owner(1).Acquire(t.Context(), designtest.Key, lockbench.Options{Wait: time.Minute})
				if err != nil {
					t.Fatalf("the key is not free: %v", err)
				}
				if err := held.Release(t.Context()); err == nil {
					t.Error("the release of a lost lock says nothing")
				}
				_ = other.Release(t.Context()) // its session may be over, too
			})
		})
	}
}

// TestRuns checks that runs find nothing wrong with the locks, and find out a broken one and the one
// on a pool.
func TestRuns(t *testing.T) {
	servertest.Need(t, mariadb.Missing())
	runtest.Runs(t, family.Designs(), 500*time.Millisecond, "session-kill,at=50ms,every=100ms")
}

// TestSessionKill checks that a run finds the documented fault, which breaks no claim.
func TestSessionKill(t *testing.T) {
	servertest.Need(t, mariadb.Missing())
	runtest.EndsSessions(t, family.Designs()[0])
}
