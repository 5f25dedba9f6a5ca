//go:build unix

package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench/internal/servertest"
)

// start starts a private cluster on a unix socket in a folder of its own, and returns how to reach it. It
// stops when t ends. Without the programs t is skipped, or fails where servertest.Required is set.
func start(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	programs := programs(t)
	dir, err := os.MkdirTemp("", "lockbench-pg-") // short enough for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	as := unprivileged(t, dir)
	data := filepath.Join(dir, "data")
	if out, err := as(exec.CommandContext(t.Context(), filepath.Join(programs, "initdb"), "-D", data, "-U", "lockbench", "-A", "trust", "-N", "--no-instructions")).CombinedOutput(); err != nil {
		t.Fatalf("make a private cluster: %v\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	server := as(exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"))
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatalf("start a private cluster: %v", err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // fast shutdown
		if err := server.Wait(); err != nil {
			t.Errorf("stop the private cluster: %v", err)
		}
	})
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s user=lockbench dbname=postgres sslmode=disable", dir))
	if err != nil {
		t.Fatal(err)
	}
	answers(t, config, log.Name())
	return config
}

// programs is the folder of the newest PostgreSQL that is installed.
func programs(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // Debian's, which is in no PATH
	if err == nil && len(found) > 0 {
		slices.Sort(found)
		return filepath.Dir(found[len(found)-1])
	}
	if os.Getenv(servertest.Required) == "1" {
		t.Fatal("no program postgres; hint: install it (Debian: postgresql)")
	}
	t.Skip("needs PostgreSQL: no program postgres")
	return ""
}

// unprivileged has commands run by somebody whom PostgreSQL accepts, and gives that one dir: it does not
// run as root.
func unprivileged(t *testing.T, dir string) func(*exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		return func(c *exec.Cmd) *exec.Cmd { return c }
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(nobody.Uid)
	gid, errGroup := strconv.Atoi(nobody.Gid)
	if err := errors.Join(err, errGroup, os.Chown(dir, uid, gid)); err != nil {
		t.Fatal(err)
	}
	return func(c *exec.Cmd) *exec.Cmd {
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return c
	}
}

// answers waits until the cluster does.
func answers(t *testing.T, config *pgx.ConnConfig, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		c, err := pgx.ConnectConfig(ctx, config)
		if err == nil {
			if err := c.Close(ctx); err != nil {
				t.Fatal(err)
			}
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			f, _ := os.Open(log)
			text, _ := io.ReadAll(f)
			t.Fatalf("the private cluster does not answer: %v\n%s", err, text)
		}
	}
}
