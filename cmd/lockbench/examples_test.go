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
