package zookeeper_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/zookeeper"
	"github.com/lockbench/lockbench/internal/testkit/recordstest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a private server, which ends with t.
func start(t *testing.T) *zookeeper.Server {
	t.Helper()
	s, err := zookeeper.Start(t.Context())
	servertest.Need(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestRecords(t *testing.T) {
	s := start(t)
	for i, on := range []*zookeeper.Server{s, below(t, s)} {
		recordstest.Run(t, func() design.Records { return on.Records("test:") })
		if n, err := on.Sweep(t.Context(), "test:"); n == 0 || err != nil {
			t.Errorf("%d: swept %d nodes, error %v", i, n, err)
		}
		if n, err := on.Sweep(t.Context(), "test:"); n != 0 || err != nil {
			t.Errorf("%d: swept again %d nodes, error %v", i, n, err)
		}
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

// TestPrivateLeavesNothing checks that a server answers, and that its folder is gone after Close.
func TestPrivateLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s, err := zookeeper.Start(t.Context())
	servertest.Need(t, err)
	if err := errors.Join(s.Ping(t.Context()), s.Check(t.Context(), nil), s.Err()); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(s.Version(), "zookeeper 3.") {
		t.Errorf("version %q", s.Version())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "lockbench-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("it answers after its end")
	}
}

// TestRestart checks that what was written is there after a restart.
func TestRestart(t *testing.T) {
	s := start(t)
	records := s.Records("test:")
	defer records.Close()
	want := lockbench.Record{Value: 12, Version: 3}
	if err := records.Write(t.Context(), "k", want); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context(), func() {
		if s.Ping(t.Context()) == nil {
			t.Error("it answers between its end and its start")
		}
	}); err != nil {
		t.Fatal(err)
	}
	again := s.Records("test:")
	defer again.Close()
	if got, err := again.Read(t.Context(), "k"); got != want || err != nil {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
}

// TestAsk checks that a server that stands still does not answer until it goes on.
func TestAsk(t *testing.T) {
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
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(ended); err == nil {
		t.Error("it answered after the end of the context")
	}
	if err := ask(t.Context()); err != nil {
		t.Errorf("on another connection: %v", err)
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
