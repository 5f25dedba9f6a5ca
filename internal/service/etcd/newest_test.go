package etcd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/service/etcd"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

// TestNewest runs the tests of a private server with the newest etcd, since that of the system may be
// years old. The module testdata/newest pins its version.
func TestNewest(t *testing.T) {
	longtest.Only(t)
	version, program := buildNewest(t)
	t.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Run("private", func(t *testing.T) { servicetest.Run(t, etcd.Start, "etcd "+version, servicetest.Kill) })
	t.Run("sessions end", TestSessionsEnd)
	t.Run("leader lost", TestLeaderLost)
	t.Run("users", TestUsers)
	t.Run("foreign", TestForeign)
	t.Run("old program", TestOldProgram)
}

// buildNewest builds the newest server. It skips t if the registry cannot be reached, as adapters/install
// leaves out a language, and fails it for any other reason.
func buildNewest(t *testing.T) (version, program string) {
	t.Helper()
	const server = "go.etcd.io/etcd/server/v3"
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = "testdata/newest"
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly -buildvcs=false")
		return cmd
	}
	if out, err := command("mod", "download").CombinedOutput(); err != nil {
		if os.Getenv("LOCKBENCH_REQUIRE_ADAPTERS") == "1" || !strings.Contains(string(out), "dial tcp") {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Skipf("the modules of %s cannot be downloaded: %v\n%s", server, err, out)
	}
	out, err := command("list", "-m", "-f", "{{.Version}}", server).Output()
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "etcd")
	if out, err := command("build", "-o", program, server).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), program
}
