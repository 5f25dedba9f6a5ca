package postgres_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/postgres"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// TestClusterLeavesNothing checks that a cluster answers, and that its folder is
// gone after Stop.
func TestClusterLeavesNothing(t *testing.T) {
	temp, err := os.MkdirTemp("", "pg-") // the test's own folder may be too long for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	cluster, err := postgres.Start(t.Context())
	if errors.Is(err, postgres.ErrNoProgram) && os.Getenv(servertest.Required) != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, errQuery := exec.Command("psql", "-d", cluster.DSN(), "-Atc", "select 1 + 1").CombinedOutput()
	if err := cluster.Stop(); err != nil {
		t.Error(err)
	}
	if errQuery != nil || string(out) != "2\n" {
		t.Errorf("1 + 1 is %q: %v", out, errQuery)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
