package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/results"
)

// imageBuild matches the line of the Dockerfile that builds lockbench, with groups for
// the command and for the package.
var imageBuild = regexp.MustCompile(`(?m)^RUN (.*go build .* -o) /lockbench (\S+)$`)

// nobody is a user that owns nothing but the working directory.
const nobody = 65534

// TestImage runs the program of the Dockerfile in an otherwise empty root: no C library,
// no /proc, no /etc, and nobody's privileges. Unless long tests are on, it uses the
// program of the tests, with the C library that it may need.
func TestImage(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("starts programs")
	case os.Geteuid() != 0:
		t.Skip("only root may change the root")
	}
	t.Parallel()
	line := imageBuild.FindStringSubmatch(contents(t, "../../Dockerfile"))
	if line == nil || line[2] != "./cmd/lockbench" || !strings.Contains(line[1], "CGO_ENABLED=0") {
		t.Fatalf("the Dockerfile builds no lockbench without a C library: %q", line)
	}
	root := t.TempDir()
	if longtest.On() {
		buildImage(t, root, line[1], line[2])
	} else {
		copyProgram(t, root)
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
		{"a sound lock", "--design lua-token/strategy --workload mutex --key-choice own --clients 3 --operations 30 --stallers 0 --out json=result.json", results.Passed, "server: embedded"},
		{"a broken lock", "--fail-fast --design hash-reentrant/plain --workload reentrant --nested-ttl 100ms --hold 300ms --ttl 1s --stallers 0 --wait 50ms --clients 4 --keys 1 --duration 10m", results.BrokenClaim, "THE DESIGN CLAIMS IT"},
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

// buildImage runs the build of the Dockerfile, into root.
func buildImage(t *testing.T, root, command, what string) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "sh", "-c", command+" "+filepath.Join(root, "lockbench")+" "+what)
	build.Dir = "../.."
	building.Lock()
	defer building.Unlock()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// library matches a line of ldd's output: a file that the program is loaded with.
var library = regexp.MustCompile(`(?m)^\t(?:.* => )?(/\S+) \(0x`)

// copyProgram copies lockbench, and the files that it is loaded with, into root.
func copyProgram(t *testing.T, root string) {
	t.Helper()
	program, err := exec.LookPath("lockbench")
	if err != nil {
		t.Fatal(err)
	}
	copies := map[string]string{program: "lockbench"}
	loaded, _ := exec.CommandContext(t.Context(), "ldd", program).Output() // it fails if the program loads nothing
	for _, m := range library.FindAllStringSubmatch(string(loaded), -1) {
		copies[m[1]] = m[1]
	}
	for from, to := range copies {
		to = filepath.Join(root, to)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(contents(t, from)), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
}
