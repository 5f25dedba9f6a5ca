package servertest

import (
	"errors"
	"os"
	"testing"

	"github.com/lockbench/lockbench/internal/lib/faketime"
	"github.com/lockbench/lockbench/internal/service/etcd"
	"github.com/lockbench/lockbench/internal/service/mariadb"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/service/zookeeper"
)

// Required is the environment variable that, set to 1, makes a test without its
// server fail instead of skip.
const Required = "LOCKBENCH_REQUIRE_SERVERS"

// Start starts a private server and stops it when t ends. Without redis-server or
// valkey-server in PATH it skips t, or fails it if [Required] is set.
func Start(t testing.TB) *servers.Server {
	t.Helper()
	s, err := servers.StartPrivate(t.Context())
	Need(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("stop private server: %v", err)
		}
	})
	return s
}

// Clocked starts a private server like Start, with a clock that can be set. Without
// the means for that it skips t, or fails it if [Required] is set.
func Clocked(t testing.TB) *servers.Server {
	t.Helper()
	s := Start(t)
	Need(t, s.OwnClock(t.Context()))
	return s
}

// Need ends t if err, from starting a server, is not nil: it skips t if there is no
// program to start and [Required] is not set, and fails it otherwise.
func Need(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case missing(err) && os.Getenv(Required) != "1":
		t.Skipf("needs a real server: %v", err)
	default:
		t.Fatalf("start private server: %v", err)
	}
}

// missing reports whether err says that this machine lacks a program or an ability.
func missing(err error) bool {
	return errors.Is(err, servers.ErrNoProgram) || errors.Is(err, etcd.ErrNoProgram) || errors.Is(err, postgres.ErrNoProgram) || errors.Is(err, postgres.ErrNoPooler) || errors.Is(err, mariadb.ErrNoProgram) || errors.Is(err, zookeeper.ErrNoProgram) || errors.Is(err, faketime.ErrNone)
}
