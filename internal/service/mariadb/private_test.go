package mariadb_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/mariadb"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a private server, which ends with t.
func start(t *testing.T) *mariadb.Server { return servicetest.Start(t, mariadb.Start) }

func TestPrivate(t *testing.T) { servicetest.Run(t, mariadb.Start, "mariadb 1", servicetest.Kill) }

// TestTogether checks that several machines can make a run with one prefix.
func TestTogether(t *testing.T) { servicetest.Together(t, start(t), mariadb.Backend{}) }

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

// run runs statements.
func run(t *testing.T, on *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := on.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOwnUsers checks that a private server has the users of the run alone.
func TestOwnUsers(t *testing.T) {
	var users string
	err := admin(t, start(t)).QueryRowContext(t.Context(), "select group_concat(user, '@', host order by user) from mysql.user where user <> 'mariadb.sys'").Scan(&users)
	if err != nil || users != "lockbench@127.0.0.1,lockbench-own@127.0.0.1" {
		t.Errorf("users %s, error %v", users, err)
	}
}

// TestSessionsEnd checks that a restart ends sessions, as EndSessions does, and with them their locks.
func TestSessionsEnd(t *testing.T) {
	s := start(t)
	for name, end := range map[string]func() error{
		"restart": func() error { return s.Restart(t.Context(), func() {}) },
		"ended":   func() error { return s.EndSessions(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			open := func() *mariadb.Conn {
				conn, err := s.Reach().(*mariadb.Access).Connect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(conn.Close)
				return conn
			}
			const lock = "select get_lock(?, 0)"
			all := []*mariadb.Conn{open(), open(), open()}
			if granted, err := all[0].Tell(t.Context(), lock, name); err != nil || !granted {
				t.Fatalf("the lock: granted %t, %v", granted, err)
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			for _, conn := range all {
				if conn.PingContext(t.Context()) == nil {
					t.Error("a session goes on")
				}
			}
			if granted, err := open().Tell(t.Context(), lock, name); err != nil || !granted {
				t.Errorf("the lock: granted %t, %v", granted, err)
			}
		})
	}
}

// TestUsers checks that a run of a user who may not keep a table is refused, and that a run leaves
// nothing in a database of the user's, and all that was there.
func TestUsers(t *testing.T) {
	s := start(t)
	root := admin(t, s)
	run(t, root, "create database theirs", "create table theirs.`lockbench:1` (x int)", "insert into theirs.`lockbench:1` values (1)")
	rights := []string{"create", "drop", "select", "insert", "update"}
	for i := range len(rights) + 1 { // a user who may do all, and others who lack one right
		user := fmt.Sprintf("u%d", i)
		run(t, root, fmt.Sprintf("create user %s identified by 'p'", user))
		for j, right := range rights {
			if i != j {
				run(t, root, fmt.Sprintf("grant %s on theirs.* to %s", right, user))
			}
		}
		all, err := mariadb.Backend{}.Open(t.Context(), []string{fmt.Sprintf("mysql://%s:p@%s/theirs", user, s.Endpoint())}, 1)
		if err != nil {
			t.Fatal(err)
		}
		theirs := all[0].(*mariadb.Server)
		if got := theirs.Check(t.Context(), nil); (got == nil) != (i == len(rights)) {
			t.Errorf("a user without %v: %v", rights[min(i, len(rights)-1)], got)
		} else if got != nil {
			continue
		}
		if theirs.Kind() != design.External || theirs.Address() != "mysql://"+s.Endpoint()+"/theirs" || theirs.Version() != s.Version() {
			t.Errorf("%s server %s at %s", theirs.Kind(), theirs.Version(), theirs.Address())
		}
		records := theirs.Records("lockbench:1:")
		if err := errors.Join(records.Write(t.Context(), "k", lockbench.Record{Value: 1}), records.Close()); err != nil {
			t.Fatal(err)
		}
		if n, err := theirs.Sweep(t.Context(), "lockbench:1:"); n != 1 || err != nil {
			t.Errorf("swept %d, error %v", n, err)
		}
	}
	var left string
	err := root.QueryRowContext(t.Context(), "select group_concat(table_name) from information_schema.tables where table_name like 'lockbench%'").Scan(&left)
	if err != nil || left != "lockbench:1" {
		t.Errorf("left are %s, error %v", left, err)
	}
}

// TestAddresses checks that an address that is none, or where no server is, is an error without its password.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"mysql://u:secret@127.0.0.1:1/d": "refused", "mysql://u:secret@h:port/d": "not an address", "mysql://u:secret@h": "not an address",
		"mysql:///d": "not an address", "mysql://u@h/d?tls=secret": "not an address", "mysql://u@h/d?password=secret": "not an address",
		"mysql://u@h/d?tls=true&x=secret": "not an address",
	} {
		_, err := mariadb.Connect(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hint") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// TestErrors checks what errors say of a statement and of its session.
func TestErrors(t *testing.T) {
	s := start(t)
	root := admin(t, s)
	connect := func() *mariadb.Conn {
		conn, err := s.Reach().(*mariadb.Access).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		return conn
	}
	killed, closed := connect(), connect()
	var id string
	if err := killed.QueryRowContext(t.Context(), "select connection_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	run(t, root, "kill "+id)
	closed.Close()
	for _, c := range []struct {
		name            string
		err             error
		noEffect, ended bool
	}{
		{"a refusal", connect().Run(t.Context(), "select nothing"), true, false},
		{"a killed session", killed.Run(t.Context(), "select 1"), false, false},
		{"a closed connection", closed.Run(t.Context(), "select 1"), true, false},
		{"an idle session, by MySQL", &mysql.MySQLError{Number: 4031}, false, true},
		{"a shutdown", fmt.Errorf("release: %w", &mysql.MySQLError{Number: 1053}), false, true},
	} {
		if c.err == nil || mariadb.HadNoEffect(c.err) != c.noEffect || mariadb.Ended(c.err) != c.ended {
			t.Errorf("%s: %v: no effect %t, ended %t", c.name, c.err, mariadb.HadNoEffect(c.err), mariadb.Ended(c.err))
		}
	}
}

// TestMissing checks that without MariaDB a design that is named is an error.
func TestMissing(t *testing.T) {
	defer mariadb.Hide()()
	t.Setenv("PATH", t.TempDir())
	if err := mariadb.Missing(); !errors.Is(err, mariadb.ErrNoProgram) {
		t.Fatalf("got %v, want that there is no program", err)
	}
	designs, err := impls.Match("mariadb/session")
	if err != nil {
		t.Fatal(err)
	}
	o := workloads.Defaults()
	o.Operations, o.Stallers = 50, 0
	p := runner.Plan{Subjects: []runner.Subject{{Design: designs[0]}}, Workload: workloads.Must("oversell"), Options: o, History: t.TempDir()}
	if _, err := runner.Run(t.Context(), p); !errors.Is(err, mariadb.ErrNoProgram) {
		t.Errorf("got %v, want that there is no program", err)
	}
}
