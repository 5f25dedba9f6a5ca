package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/lockbench/lockbench/reports"
)

// imageBuild is the line of the Dockerfile that builds lockbench, without what it makes.
var imageBuild = regexp.MustCompile(`(?m)^RUN (.*go build .* -o) /lockbench (\S+)$`)

// nobody is a user who owns nothing but the directory of work.
const nobody = 65534

// TestImage runs the program that the Dockerfile makes where there is nothing else: no
// C library, no /proc, no /etc, and nobody's privileges.
func TestImage(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("builds lockbench")
	case os.Geteuid() != 0:
		t.Skip("only root may change the root")
	}
	t.Parallel()
	line := imageBuild.FindStringSubmatch(contents(t, "../../Dockerfile"))
	if line == nil {
		t.Fatal("the Dockerfile has no line that builds lockbench")
	}
	root := t.TempDir()
	build := exec.CommandContext(t.Context(), "sh", "-c", line[1]+" "+filepath.Join(root, "lockbench")+" "+line[2])
	build.Dir = "../.."
	building.Lock()
	out, err := build.CombinedOutput()
	building.Unlock()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line[0], err, out)
	}
	for _, dir := range []string{"tmp", "work"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(root, dir), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, args string
		exit       int
		says       string
	}{
		{"a sound lock", "--design lua-token/strategy --workload mutex --key-choice own --clients 3 --operations 30 --slow-keys 0 --out json=result.json", reports.Passed, "server: embedded"},
		{"a broken lock", "--fail-fast --design hash-reentrant/plain --workload reentrant --nested-ttl 100ms --hold 300ms --ttl 1s --slow-keys 0 --wait 50ms --clients 4 --keys 1 --duration 20s", reports.BrokenClaim, "THE DESIGN CLAIMS IT"},
		{"an unknown design", "--design lua-token/tokn", exitUsage, "unknown design"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "/lockbench", append([]string{"run"}, strings.Fields(c.args)...)...)
			cmd.Dir, cmd.Env = "/work", []string{"PATH=/"}
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.exit || !strings.Contains(string(out), c.says) {
				t.Errorf("exit code: got %d, want %d and %q\n%s", got, c.exit, c.says, out)
			}
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(root, "work", "result.json")); err != nil {
			t.Errorf("what it was to write: %v", err)
		}
	})
}
