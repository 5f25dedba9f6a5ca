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
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// pinned begins a transaction on a connection of its own, which has a session until end is called.
func pinned(t *testing.T, server *postgres.Server) (end func()) {
	conn, err := server.Reach().(*postgres.Access).Connect(t.Context())
	if err == nil {
		_, err = conn.Exec(t.Context(), "begin")
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.Exec(t.Context(), "commit"); err != nil {
			t.Error(err)
		}
		conn.Close()
	}
}

// twoOwners reports whether an owner is granted what another holds.
func twoOwners(t *testing.T, s *scene) bool {
	if _, err := designtest.Acquire(t, s.Owner(0)); err != nil {
		t.Fatal(err)
	}
	_, err := designtest.Acquire(t, s.Owner(1))
	return err == nil
}

// terminate ends the session that has a lock.
const terminate = `select pg_terminate_backend(pid, 60000) from pg_locks
	where locktype = 'advisory' and classid::bigint << 32 | objid::bigint = hashtextextended($1, 0)`

// strangersRelease reports whether an owner whose session has ended frees what another holds.
func strangersRelease(t *testing.T, s *scene) bool {
	lost, err := designtest.Acquire(t, s.Owner(0))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := pgx.Connect(t.Context(), s.Service.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	if _, err := admin.Exec(t.Context(), terminate, t.Name()+":"+designtest.Key); err != nil {
		t.Fatal(err)
	}
	for s.Service.Ping(t.Context()) != nil { // the pooler learns of it
		time.Sleep(time.Millisecond)
	}
	held, err := s.Owner(1).Acquire(t.Context(), designtest.Key, lockbench.Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	freed, kept := lost.Release(t.Context()), held.Release(t.Context())
	if (freed == nil) != errors.Is(kept, lockbench.ErrNotHeld) {
		t.Errorf("the releases return %v and %v", freed, kept)
	}
	return freed == nil
}

// leakedKey reports whether a key stays locked when its owner has released it. The release is given the
// session that the first transaction had, because the session of the acquire is in use.
func leakedKey(t *testing.T, s *scene) bool {
	first := pinned(t, s.Service)
	held, err := designtest.Acquire(t, s.Owner(0))
	if err != nil {
		t.Fatal(err)
	}
	second := pinned(t, s.Service)
	first()
	released := held.Release(t.Context())
	_, err = designtest.Acquire(t, s.Owner(1))
	second()
	if leaks := errors.Is(err, lockbench.ErrNotAcquired); leaks != errors.Is(released, lockbench.ErrNotHeld) {
		t.Errorf("the release returns %v, the next acquire %v", released, err)
	}
	return err != nil
}

// TestPooler shows the faults of a session lock behind a pooler, which runs a request in the session
// that was idle for the shortest time, and that the same lock has none on connections to the server.
func TestPooler(t *testing.T) {
	server, err := postgres.StartPooled(t.Context())
	servertest.Need(t, err)
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	pooled := family.Designs()[1]
	direct, err := postgres.Connect(t.Context(), server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	for name, shows := range map[string]func(*testing.T, *scene) bool{
		"two owners": twoOwners, "a stranger's release": strangersRelease, "a leaked key": leakedKey,
	} {
		for _, on := range []*postgres.Server{server, direct} {
			t.Run(name+"/"+on.Version(), func(t *testing.T) {
				if got := shows(t, designtest.OpenStage(t, pooled, on, t.Name())); got != (on == server) {
					t.Errorf("shown: %t", got)
				}
			})
		}
	}
}
