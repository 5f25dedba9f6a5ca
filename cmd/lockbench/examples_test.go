package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// exampleCommand matches the commands in the comments of a run file.
var exampleCommand = regexp.MustCompile(`(?m)^#     (lockbench run .*)$`)

// TestExamples runs the run files of examples with the commands in their comments,
// unless that would take an hour, and asserts that they are valid for editors, too.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("LOCKBENCH_REQUIRE_SERVERS") != "1" {
		t.Skip("redis-server is not in PATH")
	}
	t.Parallel()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, string(text))
			runExample(t, string(text))
		})
	}
}

// bounded replaces the thresholds of a run file by one that does not depend on the machine,
// unless long tests are on.
func bounded(command string) string {
	if longtest.On() {
		return command
	}
	return command + " --fail-if 'exclusion.violations>0'"
}

// runExample runs the commands in a run file's comments.
func runExample(t *testing.T, text string) {
	t.Helper()
	commands := exampleCommand.FindAllStringSubmatch(text, -1)
	if len(commands) == 0 {
		t.Fatal("no comment says how to run it")
	}
	dir := t.TempDir()
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		if strings.Contains(text, "duration: 1h") && !strings.Contains(c[1], "--duration") {
			continue
		}
		shell(t, dir, bounded(c[1]))
	}
	written, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(written) != 1 {
		t.Errorf("results written: %q, %v; want one", written, err)
	}
}

// TestLockTests runs the tests of a lock in other languages: they pass with the lock of a starter and,
// in long tests, fail with the output of lockbench if the lock is broken.
func TestLockTests(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a minute")
	}
	t.Parallel()
	libraries := os.Getenv("LOCKBENCH_ADAPTERS")
	t.Run("pytest", func(t *testing.T) {
		t.Parallel()
		python := "python3"
		if _, err := os.Stat(filepath.Join(libraries, "python.installed")); libraries != "" && err == nil {
			python = "'" + libraries + "/python/bin/python'"
		}
		lockTests(t, "python", python+" -m pytest", "test_my_lock.py")
	})
	for runner, command := range map[string]string{"node": "node --test", "jest": "jest"} {
		t.Run(runner, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(filepath.Join(libraries, "node.installed")); libraries == "" || err != nil {
				t.Skip("no libraries of node; hint: adapters/install DIR, and LOCKBENCH_ADAPTERS=DIR")
			}
			lockTests(t, "node", "NODE_PATH='"+libraries+"/node/node_modules' "+command, "my-lock.test.js")
		})
	}
}

// lockTests runs a file of examples by a runner of tests. It skips the test without the runner.
func lockTests(t *testing.T, language, runner, file string) {
	t.Helper()
	if err := exec.Command("sh", "-c", runner+" --version").Run(); err != nil {
		t.Skipf("%s does not run: %v", runner, err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(contents(t, filepath.Join("../../examples", language, file))), 0o600); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "echo {} > package.json && lockbench adapter new "+language+" my-lock")
	shell(t, dir, runner+" "+file)
	if !longtest.On() {
		return
	}
	shell(t, dir, "export LOCKBENCH_BREAK=grant; "+runner+" "+file+" > broken.txt 2>&1   # exit 1")
	if text := contents(t, filepath.Join(dir, "broken.txt")); !strings.Contains(text, "CLAIM BROKEN, exclusion") {
		t.Errorf("the output of lockbench is not shown:\n%s", text)
	}
}
