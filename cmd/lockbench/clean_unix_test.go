//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/service/mariadb"
	"github.com/lockbench/lockbench/internal/service/nats"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

// TestClean checks that clean leaves what a run uses, and removes it once the run has been killed, and
// nothing else.
func TestClean(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		s := servicetest.Start(t, postgres.Start)
		cleansAfterKill(t, s, s.DSN(), "postgres/row")
	})
	t.Run("mariadb", func(t *testing.T) {
		s := servicetest.Start(t, mariadb.Start)
		cleansAfterKill(t, s, s.Reach().(*mariadb.Access).URL(s.Endpoint()), "mariadb/row")
	})
	t.Run("nats", func(t *testing.T) {
		s := servicetest.Start(t, nats.Start)
		cleansAfterKill(t, s, s.URL(), "nats/kv")
	})
}

// cleansAfterKill is [TestClean] on a server at url, with a design on it.
func cleansAfterKill(t *testing.T, s servicetest.Private, url, design string) {
	record, theirs := lockbench.Record{Value: 12, Version: 3}, s.Records("lockbench:theirs:")
	if err := errors.Join(theirs.Write(t.Context(), "k", record), theirs.Close()); err != nil { // its sessions are lockbench's, too
		t.Fatal(err)
	}
	dir, said := t.TempDir(), new(bytes.Buffer)
	run := exec.CommandContext(t.Context(), "lockbench", "run", "-q", "--server", url, "--design", design, "--duration", "10m", "--hold", "1ms", "--explore", "0s", "--history", dir)
	path := filepath.SplitList(os.Getenv("PATH"))[0] // without a redis-server
	run.Env = append(os.Environ(), "TMPDIR="+dir, "PATH="+path)
	run.Stderr = said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- run.Wait() }()
	clean := func(idle string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "lockbench", "clean", "--server", url, "--idle", idle).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	used := func() bool {
		found, err := s.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(found) == 1 && found[0].Entries > 0
	}
	for !used() {
		select {
		case err := <-ended:
			t.Fatalf("the run: %v: %s", err, said)
		default:
		}
	}
	if out := clean("10m"); !strings.Contains(out, "left, since a run may use them") || !used() {
		t.Errorf("while the run used them: %s", out)
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if out := clean("0s"); !strings.HasPrefix(out, "lockbench:") || !strings.HasSuffix(out, ": removed\n") || strings.Count(out, "\n") != 1 {
		t.Errorf("of the killed run: %s", out)
	}
	if out := clean("0s"); !strings.Contains(out, "nothing to remove") {
		t.Errorf("a second time: %s", out)
	}
	theirs = s.Records("lockbench:theirs:")
	defer theirs.Close()
	if got, err := theirs.Read(t.Context(), "k"); err != nil || got != record {
		t.Errorf("the record of another program is %+v, error %v; want %+v", got, err, record)
	}
}
