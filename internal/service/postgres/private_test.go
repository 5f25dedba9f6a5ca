package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/service/relay"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a private server, which ends with t.
func start(t *testing.T) *postgres.Server { return servicetest.Start(t, postgres.Start) }

func TestPrivate(t *testing.T) { servicetest.Run(t, postgres.Start, "postgresql ", quit) }

// TestTogether checks that several machines can make a run with one prefix.
func TestTogether(t *testing.T) { servicetest.Together(t, start(t), postgres.Backend{}) }

// quit ends a server as its administrator would, and its backends with it.
func quit(s *postgres.Server) error {
	conn, err := pgx.Connect(context.Background(), s.DSN())
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	_, _ = conn.Exec(context.Background(), "copy (select 1) to program 'kill -QUIT $(head -1 postmaster.pid)'") // it may not answer
	return nil
}

// TestSessionsEnd checks that a restart ends sessions, as EndSessions does, and with them their locks.
func TestSessionsEnd(t *testing.T) {
	s := start(t)
	for name, end := range map[string]func() error{
		"restart": func() error { return s.Restart(t.Context(), func() {}) },
		"ended":   func() error { return s.EndSessions(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			var all []*pgx.Conn
			for range 3 {
				conn, err := pgx.Connect(t.Context(), s.DSN())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close(context.Background())
				all = append(all, conn)
			}
			if _, err := all[0].Exec(t.Context(), "select pg_advisory_lock(1)"); err != nil {
				t.Fatal(err)
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			for _, conn := range all {
				if conn.Ping(t.Context()) == nil {
					t.Error("a session goes on")
				}
			}
			next, err := pgx.Connect(t.Context(), s.DSN())
			if err != nil {
				t.Fatal(err)
			}
			defer next.Close(context.Background())
			var granted bool
			if err := next.QueryRow(t.Context(), "select pg_try_advisory_lock(1)").Scan(&granted); err != nil || !granted {
				t.Errorf("the lock: granted %t, %v", granted, err)
			}
		})
	}
}

// TestFailover checks that replicas, one after the other, take the place of the server, without what was written
// after they were cut off and without sessions.
func TestFailover(t *testing.T) {
	s := start(t)
	records := s.Records("lockbench:1:")
	defer records.Close()
	write := func(key string) {
		if err := records.Write(t.Context(), key, lockbench.Record{Value: 1, Version: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		known, lost := fmt.Sprint("known", i), fmt.Sprint("lost", i)
		write(known)
		address, err := s.ListenTCP(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		link, err := relay.Listen(relay.To(address), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer link.Close()
		r, err := s.StartReplica(t.Context(), link.Address())
		if err != nil {
			t.Fatal(err)
		}
		link.Close()
		write(lost)
		held, err := pgx.Connect(t.Context(), s.DSN())
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close(context.Background())
		if n, err := r.Behind(t.Context()); n <= 0 || err != nil {
			t.Errorf("behind by %d bytes, error %v", n, err)
		}
		killed := false
		if err := errors.Join(r.Failover(t.Context(), func() { killed = held.Ping(t.Context()) != nil }), r.Close()); err != nil || !killed {
			t.Fatalf("error %v, the server was killed: %t", err, killed)
		}
		for key, want := range map[string]uint64{known: 1, lost: 0} {
			for { // connections of before are found broken, one by one
				got, err := records.Read(t.Context(), key)
				if err != nil {
					continue
				}
				if got.Version != want {
					t.Errorf("%s: version %d, want %d", key, got.Version, want)
				}
				break
			}
		}
		write("anew")
	}
}

// TestSuspend checks that backends that are connected stand still, too, and go on.
func TestSuspend(t *testing.T) {
	s := start(t)
	ask, end := s.Ask()
	defer end()
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Suspend(); err != nil {
		t.Skip(err)
	}
	answered := make(chan error, 1)
	go func() { answered <- ask(t.Context()) }()
	states := s.States()
	runs := func(state string) bool { return state != "T" && state != "Z" } // the server, which stands still, waits for none that has ended
	for slices.ContainsFunc(states, runs) {                                 // a process stops when it is next to run
		time.Sleep(time.Millisecond)
		states = s.States()
	}
	if len(states) < 2 {
		t.Errorf("%d processes, want the server and its backends", len(states))
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// TestUsers checks that a run of a user who may not create a schema is refused, and that a run leaves
// nothing in a database of the user's.
func TestUsers(t *testing.T) {
	s := start(t)
	conn, err := pgx.Connect(t.Context(), s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "create user guest password 'p'; create user renter password 'p'; grant create on database postgres to renter"); err != nil {
		t.Fatal(err)
	}
	for user, may := range map[string]bool{"guest": false, "renter": true} {
		address := fmt.Sprintf("postgres://%s:p@%s/postgres?sslmode=disable", user, s.Endpoint())
		all, err := postgres.Backend{}.Open(t.Context(), []string{address}, 1)
		if err != nil {
			t.Fatal(err)
		}
		theirs := all[0]
		if got := theirs.Check(t.Context(), nil); (got == nil) != may {
			t.Errorf("%s: %v", user, got)
		}
		if theirs.Kind() != design.External || theirs.Address() != "postgres://"+s.Endpoint()+"/postgres" {
			t.Errorf("%s server at %s", theirs.Kind(), theirs.Address())
		}
		if !may {
			continue
		}
		access := theirs.Reach().(*postgres.Access)
		if _, err := access.Schema(t.Context(), "lockbench:1:"); err != nil {
			t.Fatal(err)
		}
		if _, err := theirs.Sweep(t.Context(), "lockbench:1:"); err != nil {
			t.Error(err)
		}
	}
	var left int
	if err := conn.QueryRow(t.Context(), "select count(*) from pg_namespace where nspname like 'lockbench%'").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d schemas are left, error %v", left, err)
	}
}

// TestSchemaOfAdapter checks that a schema that an adapter made is among the entries of its run, and goes with
// them, and that one whose name only looks like it stays.
func TestSchemaOfAdapter(t *testing.T) {
	s := start(t)
	conn, err := pgx.Connect(t.Context(), s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	const prefix = "lockbench:0123abcd:"
	if _, err := s.Reach().(*postgres.Access).Schema(t.Context(), prefix); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `
		create schema "lockbench:0123abcd:own"; create table "lockbench:0123abcd:own".held as select 1 union select 2;
		create schema "lockbench-0123abcd:own"`); err != nil {
		t.Fatal(err)
	}
	found, err := s.Runs(t.Context())
	if err != nil || len(found) != 1 || found[0].Prefix != prefix || found[0].Entries != 2 {
		t.Errorf("got %v, error %v; want two entries of %s", found, err, prefix)
	}
	if n, err := s.Sweep(t.Context(), prefix); n != 2 || err != nil {
		t.Errorf("%d rows went, error %v; want 2", n, err)
	}
	var left string
	if err := conn.QueryRow(t.Context(), "select string_agg(nspname, ' ') from pg_namespace where nspname like 'lockbench%'").Scan(&left); err != nil || left != "lockbench-0123abcd:own" {
		t.Errorf("left: %s, error %v", left, err)
	}
}

// TestMissing checks that without PostgreSQL a design that is named is an error, and that one of a
// pattern is left out.
func TestMissing(t *testing.T) {
	defer postgres.Hide()()
	t.Setenv("PATH", t.TempDir())
	if err := postgres.Missing(); !errors.Is(err, postgres.ErrNoProgram) {
		t.Fatalf("got %v, want that there is no program", err)
	}
	if _, err := postgres.StartPooled(t.Context()); !errors.Is(err, postgres.ErrNoPooler) {
		t.Fatalf("got %v, want that there is no pooler", err)
	}
	names := []string{"postgres/session", "file/excl"}
	designs, err := impls.Match(names...)
	if err != nil {
		t.Fatal(err)
	}
	for _, optional := range []bool{false, true} {
		o := workloads.Defaults()
		o.Operations, o.Stallers = 50, 0
		p := runner.Plan{Workload: workloads.Must("oversell"), Options: o, History: t.TempDir()}
		for _, d := range designs {
			p.Subjects = append(p.Subjects, runner.Subject{Design: d, Optional: optional})
		}
		r, err := runner.Run(t.Context(), p)
		if optional && (err != nil || len(r.Runs) != 1 || r.Runs[0].Err != nil) || !optional && !errors.Is(err, postgres.ErrNoProgram) {
			t.Errorf("optional %t: %d runs, error %v", optional, len(r.Runs), err)
		}
	}
}

// TestPooled checks that connections share a session of a pooler, also after a restart of the
// server, and that the end of the pooler by itself is told.
func TestPooled(t *testing.T) {
	s, err := postgres.StartPooled(t.Context())
	servertest.Need(t, err)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Ping(t.Context()); err == nil {
			t.Error("it answers after its end")
		}
	}()
	if !strings.Contains(s.Version(), " behind pgbouncer 1.") || strings.Contains(s.DSN(), s.Endpoint()) {
		t.Errorf("%s at %s", s.Version(), s.Endpoint())
	}
	sessions := map[string]bool{}
	for range 2 {
		for range 2 {
			conn, err := s.Reach().(*postgres.Access).Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for range 2 { // a statement with an argument is prepared
				var pid string
				if err := conn.QueryRow(t.Context(), "select pg_backend_pid()::text where $1 = 'x'", "x").Scan(&pid); err != nil {
					t.Fatal(err)
				}
				sessions[pid] = true
			}
		}
		if err := s.Restart(t.Context(), func() {}); err != nil {
			t.Fatal(err)
		}
		for s.Ping(t.Context()) != nil { // the pooler learns of it
			time.Sleep(time.Millisecond)
		}
	}
	if len(sessions) != 2 {
		t.Errorf("sessions %v, want one before and one after the restart", sessions)
	}
	if err := s.KillPooler(); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "private pgbouncer ended by itself") {
		t.Errorf("got %v", err)
	}
}
