package zookeeper_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/zookeeper"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a private server, which ends with t.
func start(t *testing.T) *zookeeper.Server { return servicetest.Start(t, zookeeper.Start) }

// TestTogether checks that several machines can make a run with one prefix.
func TestTogether(t *testing.T) { servicetest.Together(t, start(t), zookeeper.Backend{}) }

func TestPrivate(t *testing.T) {
	servicetest.Run(t, zookeeper.Start, "zookeeper 3.", servicetest.Kill)
}

// TestBelow checks that a server of the user's keeps records below a node, and removes them.
func TestBelow(t *testing.T) {
	on := below(t, start(t))
	servicetest.Records(t, func() design.Records { return on.Records("test:") })
	if n, err := on.Sweep(t.Context(), "test:"); n == 0 || err != nil {
		t.Errorf("swept %d nodes, error %v", n, err)
	}
	if n, err := on.Sweep(t.Context(), "test:"); n != 0 || err != nil {
		t.Errorf("swept again %d nodes, error %v", n, err)
	}
}

// below returns the server as one of the user's, with everything below a node.
func below(t *testing.T, s *zookeeper.Server) *zookeeper.Server {
	t.Helper()
	all, err := zookeeper.Backend{}.Open(t.Context(), []string{s.Address() + "/record-theirs"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	theirs := all[0].(*zookeeper.Server)
	if err := theirs.Check(t.Context(), nil); err == nil {
		t.Error("there is no such node: no error")
	}
	missing := theirs.Records("test:")
	defer missing.Close()
	if err := missing.Write(t.Context(), "k", lockbench.Record{Version: 1}); !errors.Is(err, lockbench.ErrNoEffect) {
		t.Errorf("there is no such node: %v", err)
	}
	records := s.Records("")
	defer records.Close()
	if err := records.Write(t.Context(), "theirs", lockbench.Record{Version: 1}); err != nil {
		t.Fatal(err)
	}
	if err := theirs.Check(t.Context(), nil); err != nil || theirs.Kind() != design.External {
		t.Errorf("%s server, error %v", theirs.Kind(), err)
	}
	return theirs
}

// TestLocksStay checks that nodes of locks stay, since nobody knows when they were used, unless all is to go.
func TestLocksStay(t *testing.T) {
	s := start(t)
	lock := s.Records("lockbench:0123abcd:a-") // a node that is not named as a record is
	if err := errors.Join(lock.Write(t.Context(), "lock", lockbench.Record{Version: 1}), lock.Close()); err != nil {
		t.Fatal(err)
	}
	for _, idle := range []time.Duration{time.Nanosecond, 0} {
		found, err := backend.Clean(t.Context(), s, idle)
		if err != nil || len(found) != 1 || found[0].Removed != (idle == 0) || !strings.Contains(found[0].String(), "does not tell") {
			t.Errorf("idle %v: %v, error %v", idle, found, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"zk://":                       "not of one server",
		"zk://a:1,b:2":                "not of one server",
		"zk://user:secret@host:1":     "does not log in",
		"zk://127.0.0.1:1/below/this": "server zk://127.0.0.1:1/below/this: ",
	} {
		_, err := zookeeper.Connect(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := zookeeper.Missing(); !errors.Is(err, zookeeper.ErrNoProgram) {
		t.Errorf("got %v, want that there is no program", err)
	}
}
